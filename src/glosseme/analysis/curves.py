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


@dataclass(frozen=True, slots=True)
class _Kind:
    """What runs have in common whose items can be averaged in one go."""

    base: str
    """The name of the curve over all items."""
    cluster: str | None
    groupings: tuple[tuple[str, ...], ...]
    even: tuple[str, ...]

    @property
    def factors(self) -> list[str]:
        """The columns that the averages need besides what is averaged."""
        clusters = () if self.cluster is None else (self.cluster,)
        return list(dict.fromkeys([*(name for grouping in self.groupings for name in grouping), *self.even, *clusters]))


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
_MOST_ITEMS: Final = 200_000
"""Of so many items, about, the averages are computed at a time, so that long trajectories fit into memory."""
_RUN: Final = "_run"


def curves_of_runs(runs: Sequence[Run]) -> pl.DataFrame:
    """Return the curves of finished runs: one row for each curve and checkpoint, sorted by model, curve and step.

    The columns are `CURVE_COLUMNS`: `estimate` with its 95% interval is an accuracy (P@1 in suites of design `rank`),
    `step` null where the revision's name tells none. `semantics` and `syntax` are the means over the constructions
    (and the tests), each with the same weight, as in Scivetti et al. (2026). Suites whose items have no accuracy have
    no curve.

    >>> curves_of_runs([]).columns == list(CURVE_COLUMNS)
    True
    """
    finished = [run for run in runs if run.finished]
    tables = [table for kind, items in _batches(finished) for table in _curves(kind, items)]
    if not tables:
        return pl.DataFrame(schema=CURVE_COLUMNS)
    curves = pl.concat(tables).join(_facts(finished), on=_RUN, how="left").select(_RUN, *CURVE_COLUMNS)
    return curves.sort("model", "curve", "step", "revision", _RUN, nulls_last=True, maintain_order=True).drop(_RUN)


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


def _batches(runs: Sequence[Run]) -> Iterator[tuple[_Kind, pl.DataFrame]]:
    """Yield the judged items of runs that have the same curves, of many at a time, with the place of each (`_RUN`)."""
    held: dict[_Kind, list[pl.DataFrame]] = {}
    for place, run in enumerate(runs):
        items = judged_items(run)
        if not {"correct", "chance"} <= set(items.columns) or items["correct"].null_count() == items.height:
            continue
        kind = _kind(run, items.columns)
        parts = held.setdefault(kind, [])
        factors = [pl.col(name).cast(pl.String) for name in kind.factors]
        judged = items.lazy().filter(pl.col("correct").is_not_null())
        parts.append(judged.select(pl.lit(place, pl.Int64).alias(_RUN), "correct", "chance", *factors).collect())
        if sum(part.height for part in parts) >= _MOST_ITEMS:
            yield kind, pl.concat(held.pop(kind))
    yield from ((kind, pl.concat(parts)) for kind, parts in held.items())


def _kind(run: Run, columns: Sequence[str]) -> _Kind:
    recipe, suite = _recipe(run), str(run.record["identity"]["suite"])
    group, _, part = suite.partition("/")
    groupings = ((), *(grouping for grouping in recipe.parts if set(grouping) <= set(columns)))
    cluster = str(run.record["suite"]["cluster"])
    even = tuple(name for name in recipe.even if name in columns)
    base = part if group == "paired-focus" else suite
    return _Kind(base, cluster if cluster in columns else None, groupings, even)


def _curves(kind: _Kind, items: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield the curves' names and estimates, a table a grouping."""
    for grouping in kind.groupings:
        table = _accuracies(items, kind.cluster, [_RUN, *grouping], [n for n in kind.even if n not in grouping])
        name = pl.concat_str([pl.lit(kind.base, pl.String), *grouping], separator=" ").alias("curve")
        yield table.select(_RUN, name, *("estimate", "low", "high", "n", "chance"))


def _facts(runs: Sequence[Run]) -> pl.DataFrame:
    """Return of what each run is: `_RUN`, suite, model, revision, step."""
    identities = [run.record["identity"] for run in runs]
    texts = {key: [str(identity[key]) for identity in identities] for key in ("suite", "model", "revision")}
    steps = pl.Series("step", [step_of(revision) for revision in texts["revision"]], pl.Int64)
    return pl.DataFrame({_RUN: range(len(runs)), **texts}, schema_overrides={_RUN: pl.Int64}).with_columns(steps)


def _accuracies(items: pl.DataFrame, cluster: str | None, by: Sequence[str], even: Sequence[str]) -> pl.DataFrame:
    """Return the accuracy of each group of judged items, in which the levels of `even` have the same weight.

    The interval is that of the items as they are; where the levels differ in their number of items, it is moved by what
    the estimate moves.
    """
    pooled = proportion(items, "correct", cluster, by)
    # Groups come in the order of their first appearance, here as there.
    chance = items.group_by(*by, maintain_order=True).agg(pl.col("chance").mean())
    table = pooled.with_columns(chance["chance"])
    if not even:
        return table
    cells = items.group_by(*by, *even, maintain_order=True).agg(_mean=pl.col("correct").mean())
    means = cells.group_by(*by, maintain_order=True).agg(_even=pl.col("_mean").mean())
    moved = [(pl.col(end) + means["_even"] - pl.col("estimate")).clip(0, 1).alias(end) for end in ("low", "high")]
    return table.with_columns(means["_even"].alias("estimate"), *moved)
