"""Figures of trajectories: learning curves, and the correlation of their first differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import polars as pl

from glosseme.analysis.curves import curves_of_runs
from glosseme.analysis.differences import differences
from glosseme.report.cells import counted, finite, plain
from glosseme.report.charts.changes import changes_chart, first_differences
from glosseme.report.charts.estimates import base_of, main_curves, suite_of
from glosseme.report.charts.names import interval, slug
from glosseme.report.charts.theme import COLOURS, finished
from glosseme.report.charts.trajectories import panels_chart, trajectory_chart
from glosseme.report.checkpoints import checkpoints_beside, of_same_items_each, own_curves, without_seeds
from glosseme.report.figure import Figure
from glosseme.runs.folder import Run

__all__ = ["figures_of_curves", "figures_of_trajectories"]

_ANCHORS: Final = ("semantics plausible", "semantics")
_ORDER: Final = ("semantics plausible", "semantics implausible", "syntax", "blimp", "comps", "ewok")
_MOST_PAIRS: Final = 9


def figures_of_trajectories(runs: Sequence[Run]) -> Iterator[Figure]:
    """Yield the figures of every model that was run at two checkpoints or more."""
    stepped, _ = without_seeds(runs)
    same, _ = of_same_items_each(stepped)
    curves = finite(curves_of_runs(same)).filter(pl.col("step").is_not_null())
    # Of runs in several precisions the first is in float32.
    curves = curves.unique(["model", "curve", "step"], keep="first", maintain_order=True)
    own, _ = own_curves(stepped)
    listed = [row for row in checkpoints_beside(stepped) if row["step"] is not None]
    places = _places(same)
    for part in curves.partition_by("model", maintain_order=True):
        if part["step"].n_unique() > 1:
            model = str(part["model"][0])
            known = [row for row in listed if row["model"] == model]
            yield from figures_of_curves(part, known, own.filter(model=model), places)


def _places(runs: Sequence[Run]) -> dict[str, int]:
    """Return the place of each curve among the parts of its suite: coarse factors come before fine ones."""
    found: dict[str, int] = {}
    for run in {suite_of(run): run for run in runs}.values():
        outcomes, said = run.outcomes(), run.record["suite"]
        single = {grouping[0] for grouping in (said["by"], *said.get("also", ())) if len(grouping) == 1}
        levels = {name: outcomes[name].drop_nulls().unique().to_list() for name in single & set(outcomes.columns)}
        for place, name in enumerate(sorted(levels, key=lambda name: (len(levels[name]), name))):
            for level in levels[name]:
                found.setdefault(f"{base_of(suite_of(run))} {level}", place)
    return found


def figures_of_curves(
    curves: pl.DataFrame,
    checkpoints: Sequence[dict[str, Any]] = (),
    own: pl.DataFrame | None = None,
    places: Mapping[str, int] | None = None,
) -> Iterator[Figure]:
    """Yield the figures of one model's curves (frame of `curves_of_runs`): main ones, each suite's parts, changes.

    `checkpoints` are rows of a list of checkpoints: which are missing, and which hold the weights of another. Changes
    are between the checkpoints of `own` (default: of `curves`), those that the analysis of differences is of. Parts
    come in the order of their `places`.
    """
    there = set(curves["step"].to_list())
    missing = sorted({row["step"] for row in checkpoints if row["status"] == "missing"} - there)
    notes = _notes(curves, checkpoints, missing)
    for name, title, part in _groups(curves, places or {}):
        yield _trajectory(name, title, part, missing, notes)
    yield from _changes(curves if own is None else own)


def _groups(curves: pl.DataFrame, places: Mapping[str, int]) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """Yield the figures there are: name, title, curves."""
    suites = curves["suite"].unique(maintain_order=True).to_list()
    names = {suite: curves.filter(suite=suite)["curve"].unique(maintain_order=True).to_list() for suite in suites}
    main = [name for suite in suites for name in main_curves(suite, names[suite])]
    ordered = [name for name in _ORDER if name in main] + [name for name in main if name not in _ORDER]
    yield "benchmarks", "Accuracy in training", _chosen(curves, ordered)
    for suite in suites:
        parts = [name for name in names[suite] if name not in main and name != base_of(suite)]
        if len(parts) > 1:
            parts.sort(key=lambda name: places.get(name, 0))
            yield slug(base_of(suite)), f"Accuracy on {suite} in training", _chosen(curves, parts)


def _chosen(curves: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    kept = curves.filter(pl.col("curve").is_in(list(names)))
    return kept.sort(pl.col("curve").cast(pl.Enum(list(names))), "step", maintain_order=True)


def _trajectory(name: str, title: str, part: pl.DataFrame, missing: Sequence[int], notes: str) -> Figure:
    model = str(part["model"][0])
    n_curves, n_steps = part["curve"].n_unique(), part["step"].n_unique()
    has_intervals = part["low"].null_count() < part.height
    caption = (
        f"Accuracy (share of items) of {plain(model)} against the training step (logarithmic axis) at "
        f"{counted(n_steps, 'checkpoint')}{'; bands are 95% intervals' if has_intervals else ''}; "
        f"dashed grey lines are chance.{notes}"
    )
    draw = trajectory_chart if n_curves <= len(COLOURS) else panels_chart
    titled = f"{title}: {plain(model)}"
    chart = finished(draw(part, missing), titled, caption)
    suites = tuple(part["suite"].unique(maintain_order=True).to_list())
    return Figure(f"trajectory-{name}-{slug(model)}", titled, caption, chart, suites, (model,))


def _notes(curves: pl.DataFrame, checkpoints: Sequence[dict[str, Any]], missing: Sequence[int]) -> str:
    notes = ""
    if 0 in curves["step"]:
        notes += " Step 0, which has no logarithm, stands at the left end."
    if missing:
        steps = ", ".join(f"{step:,}" for step in missing)
        notes += f" Crosses at the bottom mark checkpoints that could not be had (step {steps}); lines break there."
    same = [f"{plain(row['revision'])} those of {plain(row['same_as'])}" for row in checkpoints if row["same_as"]]
    if same:
        notes += f" Some checkpoints hold the weights of another, and have points all the same: {', '.join(same)}."
    return notes


def _changes(curves: pl.DataFrame) -> Iterator[Figure]:
    """Yield the scatter plots of the changes in the first curve of meaning and in the others."""
    curves = finite(curves)
    names = curves["curve"].unique(maintain_order=True).to_list()
    anchor = next((name for name in _ANCHORS if name in names), None)
    if anchor is None:
        return
    model = str(curves["model"][0])
    table = differences(curves).filter((pl.col("a") == anchor) | (pl.col("b") == anchor))
    panels = []
    for row in table.iter_rows(named=True):
        other = row["b"] if row["a"] == anchor else row["a"]
        said = "no correlation" if row["rho"] is None else f"ρ = {interval(row['rho'], row['low'], row['high'])}"
        rows = first_differences(curves.filter(curve=anchor), curves.filter(curve=other))
        if rows.height > 1:
            panels.append((other, f"{said}, n = {row['n']}", rows))
    panels.sort(key=lambda panel: _place(panel[0]))
    if not panels:
        return
    title = f"First differences: {plain(model)}"
    more = f" {len(panels) - _MOST_PAIRS} further curves are not shown." if len(panels) > _MOST_PAIRS else ""
    caption = (
        f"Changes in accuracy (share of items) of {plain(model)} from each checkpoint to the next, in {anchor} and in "
        "other curves; checkpoints that hold the weights of another are left out; ρ is Spearman's correlation with its "
        f"95% interval, n the number of differences.{more}"
    )
    shown = panels[:_MOST_PAIRS]
    suites = tuple(
        curves.filter(pl.col("curve").is_in([anchor, *(p[0] for p in shown)]))["suite"].unique(maintain_order=True)
    )
    chart = finished(changes_chart(shown, anchor), title, caption)
    yield Figure(f"differences-{slug(model)}", title, caption, chart, suites, (model,))


def _place(curve: str) -> tuple[int, int]:
    """Return where a curve stands: the papers' benchmarks first, then the domain that they single out."""
    if curve in _ORDER:
        return 0, _ORDER.index(curve)
    return (1, 0) if curve == "ewok physical-relations" else (2, 0)
