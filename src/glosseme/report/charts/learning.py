"""Figures of trajectories: learning curves, and the correlation of their first differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import polars as pl

from glosseme.analysis.curves import curves_of_runs
from glosseme.analysis.differences import differences
from glosseme.report.cells import counted, finite, plain
from glosseme.report.charts.changes import changes_chart, first_differences
from glosseme.report.charts.estimates import base_of, condition_of, main_curves, suite_of
from glosseme.report.charts.names import interval, slug
from glosseme.report.charts.theme import COLOURS, finished
from glosseme.report.charts.trajectories import panels_chart, trajectory_chart
from glosseme.report.figure import Figure
from glosseme.runs.folder import Run
from glosseme.runs.trajectory_file import TRAJECTORY, read_trajectory

__all__ = ["figures_of_curves", "figures_of_trajectories"]

_ANCHORS: Final = ("semantics plausible", "semantics")
_ORDER: Final = ("semantics plausible", "semantics implausible", "syntax", "blimp", "comps", "ewok")
_MOST_PAIRS: Final = 9


def figures_of_trajectories(runs: Sequence[Run]) -> Iterator[Figure]:
    """Yield the figures of every model that was run at two checkpoints or more."""
    # The number of a fake is its seed and no step.
    stepped = [run for run in runs if not str(run.record["identity"]["model"]).startswith("fake:")]
    curves = finite(curves_of_runs(_one_condition(stepped))).filter(pl.col("step").is_not_null())
    curves = curves.unique(["model", "curve", "step"], keep="last", maintain_order=True)
    for part in curves.partition_by("model", maintain_order=True):
        if part["step"].n_unique() > 1:
            model = str(part["model"][0])
            known = _checkpoints(runs, model)
            yield from figures_of_curves(part, known)


def _one_condition(runs: Sequence[Run]) -> list[Run]:
    """Return the runs of each model and suite that share data, sample and options: those with most checkpoints."""
    groups = Counter((_model(run), suite_of(run), condition_of(run)) for run in runs)
    best: dict[tuple[str, str], tuple[int, str]] = {}
    for (model, suite, condition), n in groups.items():
        found = best.get((model, suite))
        if found is None or (n, found[1]) > (found[0], condition):
            best[model, suite] = (n, condition)
    return [run for run in runs if best[_model(run), suite_of(run)][1] == condition_of(run)]


def _model(run: Run) -> str:
    return str(run.record["identity"]["model"])


def _checkpoints(runs: Sequence[Run], model: str) -> list[dict[str, Any]]:
    """Return the rows of a model's list of checkpoints, which lies beside the folders of its revisions."""
    folders = {folder for run in runs if _model(run) == model for folder in list(run.folder.parents)[:4]}
    rows = [row for folder in sorted(folders) for row in read_trajectory(folder / TRAJECTORY)]
    return [row for row in rows if row["model"] == model and row["step"] is not None]


def figures_of_curves(curves: pl.DataFrame, checkpoints: Sequence[dict[str, Any]] = ()) -> Iterator[Figure]:
    """Yield the figures of one model's curves (frame of `curves_of_runs`): main ones, each suite's parts, changes.

    `checkpoints` are rows of a list of checkpoints: which are missing, and which hold the weights of another.
    """
    there = set(curves["step"].to_list())
    missing = sorted({row["step"] for row in checkpoints if row["status"] == "missing"} - there)
    notes = _notes(curves, checkpoints, missing)
    for name, title, part in _groups(curves):
        yield _trajectory(name, title, part, missing, notes)
    yield from _changes(curves)


def _groups(curves: pl.DataFrame) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """Yield the figures there are: name, title, curves."""
    suites = curves["suite"].unique(maintain_order=True).to_list()
    names = {suite: curves.filter(suite=suite)["curve"].unique(maintain_order=True).to_list() for suite in suites}
    main = [name for suite in suites for name in main_curves(suite, names[suite])]
    ordered = [name for name in _ORDER if name in main] + [name for name in main if name not in _ORDER]
    yield "benchmarks", "Accuracy in training", _chosen(curves, ordered)
    for suite in suites:
        parts = [name for name in names[suite] if name not in main and name != base_of(suite)]
        if len(parts) > 1:
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
        notes += f" Some checkpoints hold the weights of another: {', '.join(same)}."
    return notes


def _changes(curves: pl.DataFrame) -> Iterator[Figure]:
    """Yield the scatter plots of the changes in the first curve of meaning and in the others."""
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
        f"other curves; ρ is Spearman's correlation with its 95% interval, n the number of differences.{more}"
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
