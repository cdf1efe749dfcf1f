"""Learning curves: the accuracy of a model's checkpoints on each benchmark, under the names that the papers use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from glosseme.analysis.intervals import proportion
from glosseme.analysis.published_curves import CURVE_COLUMNS, read_published_curves
from glosseme.models.steps import step_of
from glosseme.runs.folder import Run

__all__ = ["CURVE_COLUMNS", "conditions", "curves_of_runs", "judged_items", "read_published_curves"]

_CONDITIONS: Final = ("suite", "suite_version", "data", "data_sha256", "options", "dtype", "bos", "limit", "seed")


@dataclass(frozen=True, slots=True)
class _Recipe:
    """Of which items a suite's curves are, over which factors they are averaged, and of which parts there are more."""

    parts: tuple[tuple[str, ...], ...]
    """Factors whose levels have a curve each."""
    even: tuple[str, ...] = ()
    """Factors whose levels count the same, however many items they have."""
    where: tuple[tuple[str, str], ...] = ()
    """Values of factors to which the items keep."""


_SEMANTICS: Final = _Recipe((("plausibility",), ("construction",)), ("construction",))
_RECIPES: Final = {
    "paired-focus/semantics": _SEMANTICS,
    "paired-focus/semantics-pll": _SEMANTICS,
    # The papers' average over tests leaves out the controls, which the construction isn't kept from.
    "paired-focus/syntax": _Recipe((("construction",),), ("construction", "test"), (("group", "test"),)),
    "wdlmpro": _Recipe((("task", "pos"),)),
}
_APART: Final = frozenset({"paradigm"})
"""Factors with too many levels for a curve each."""


def curves_of_runs(runs: Sequence[Run]) -> pl.DataFrame:
    """Return the curves of finished runs: one row for each curve and checkpoint, sorted by model, curve and step.

    The columns are `CURVE_COLUMNS`: `estimate` with its 95% interval is an accuracy (P@1 in suites of design `rank`),
    `step` null where the revision's name tells none. `semantics` and `syntax` are the means over the constructions
    (and the tests), each with the same weight, as in Scivetti et al. (2026). Suites whose items have no accuracy have
    no curve.

    >>> curves_of_runs([]).columns == list(CURVE_COLUMNS)
    True
    """
    tables = [table for run in runs if run.finished for table in _curves(run)]
    if not tables:
        return pl.DataFrame(schema=CURVE_COLUMNS)
    return pl.concat(tables).sort("model", "curve", "step", "revision", nulls_last=True, maintain_order=True)


def judged_items(run: Run) -> pl.DataFrame:
    """Return the items of a run that its accuracy is of: those of the suite's own choice, without controls.

    `correct` is in [0, 1], null for an item that could not be judged.
    """
    kept = run.outcomes()
    for factor, value in (*run.record["suite"].get("where", {}).items(), *_recipe(run).where):
        if factor in kept.columns:
            kept = kept.filter(pl.col(factor).cast(pl.String) == value)
    return kept


def conditions(run: Run) -> tuple[str, ...]:
    """Return what two runs must have in common for their items to be the same ones, asked in the same way.

    In this order: suite, its version, data, their hash, options, dtype, bos, limit, seed.
    """
    identity: dict[str, Any] = run.record["identity"]
    values = [identity.get(key) for key in _CONDITIONS]
    return tuple(str(sorted(v.items())) if isinstance(v, dict) else "" if v is None else str(v) for v in values)


def _recipe(run: Run) -> _Recipe:
    said = run.record["suite"]
    known = _RECIPES.get(str(run.record["identity"]["suite"]))
    if known is not None:
        return known
    single = [tuple(grouping) for grouping in (said["by"], *said.get("also", ())) if len(grouping) == 1]
    parts = tuple(dict.fromkeys(grouping for grouping in single if grouping[0] not in _APART))
    return _Recipe(parts, even=tuple(filter(None, [said.get("macro")])))


def _curves(run: Run) -> Iterator[pl.DataFrame]:
    items, recipe, identity = judged_items(run), _recipe(run), run.record["identity"]
    if not {"correct", "chance"} <= set(items.columns) or items["correct"].null_count() == items.height:
        return
    group, _, part = str(identity["suite"]).partition("/")
    base = part if group == "paired-focus" else str(identity["suite"])
    even = [name for name in recipe.even if name in items.columns]
    for grouping in ((), *recipe.parts):
        if not set(grouping) <= set(items.columns):
            continue
        table = _accuracies(items, run.record["suite"]["cluster"], grouping, [n for n in even if n not in grouping])
        names = [pl.lit(base, pl.String), *(pl.col(name).cast(pl.String) for name in grouping)]
        yield table.select(
            pl.concat_str(names, separator=" ").alias("curve"),
            *(pl.lit(str(identity[key]), pl.String).alias(key) for key in ("suite", "model", "revision")),
            pl.lit(step_of(str(identity["revision"])), pl.Int64).alias("step"),
            *("estimate", "low", "high", "n", "chance"),
        )


def _accuracies(items: pl.DataFrame, cluster: str, by: Sequence[str], even: Sequence[str]) -> pl.DataFrame:
    """Return the accuracy of each group, in which the levels of `even` have the same weight.

    The interval is that of the items as they are; where the levels differ in their number of items, it is moved by what
    the estimate moves.
    """
    judged = items.filter(pl.col("correct").is_not_null()).with_columns(_all=pl.lit(0))
    pooled = proportion(judged, "correct", cluster if cluster in judged.columns else None, ["_all", *by])
    chance = judged.group_by("_all", *by, maintain_order=True).agg(pl.col("chance").mean())
    cells = judged.group_by("_all", *by, *even, maintain_order=True).agg(_mean=pl.col("correct").mean())
    means = cells.group_by("_all", *by, maintain_order=True).agg(_even=pl.col("_mean").mean())
    joined = pooled.join(chance, on=["_all", *by], nulls_equal=True).join(means, on=["_all", *by], nulls_equal=True)
    estimate = pl.col("_even") if even else pl.col("estimate")
    moved = [(pl.col(end) + estimate - pl.col("estimate")).clip(0, 1).alias(end) for end in ("low", "high")]
    return joined.with_columns(estimate.alias("estimate"), *moved)
