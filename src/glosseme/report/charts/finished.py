"""Figures of finished models: accuracies beside each other, and against size and training data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import polars as pl

from glosseme.report.cells import counted, plain
from glosseme.report.charts.dots import groups_chart, models_chart, ordered_models
from glosseme.report.charts.estimates import SPLIT_BY_ALL, about, by_suite, facts, group_rows, main_rows
from glosseme.report.charts.names import named, slug
from glosseme.report.charts.sizes import sizes_chart
from glosseme.report.charts.theme import COLOURS, finished
from glosseme.report.figure import Figure
from glosseme.runs.folder import Run

__all__ = ["figures_of_finished", "items_note"]

_MOST_LEVELS: Final = 24
_PREDICTORS: Final = ("parameters", "tokens")


def figures_of_finished(runs: Sequence[Run]) -> Iterator[Figure]:
    """Yield, for each suite, accuracy against size (two models or more), models beside each other, groups of items."""
    for suite, condition, chosen, name in _named(by_suite(runs)):
        rows = main_rows(chosen)
        if not rows.height:
            continue
        rows = about(_with_facts(rows, chosen), "name", "panel")
        yield from _sizes(rows, suite, condition, name)
        groups = list(_groups(chosen, suite, condition, name))
        if rows["name"].n_unique() > 1 or not groups:
            yield _models(rows, suite, condition, name, _not_drawn(chosen, suite))
        yield from groups


def _named(groups: Sequence[tuple[str, str, list[Run]]]) -> Iterator[tuple[str, str, list[Run], str]]:
    """Yield the groups with a name for files: the suite's, with a number where it was run in several conditions."""
    seen: dict[str, int] = {}
    for suite, condition, runs in groups:
        seen[suite] = seen.get(suite, 0) + 1
        yield suite, condition, runs, slug(suite) + (f"-{seen[suite]}" if seen[suite] > 1 else "")


def items_note(rows: pl.DataFrame, condition: str) -> str:
    """Return on which items the points of a figure rest."""
    numbers = [int(n) for n in rows["n"].drop_nulls()]
    least, most = min(numbers, default=0), max(numbers, default=0)
    n = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return f"Items: {plain(condition)}; {n} a point."


def _with_facts(rows: pl.DataFrame, runs: Sequence[Run]) -> pl.DataFrame:
    known = [
        {"name": named(str(run.record["identity"]["model"]), str(run.record["identity"]["revision"])), **facts(run)}
        for run in runs
    ]
    schema = {"name": pl.String, "parameters": pl.Int64, "tokens": pl.Int64, "objective": pl.String}
    return rows.join(
        pl.DataFrame(known, schema=schema).unique("name", keep="first"), on="name", how="left", maintain_order="left"
    )


def _not_drawn(runs: Sequence[Run], suite: str) -> str:
    """Return a sentence where there are groups of items, but more models than could be told apart in one figure."""
    by = _grouping(runs[0])
    if suite in SPLIT_BY_ALL or not by or len(runs) <= len(COLOURS):
        return ""
    return (
        f" Accuracies by {' and '.join(by)} are drawn for up to {len(COLOURS)} models, and these are {len(runs)}: "
        "choose one with -m, or see the tables."
    )


def _models(rows: pl.DataFrame, suite: str, condition: str, name: str, more: str = "") -> Figure:
    models = ordered_models(rows)
    title = f"Accuracy on {suite}"
    caption = (
        f"Accuracy (share of items) of {counted(len(models), 'model')} on {plain(suite)}; bars are 95% intervals, "
        f"dashed lines chance. {items_note(rows, condition)}{more}"
    )
    chart = finished(models_chart(rows), title, caption)
    return Figure(f"models-{name}", title, caption, chart, (suite,), tuple(models))


