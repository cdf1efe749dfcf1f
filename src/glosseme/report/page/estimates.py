"""The tables of estimates: for each suite one table for each grouping, and one of all suites."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import polars as pl

from glosseme.analysis.summarise import ALL, SUMMARY_COLUMNS
from glosseme.report.cells import INTERVAL
from glosseme.report.page.blocks import Cell, Column, Keys, Row, Shown, Table, columns_of, said_once
from glosseme.report.page.choose import about, last_of_each
from glosseme.report.page.text import Anchors, visible
from glosseme.report.runs import rows_of_run
from glosseme.report.units import unit_notes
from glosseme.runs.folder import Run

__all__ = ["SHARES", "SuitePart", "groupings", "rows_of_runs", "suite_parts"]

_FACTS: Final = ("model", "revision", "suite", "data", "dtype", "options")
SHARES: Final = ("accuracy", "rank_score")
"""Metrics that are shares, the first of them that of the overview."""
_MOST_ROWS: Final = 240
"""A finer table of more rows keeps to the last checkpoint of each trajectory."""
_HEADS: Final = {INTERVAL: "95% interval", "n_clusters": "clusters"}
_ONCE: Final = frozenset({"revision", "n", "dropped", "ties", "chance", _HEADS["n_clusters"]})
"""Heads of columns that aren't shown where they are the same in every row."""
_MOST_COLUMNS: Final = 9
_LEAST: Final = frozenset({"ties", _HEADS["n_clusters"]})
_KEY: Final = "__run"


@dataclass(frozen=True, slots=True)
class SuitePart:
    """What the page shows of one suite."""

    id: str
    name: str
    title: str
    source: str
    facts: Sequence[str]
    tables: Sequence[Table]
    suites: str
    models: str


def rows_of_runs(runs: Sequence[Run]) -> pl.DataFrame:
    """Return the summaries of runs with the place of each run (`__run`): the tables that suites have by default."""
    parts = [
        rows_of_run(run, run.outcomes(), None).with_columns(pl.lit(place, pl.Int64).alias(_KEY))
        for place, run in enumerate(runs)
    ]
    return pl.concat(parts, how="diagonal")


def suite_parts(runs: Sequence[Run], rows: pl.DataFrame, keys: Keys, anchors: Anchors) -> list[SuitePart]:
    """Return the parts of the suites, in the order of their names."""
    parts = []
    for suite in keys.suites:
        of = [run for run in runs if about(run).suite == suite]
        record = of[0].record["suite"]
        models = keys.of_models(about(run).model for run in of)
        part_id = anchors("suite", suite)
        table = rows.filter(pl.col("suite") == suite)
        made = list(_tables(suite, of, runs, table, keys, anchors))
        said = ["; ".join(_same(table)), *(note.removeprefix(f"{suite}: ") for note in unit_notes(of))]
        facts = [visible(fact) for fact in said if fact]
        title, source = (visible(record.get(key) or "") for key in ("title", "source"))
        places = keys.of_suites([suite]), models
        parts.append(SuitePart(part_id, visible(suite), title, source, facts, made, *places))
    return parts


def _same(table: pl.DataFrame) -> Iterator[str]:
    """Yield what is the same in all rows of a suite, which no column then says."""
    for name in ("data", "dtype", "options"):
        if table[name].n_unique() == 1 and table[name][0]:
            yield f"{name} {visible(table[name][0])}"


def _tables(
    suite: str, of: Sequence[Run], runs: Sequence[Run], table: pl.DataFrame, keys: Keys, anchors: Anchors
) -> Iterator[Table]:
    last = {runs.index(run) for run in last_of_each(of)}
    for factors, rows in groupings(table):
        # Runs of other designs under the same name have other metrics.
        for part in _by_metrics(rows):
            kept, notes = part, []
            if factors and part.height > _MOST_ROWS and len(last) < len(of):
                kept = part.filter(pl.col(_KEY).is_in(last))
                notes = ["Of each trajectory the last checkpoint; glosseme table has all of them."]
            if kept.height:
                by = " and ".join(factors)
                caption = visible(f"{suite} by {by}" if factors else f"{suite}, all items")
                yield _table(kept, factors, caption, notes, keys, anchors("table", suite, *factors or [ALL]))


