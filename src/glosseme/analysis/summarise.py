"""From outcomes to a table: one row for each group of items and each metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import polars as pl

from glosseme.analysis.intervals import mean, proportion
from glosseme.analysis.strata import macro_mean, macro_proportion
from glosseme.designs import DESIGNS, OUTCOME_COLUMNS, OWN_COLUMNS, Design
from glosseme.errors import GlossemeError, nearest

__all__ = ["ALL", "METRICS", "SUMMARY_COLUMNS", "design_of", "factors_of", "summarise"]

ALL: Final = "all"
"""The value of a factor that a row averages over."""

SUMMARY_COLUMNS: Final[tuple[str, ...]] = (
    *("metric", "estimate", "low", "high"),
    *("n", "dropped", "ties", "chance", "n_clusters"),
)
"""The columns of a summary after the factors."""


@dataclass(frozen=True, slots=True)
class _Metric:
    """A mean over items: of which column, with which interval, beside which chance."""

    name: str
    column: str
    interval: Literal["proportion", "graded", "mean"]
    chance: Literal["items", "half", "none"]


_ACCURACY = _Metric("accuracy", "correct", "proportion", "items")


def _nats(column: str, name: str | None = None) -> _Metric:
    return _Metric(name or column, column, "mean", "none")


_METRICS: Final[dict[Design, tuple[_Metric, ...]]] = {
    "pair": (_ACCURACY, _nats("delta")),
    "cross": (_ACCURACY, _nats("delta")),
    "contrast": (_ACCURACY, _nats("delta_treated"), _nats("delta_control")),
    "rank": (_ACCURACY, _Metric("rank_score", "rank_score", "graded", "half")),
    "value": (_nats("value", "mean"),),
}

METRICS: Final[dict[Design, tuple[str, ...]]] = {d: tuple(m.name for m in ms) for d, ms in _METRICS.items()}
"""The metrics of a design: `accuracy` (P@1 in `rank`) and `rank_score` in [0, 1], the others in the unit
of what was compared (nats, nats per token, probabilities, cosines)."""


def summarise(
    outcomes: pl.DataFrame,
    by: Sequence[str] = (),
    *,
    cluster: str | None = None,
    also: Sequence[Sequence[str]] = (),
    metrics: Sequence[str] | None = None,
    macro: str | None = None,
) -> pl.DataFrame:
    """Return one row for each group of items and each metric: the factors in `by`, each once, then `SUMMARY_COLUMNS`.

    `outcomes` is what `designs.judge` returns, `cluster` the column whose equal values mark items that are
    not independent (default: all are), `also` further groupings, whose rows follow with `ALL` for the
    factors they leave out, `metrics` a choice of `METRICS`, `macro` a factor whose levels have the same weight in the
    rows that average over them (`strata`), whatever their numbers of items. Factor columns are strings: enumerations
    in their own order, numbers by size, other values in the order of first appearance in `outcomes`. `estimate` with
    its 95% interval `low` and `high` is over the `n` items that could be judged, `dropped` counts the others,
    `ties` the judged items with a tie, `n_clusters` the clusters. `chance` is the mean of the items' chance
    (.5 for `rank_score`); ties and chance of a delta or a mean are null.

    Raises `GlossemeError` for a factor, a cluster or a metric that there is not.

    >>> outcomes = {"suite": "s", "item": ["a", "b"], "correct": [1.0, 0.5], "delta": [2.0, 0.0]}
    >>> outcomes |= {"tie": [False, True], "chance": 0.5, "scale": ["size", "size"]}
    >>> summarise(pl.DataFrame(outcomes), ["scale"])["scale", "metric", "estimate", "ties"].rows()
    [('size', 'accuracy', 0.75, 1), ('size', 'delta', 1.0, None)]
    """
    design = design_of(outcomes)
    chosen = _chosen(design, metrics)
    groupings = [tuple(dict.fromkeys(grouping)) for grouping in (by, *also)]
    columns = list(dict.fromkeys(name for grouping in groupings for name in grouping))
    _check_factors(outcomes, design, [*columns, *([macro] if macro else [])])
    if cluster is not None and cluster not in outcomes.columns:
        raise GlossemeError(f"there is no column {cluster!r} to cluster by", todo=nearest(cluster, outcomes.columns))
    levels = [_levels(outcomes[name]).alias(name) for name in columns]
    items = outcomes.with_columns(*levels, *_judged(design, chosen))
    tables = [_grouping(items, grouping, columns, cluster, chosen, macro) for grouping in dict.fromkeys(groupings)]
    return pl.concat(tables)


def design_of(outcomes: pl.DataFrame) -> Design:
    """Return the design that outcomes come from, by the columns it has of its own.

    >>> design_of(pl.DataFrame(schema=["suite", "item", "correct", "delta1", "delta2"]))
    'cross'
    """
    own = [d for d in DESIGNS if OWN_COLUMNS[d] and set(OWN_COLUMNS[d]) <= set(outcomes.columns)]
    return own[0] if own else "pair"


def factors_of(outcomes: pl.DataFrame) -> list[str]:
    """Return the factors of outcomes: the columns that describe an item.

    >>> factors_of(pl.DataFrame(schema=[*OUTCOME_COLUMNS, "scale", "verb"]))
    ['scale', 'verb']
    """
    own = {*OUTCOME_COLUMNS, *OWN_COLUMNS[design_of(outcomes)]}
    return [name for name in outcomes.columns if name not in own]


def _chosen(design: Design, metrics: Sequence[str] | None) -> list[_Metric]:
    known = {m.name: m for m in _METRICS[design]}
    unknown = [name for name in metrics or () if name not in known]
    if unknown:
        raise GlossemeError(f"design {design!r} has no metric {unknown[0]!r}", todo=nearest(unknown[0], known))
    return [known[name] for name in (known if metrics is None else metrics)]


def _check_factors(outcomes: pl.DataFrame, design: Design, names: Sequence[str]) -> None:
    factors = factors_of(outcomes)
    missing = [name for name in names if name not in (*factors, "suite")]
    if missing:
        there_are = ", ".join(factors) if factors else "none"
        raise GlossemeError(f"the outcomes have no factor {missing[0]!r}", todo=f"the factors are: {there_are}")
    taken = [name for name in names if name in SUMMARY_COLUMNS]
    if taken:
        raise GlossemeError(f"factor {taken[0]!r} has the name of a column of the table", todo="rename it")


def _levels(factor: pl.Series) -> pl.Series:
    """Return a factor as an enumeration of its values in their order, for sorting."""
    names = factor.cast(pl.String)
    if isinstance(factor.dtype, pl.Enum):
        return names.cast(factor.dtype)
    found = factor.drop_nulls().unique(maintain_order=True)
    ordered = found.sort() if factor.dtype.is_numeric() else found
    return names.cast(pl.Enum(ordered.cast(pl.String)))


def _judged(design: Design, metrics: Sequence[_Metric]) -> list[pl.Expr]:
    """Return the metrics' columns, null where an item was not judged: all metrics are of the same items."""
    judged = pl.lit(value=True) if design == "value" else pl.col("correct").is_not_null()
    return [pl.when(judged).then(pl.col(m.column)).alias(m.column) for m in metrics]