def _sizes(rows: pl.DataFrame, suite: str, condition: str, name: str) -> Iterator[Figure]:
    judged = rows.filter(pl.col("estimate").is_not_null())
    predictors = [p for p in _PREDICTORS if judged.filter(pl.col(p).is_not_null())["name"].n_unique() > 1]
    if not predictors:
        return
    drawn = judged.filter(pl.any_horizontal(pl.col(p).is_not_null() for p in predictors))
    models = drawn["name"].unique(maintain_order=True).to_list()
    words = {"parameters": "parameters", "tokens": "training tokens"}
    title = f"Accuracy on {suite} by {' and '.join(words[p] for p in predictors)}"
    lacking = [
        f"{counted(len(set(rows['name']) - set(drawn.filter(pl.col(p).is_not_null())['name'])), 'model')} left out "
        f"against {words[p]}, whose number is not known"
        for p in predictors
        if drawn.filter(pl.col(p).is_not_null())["name"].n_unique() < rows["name"].n_unique()
    ]
    caption = (
        f"Accuracy (share of items) of {counted(len(models), 'model')} on {plain(suite)} against "
        f"{' and '.join(words[p] for p in predictors)} (logarithmic axes); bars are 95% intervals, dashed lines "
        f"chance. {items_note(drawn, condition)}" + "".join(f" {text}." for text in lacking)
    )
    chart = finished(sizes_chart(drawn, predictors), title, caption)
    yield Figure(f"size-{name}", title, caption, chart, (suite,), tuple(models))


def _groups(runs: Sequence[Run], suite: str, condition: str, name: str) -> Iterator[Figure]:
    """Yield the accuracies of the suite's groups of items, for as many models as can be told apart."""
    by = _grouping(runs[0])
    if suite in SPLIT_BY_ALL or not by or len(runs) > len(COLOURS):
        return
    rows = group_rows(runs, by)
    if not rows.height or rows["estimate"].null_count() == rows.height:
        return
    rows, others = _leveled(rows, by)
    levels = rows["level"].unique(maintain_order=True).to_list()
    if not 1 < len(levels) <= _MOST_LEVELS:
        return
    rows = about(rows, "name", "level", *(["panel"] if others else []))
    models = rows["name"].unique(maintain_order=True).to_list()
    title = f"Accuracy on {suite} by {' and '.join(by)}"
    caption = (
        f"Accuracy (share of items) on {plain(suite)} by {' and '.join(by)}; bars are 95% intervals, dashed lines "
        f"chance. {items_note(rows, condition)}"
    )
    chart = finished(groups_chart(rows, levels, models), title, caption)
    yield Figure(f"groups-{name}", title, caption, chart, (suite,), tuple(models))


def _leveled(rows: pl.DataFrame, by: Sequence[str]) -> tuple[pl.DataFrame, bool]:
    """Return rows with `level` and `panel`, and whether the panels differ: of two factors the one with more levels.

    Where each level of one factor is in one level of the other only, there is one panel, and levels say both.
    """
    rows = rows.with_columns(pl.col(name).fill_null("(none)") for name in by)
    level, panel = by[0], by[-1]
    if rows[level].n_unique() < rows[panel].n_unique():
        level, panel = panel, level
    nested = level != panel and rows.select(level, panel).n_unique() == rows[level].n_unique()
    if nested or level == panel:
        both = pl.format("{} ({})", level, panel) if nested else pl.col(level)
        return rows.with_columns(level=both, panel=pl.lit("all items")), False
    rows = rows.with_columns(level=pl.col(level), panel=pl.col(panel))
    order = pl.Enum(_ordered(rows["panel"].to_list()))
    return rows.sort(pl.col("panel").cast(order), maintain_order=True), True


def _ordered(panels: Sequence[str]) -> list[str]:
    """Return panels in the order of first appearance, what is plausible before what isn't."""
    return sorted(dict.fromkeys(panels), key=lambda name: name == "implausible")


def _grouping(run: Run) -> list[str]:
    """Return the finest grouping of a suite that a figure can show: at most two factors, not too many levels."""
    outcomes = run.outcomes()
    said = run.record["suite"]
    for grouping in (said["by"], *said.get("also", ())):
        known = [name for name in grouping if name in outcomes.columns]
        if len(known) == len(grouping) and 0 < len(known) <= 2:
            sizes = sorted(outcomes[name].n_unique() for name in known)
            if sizes[-1] <= _MOST_LEVELS and (len(sizes) == 1 or sizes[0] <= 4):
                return list(known)
    return []