def groupings(table: pl.DataFrame) -> list[tuple[list[str], pl.DataFrame]]:
    """Return the rows of each grouping with its factors, from coarse to fine."""
    known = {*_FACTS, *SUMMARY_COLUMNS, _KEY}
    factors = [name for name in table.columns if name not in known and table[name].count()]
    marked = table.with_columns(
        __by=pl.concat_list([pl.when(pl.col(f).ne_missing(ALL)).then(pl.lit(f)) for f in factors]).list.drop_nulls()
        if factors
        else pl.lit([], pl.List(pl.String))
    )
    found = marked.partition_by("__by", maintain_order=True)
    return sorted(((part["__by"][0].to_list(), part.drop("__by")) for part in found), key=lambda pair: len(pair[0]))


def _by_metrics(rows: pl.DataFrame) -> list[pl.DataFrame]:
    has = rows.group_by(_KEY, maintain_order=True).agg(__metrics=pl.col("metric").unique(maintain_order=True))
    joined = rows.join(has, on=_KEY, how="left", maintain_order="left")
    return [part.drop("__metrics") for part in joined.partition_by("__metrics", maintain_order=True)]


def _table(
    rows: pl.DataFrame, factors: Sequence[str], caption: str, notes: Sequence[str], keys: Keys, table_id: str
) -> Table:
    by_metric = rows.partition_by("metric", maintain_order=True)
    first = by_metric[0]
    names = ["model", *_varying(first), *factors]
    columns, made = columns_of(first, names, {})
    for part in by_metric:
        metric = part["metric"][0]
        drawn = metric in SHARES
        heads, numbers = columns_of(part, ["estimate", INTERVAL], {**_HEADS, "estimate": metric})
        # The interval of the first metric is seen everywhere, of the others where there is room.
        room: Shown = "always" if part is first else "wide"
        columns += [*heads[:1], *(replace(head, shown=room) for head in heads[1:])]
        columns += [Column("0 to 1", "range", room)] if drawn else []
        made += [*numbers, *([_drawn(part)] if drawn else [])]
        if part is first:
            heads, numbers = columns_of(first, _counts(first), _HEADS)
            columns, made = [*columns, *heads], [*made, *numbers]
    made_rows = [
        Row(row, keys.of_suites([suite]), keys.of_models([model]))
        for row, suite, model in zip(zip(*made, strict=True), first["suite"], first["model"], strict=True)
    ]
    about_all = keys.of_suites(first["suite"].unique()), keys.of_models(first["model"].unique())
    return _narrower(said_once(Table(table_id, caption, columns, made_rows, notes, *about_all), _ONCE))


def _narrower(table: Table) -> Table:
    """Return a table of many columns with those that matter least where there is room only."""
    if sum(column.shown == "always" for column in table.columns) <= _MOST_COLUMNS:
        return table
    columns = [replace(c, shown="wide") if c.shown == "always" and c.head in _LEAST else c for c in table.columns]
    return replace(table, columns=columns)


def _varying(table: pl.DataFrame) -> list[str]:
    """Return the facts of a run that the rows need to be told apart."""
    revision = ["revision"] if (table["revision"] != "main").any() else []
    return [*revision, *(name for name in ("data", "dtype", "options") if table[name].n_unique() > 1)]


def _counts(table: pl.DataFrame) -> list[str]:
    clustered = (table["n"] != table["n_clusters"]).any()
    judged = [name for name in ("ties", "chance") if table[name].count()]
    dropped = ["dropped"] if (table["dropped"] > 0).any() else []
    return ["n", *dropped, *judged, *(["n_clusters"] if clustered else [])]


def _drawn(table: pl.DataFrame) -> list[Cell]:
    """Return intervals as marks between 0 and 1, with chance."""
    names = {"e": "estimate", "l": "low", "h": "high", "c": "chance"}
    rows = table.select(names.values()).rows()
    return [Cell("", style=_style(dict(zip(names, row, strict=True)))) for row in rows]


def _style(marks: dict[str, float | None]) -> str:
    if marks["e"] is None:
        return ""
    return ";".join(f"--{name}:{100 * value:.4g}" for name, value in marks.items() if value is not None)
