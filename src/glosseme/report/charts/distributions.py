"""Figures of items: how deltas are distributed, and ranks by frequency and depth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import polars as pl

from glosseme.report.cells import counted, plain
from glosseme.report.charts.bands import bands_chart
from glosseme.report.charts.deltas import binned, histograms_chart, quantiles, quantiles_chart
from glosseme.report.charts.estimates import about, by_suite, condition_of, design_of_run, group_rows
from glosseme.report.charts.finished import items_note
from glosseme.report.charts.names import named, slug
from glosseme.report.charts.theme import COLOURS, finished
from glosseme.report.figure import Figure
from glosseme.report.units import declared
from glosseme.runs.folder import Run

__all__ = ["figures_of_items", "figures_of_ranks"]

_FEW: Final = 4
"""Up to so many models each has histograms; more have a row each in one figure of quantiles."""
_MOST_ROWS: Final = 12
_UNITS: Final = {"sum": "nats", "mean": "nats per token", "probability": "probability"}
_LEVELS: Final = (("band", "frequency"), ("depth", "depth in WordNet"))


def figures_of_items(runs: Sequence[Run]) -> Iterator[Figure]:
    """Yield the distributions of deltas of finished models, for suites whose items are compared by differences."""
    done: set[str] = set()
    for suite, _, chosen in by_suite(runs):
        if suite in done or design_of_run(chosen[0]) not in {"pair", "contrast", "cross"}:
            continue
        done.add(suite)
        if len(chosen) <= _FEW:
            yield from (figure for run in chosen for figure in _histograms(run, suite))
        else:
            yield from _quantiles(chosen, suite)


def _name(run: Run) -> str:
    return named(str(run.record["identity"]["model"]), str(run.record["identity"]["revision"]))


def _unit(run: Run) -> str:
    if run.record.get("model", {}).get("kind") == "static":
        return "cosine"
    return _UNITS.get(str(run.record["suite"].get("reduction", "sum")), "nats")


def _items(run: Run) -> tuple[pl.DataFrame, list[str], list[str]]:
    """Return the items with `row` and `column`, the levels of both in order: those of the suite's main factors."""
    outcomes = run.outcomes()
    for factor, value in declared(run, "where", {}).items():
        outcomes = outcomes.filter(pl.col(factor) == value)
    sizes = {name: outcomes[name].n_unique() for name in run.record["suite"]["by"] if name in outcomes.columns}
    column = next((name for name, n in sizes.items() if 1 < n <= 2 and len(sizes) > 1), None)
    row = next((name for name, n in sizes.items() if name != column and 1 < n <= _MOST_ROWS), None)
    if row and column and outcomes.select(row, column).n_unique() == outcomes[row].n_unique():
        # Levels that are in one column only say which.
        outcomes = outcomes.with_columns(pl.format("{} ({})", pl.col(row).cast(pl.String), column).alias(row))
        column = None
    factors = [(pl.lit("") if f is None else pl.col(f).cast(pl.String).fill_null("(none)")) for f in (row, column)]
    items = outcomes.with_columns(factors[0].alias("row"), factors[1].alias("column"))
    orders = [items[name].unique(maintain_order=True).to_list() for name in ("row", "column")]
    orders[1].sort(key=lambda level: level in {"implausible", "control"})
    return items, orders[0], orders[1]


def _histograms(run: Run, suite: str) -> Iterator[Figure]:
    items, rows, columns = _items(run)
    bins = binned(items)
    if not bins.height:
        return
    name, unit = _name(run), _unit(run)
    title = f"Deltas of items of {suite}: {plain(name)}"
    n = int(bins.group_by("row", "column").agg(pl.col("n").first())["n"].sum())
    caption = (
        f"Distribution of the delta ({unit}) of {counted(n, 'item')} of {plain(suite)}, {plain(name)}. "
        f"Dark, right of zero: items that count as right, with their share; the outermost bars hold all beyond them. "
        f"Items: {plain(condition_of(run))}.{_macro_note(run)}"
    )
    chart = finished(histograms_chart(bins, unit, rows, columns), title, caption)
    yield Figure(f"deltas-{slug(suite)}-{slug(name)}", title, caption, chart, (suite,), (name,))


def _macro_note(run: Run) -> str:
    factor = declared(run, "macro", "")
    return f" Each item counts the same here, in accuracies each {plain(factor)}." if factor else ""


def _quantiles(runs: Sequence[Run], suite: str) -> Iterator[Figure]:
    tables, columns = [], [""]
    for run in runs:
        items, _, columns = _items(run)
        tables.append(quantiles(items.with_columns(name=pl.lit(_name(run), pl.String))))
    rows = pl.concat(tables)
    if not rows.height:
        return
    medians = rows.group_by("name").agg(pl.col("above").mean()).sort("name")
    order = medians.sort("above", descending=True, maintain_order=True)["name"].to_list()
    unit = _unit(runs[0])
    title = f"Deltas of items of {suite}"
    caption = (
        f"Deltas ({unit}) of the items of {plain(suite)} for {counted(len(order), 'model')}: thin bars hold 90% of the "
        f"items, thick ones half of them, circles are medians. Items right of zero count as right; models are in the "
        f"order of their share. Items: {plain(condition_of(runs[0]))}.{_macro_note(runs[0])}"
    )
    chart = finished(quantiles_chart(rows, unit, order, columns), title, caption)
    yield Figure(f"deltas-{slug(suite)}", title, caption, chart, (suite,), tuple(order))


def figures_of_ranks(runs: Sequence[Run]) -> Iterator[Figure]:
    """Yield P@1 and rank score by frequency band and by depth, for suites that have these factors."""
    done: set[tuple[str, str]] = set()
    for suite, condition, chosen in by_suite(runs):
        for level, title in _LEVELS:
            if design_of_run(chosen[0]) == "rank" and (suite, level) not in done:
                done.add((suite, level))
                yield from _ranks(chosen, suite, condition, level, title)


def _ranks(runs: Sequence[Run], suite: str, condition: str, level: str, words: str) -> Iterator[Figure]:
    by = ["task", "pos", level]
    outcomes = runs[0].outcomes()
    if not set(by) <= set(outcomes.columns) or outcomes[level].n_unique() < 2:
        return
    # More models than styles could not be told apart.
    shown = list(runs[: len(COLOURS)])
    tables = [(m, group_rows(shown, by, m)) for m in ("accuracy", "rank_score")]
    rows = pl.concat([table.with_columns(metric=pl.lit(metric)) for metric, table in tables])
    rows = rows.filter(pl.col("estimate").is_not_null() & pl.col(level).is_not_null())
    rows = rows.with_columns(panel=pl.concat_str("task", "pos", separator=" "))
    if not rows.height:
        return
    rows = about(rows, "name", "metric", "panel", level)
    order = None
    if outcomes[level].dtype.is_numeric():
        rows = rows.with_columns(pl.col(level).cast(pl.Int64))
    else:
        order = rows[level].unique(maintain_order=True).to_list()
    models = rows["name"].unique(maintain_order=True).to_list()
    more = f" {len(runs) - len(shown)} further models are not shown." if len(runs) > len(shown) else ""
    title = f"Ranks on {suite} by {words}"
    caption = (
        f"P@1 (share of items whose own definition or word is ranked first) and rank score on {plain(suite)} by "
        f"{words}; bars are 95% intervals, grey ticks chance. {items_note(rows, condition)}{more}"
    )
    chart = finished(bands_chart(rows, level, words, order), title, caption)
    yield Figure(f"{level}-{slug(suite)}", title, caption, chart, (suite,), tuple(models))