def _grouping(
    items: pl.DataFrame,
    grouping: Sequence[str],
    columns: Sequence[str],
    cluster: str | None,
    metrics: Sequence[_Metric],
    macro: str | None,
) -> pl.DataFrame:
    strata = None if macro in grouping else macro
    tables = [_summary(items, grouping, cluster, m, strata) for m in metrics]
    rows = pl.concat([t.with_columns(_place=pl.lit(place)) for place, t in enumerate(tables)])
    names = [pl.col(c).cast(pl.String) if c in grouping else pl.lit(ALL).alias(c) for c in columns]
    return rows.sort(*grouping, "_place", nulls_last=True).select(*names, *SUMMARY_COLUMNS)


def _summary(
    items: pl.DataFrame, by: Sequence[str], cluster: str | None, metric: _Metric, strata: str | None
) -> pl.DataFrame:
    intervals = _intervals(items, by, cluster, metric, strata)
    value = pl.col(metric.column)
    known = value.is_not_null()
    chance = {"items": pl.col("chance").filter(known).mean(), "half": pl.when(known.any()).then(0.5)}.get(metric.chance)
    counts = {
        "dropped": value.null_count().cast(pl.Int64),
        "ties": pl.lit(None, pl.Int64) if chance is None else (pl.col("tie") & known).sum().cast(pl.Int64),
        "chance": pl.lit(None, pl.Float64) if chance is None else chance,
    }
    # The groups of both frames come in the order of first appearance.
    grouped = items.with_columns(_all=pl.lit(0)).group_by(*by, "_all", maintain_order=True).agg(**counts)
    return pl.concat([intervals, grouped.select(*counts)], how="horizontal").with_columns(metric=pl.lit(metric.name))


def _intervals(
    items: pl.DataFrame, by: Sequence[str], cluster: str | None, metric: _Metric, strata: str | None
) -> pl.DataFrame:
    if metric.interval == "mean":
        if strata is not None:
            return macro_mean(items, metric.column, strata, cluster, by)
        return mean(items, metric.column, cluster, by)
    if strata is not None:
        return macro_proportion(items, metric.column, strata, cluster, by)
    return proportion(items, metric.column, cluster, by, graded=metric.interval == "graded")
