"""Two models on the same items: the difference between them, item by item."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from glosseme.analysis.curves import conditions, judged_items
from glosseme.analysis.multiple import holm
from glosseme.analysis.pair_intervals import (
    Differences,
    Floats,
    Ints,
    differences_from,
    interval_of_means,
    interval_of_shares,
    pairs_of,
)
from glosseme.errors import GlossemeError
from glosseme.runs.folder import Run
from glosseme.suites import all_suites

__all__ = ["PAIR_COLUMNS", "paired_runs", "paired_shares"]

PAIR_COLUMNS: Final = {
    **dict.fromkeys(("suite", "data", "of", "a", "b", "metric"), pl.String),
    **dict.fromkeys(("estimate_a", "estimate_b", "difference", "low", "high", "p"), pl.Float64),
    **dict.fromkeys(("n", "n_clusters", "only_a", "only_b"), pl.Int64),
    "p_holm": pl.Float64,
}
_ITEM, _CLUSTER, _VALUE = "_item", "_cluster", "_value"


@dataclass(frozen=True, slots=True)
class _Measured:
    """What runs measured on the same items."""

    values: Floats
    """A row an item, a column a run, NaN where it has none."""
    clusters: Ints
    parts: list[tuple[str | None, Ints]]
    """The items whose values are in one unit, with its name where there are several."""
    metric: str


def paired_runs(runs: Sequence[Run]) -> pl.DataFrame:
    """Return the difference between each two runs of the same suite, data, options and sample: a row a pair.

    The columns are `PAIR_COLUMNS`: `a` and `b` are models with their revisions, `difference` is a minus b over the `n`
    items that both have, with its 95% interval and p value; `only_a` and `only_b` count the items that only one has.
    `metric` is `accuracy` in [0, 1] (see `paired_shares`), or `mean` for suites of values, in the values' unit, by a
    cluster-robust t interval; `of` names the factors' levels whose values are in units of their own. `p_holm` is
    adjusted for all pairs of a suite (Holm 1979). Runs that nothing can be paired with have no row.
    """
    rows: list[dict[str, Any]] = []
    groups: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        suite, version, data, sha256, options, _, _, limit, seed = conditions(run)
        groups.setdefault((suite, version, data, sha256, options, limit, seed), []).append(run)
    for group in groups.values():
        rows += _rows(group) if len(group) > 1 else ()
    table = pl.DataFrame(rows, schema={name: PAIR_COLUMNS[name] for name in PAIR_COLUMNS if name != "p_holm"})
    if not rows:
        return table.with_columns(p_holm=pl.lit(None, pl.Float64))
    parts = table.partition_by("suite", maintain_order=True)
    return pl.concat([t.with_columns(p_holm=pl.Series(holm(t["p"].to_list()), dtype=pl.Float64)) for t in parts])


def paired_shares(items: pl.DataFrame, cluster: str | None = None) -> dict[str, Any]:
    """Return the mean of `difference`, in [-1, 1] over items, with its 95% interval, p value, n and n_clusters.

    The interval is that of Bonett and Price (2012) for paired proportions, which adds one item to each kind of
    disagreement, so that it has a width also where the models never disagree. The number of items is divided by the
    design effect of the clusters, the cluster-robust variance of the mean (Liang and Zeger 1986) over that of
    independent items, and by the squared ratio of Student's quantiles for few clusters, as in
    `intervals.proportion`. p belongs to it: it is under .05 where 0 lies outside of the interval. One cluster has
    no interval.

    Coverage of simulated pairs: .93 to .98 from 200 items on, up to 1 where both accuracies are .99; .96 to 1 with 20
    items, where few outcomes are possible.

    >>> found = paired_shares(pl.DataFrame({"difference": [1.0, 0, 0, -1, 1, 1, 0, 0, 1, 0]}))
    >>> [round(found[name], 3) for name in ("estimate", "low", "high", "p")]
    [0.3, -0.158, 0.658, 0.23]
    """
    alone = range(items.height) if cluster is None else items[cluster].rank("dense").fill_null(0)
    order = np.argsort(np.asarray(alone), kind="stable")
    values = items["difference"].cast(pl.Float64).to_numpy()[order]
    found = differences_from(values, np.zeros((len(values), 1)), np.asarray(alone, dtype=np.int64)[order])
    low, high, p = (_known(of[0]) for of in interval_of_shares(found))
    n, k = int(found.n[0]), int(found.n_clusters[0])
    return {"estimate": _known(found.estimate[0]), "low": low, "high": high, "p": p, "n": n, "n_clusters": k}


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _name(run: Run) -> str:
    return f"{run.record['identity']['model']}@{run.record['identity']['revision']}"


def _rows(group: Sequence[Run]) -> Iterator[dict[str, Any]]:
    """Yield a row for each two runs of a group and each unit, in the order of the runs."""
    measured, identity = _measured(group), group[0].record["identity"]
    interval = interval_of_shares if measured.metric == "accuracy" else interval_of_means
    found: dict[tuple[int, int, int], dict[str, Any]] = {}
    for place, (of, items) in enumerate(measured.parts):
        for a, start, differences in pairs_of(measured.values[items], measured.clusters[items]):
            for n, numbers in enumerate(_numbers(differences, interval(differences))):
                found[a, start + n, place] = {"of": of, **numbers}
    for a, b, place in sorted(found):
        numbers = found[a, b, place]
        if numbers["n"]:
            names = {"suite": identity["suite"], "data": identity["data"], "metric": measured.metric}
            yield {**names, "a": _name(group[a]), "b": _name(group[b]), **numbers}


def _numbers(found: Differences, interval: tuple[Floats, Floats, Floats]) -> Iterator[dict[str, Any]]:
    floats = {"estimate_a": found.first, "estimate_b": found.second, "difference": found.estimate}
    floats |= dict(zip(("low", "high", "p"), interval, strict=True))
    counts = {"n": found.n, "n_clusters": found.n_clusters, "only_a": found.only_first, "only_b": found.only_second}
    for place in range(len(found.n)):
        yield {
            **{name: _known(of[place]) for name, of in floats.items()},
            **{name: int(of[place]) for name, of in counts.items()},
        }


def _measured(group: Sequence[Run]) -> _Measured:
    """Return the values of runs on all items that one of them has: right or wrong, or what was measured."""
    judged = [judged_items(run) for run in group]
    keys = _keys(group[0], judged[0].columns)
    columns = [_column(run, items) for run, items in zip(group, judged, strict=True)]
    every = pl.concat(_values(run, judged[n], columns[n], keys).with_columns(_run=n) for n, run in enumerate(group))
    items = every.unique(keys, keep="first", maintain_order=True).select(*keys, _CLUSTER).with_row_index(_ITEM)
    placed = every.join(items.select(*keys, _ITEM), on=keys, nulls_equal=True, maintain_order="left")
    values = np.full((items.height, len(group)), np.nan)
    values[placed[_ITEM].to_numpy(), placed["_run"].to_numpy()] = placed[_VALUE].to_numpy()
    clusters = items[_CLUSTER].rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
    metric = "accuracy" if "correct" in columns else "mean"
    apart = [name for name in keys if name != "item"] if metric == "mean" else []
    return _Measured(values, clusters, _parts(items, apart), metric)


def _parts(items: pl.DataFrame, apart: Sequence[str]) -> list[tuple[str | None, Ints]]:
    if not apart:
        return [(None, np.arange(items.height))]
    parts = items.partition_by(apart, maintain_order=True)
    names = [", ".join(str(part[name][0]) for name in apart) for part in parts]
    return [(name, part[_ITEM].cast(pl.Int64).to_numpy()) for name, part in zip(names, parts, strict=True)]


def _column(run: Run, items: pl.DataFrame) -> str:
    return "value" if run.record["suite"].get("design") == "value" or "correct" not in items.columns else "correct"


def _values(run: Run, items: pl.DataFrame, value: str, keys: Sequence[str]) -> pl.DataFrame:
    """Return the items that have a value: what tells them apart, their cluster and value."""
    cluster = str(run.record["suite"]["cluster"])
    table = items.filter(pl.col(value).is_not_null()).select(
        *(pl.col(name).cast(pl.String) for name in keys),
        (pl.col(cluster) if cluster in items.columns else pl.col("item")).cast(pl.String).alias(_CLUSTER),
        pl.col(value).cast(pl.Float64).alias(_VALUE),
    )
    if table.select(keys).is_duplicated().any():
        raise GlossemeError("items can't be told apart", where=str(run.folder), todo="give each item a name of its own")
    return table


def _keys(run: Run, columns: Sequence[str]) -> list[str]:
    """Return the columns that tell items apart."""
    suite = all_suites().get(str(run.record["identity"]["suite"]))
    within = () if suite is None else suite.within
    apart = run.record["suite"].get("apart", ())
    return ["item", *(name for name in dict.fromkeys([*within, *apart]) if name in columns)]
