"""The table of all suites: one row a model, and marks where runs of one row were not asked alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import polars as pl

from glosseme.report.cells import cells
from glosseme.report.charts.estimates import condition_of
from glosseme.report.page.blocks import UNDEFINED, Cell, Column, Keys, Row, Table, number, said_once, text_cell
from glosseme.report.page.choose import about, design_of_run, last_of_each
from glosseme.report.page.estimates import SHARES, groupings
from glosseme.report.page.text import Anchors, visible
from glosseme.runs.folder import Run

__all__ = ["overview"]

_MOST_LEVELS: Final = 8
"""So many columns of one suite at most."""
_KEY: Final = "__run"
_MARKS: Final = str.maketrans("0123456789", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")


@dataclass(slots=True)
class _Grid:
    """Cells by row and column; a row is a model, its revision, and which of several runs of one suite it has."""

    columns: dict[tuple[str, str], Column] = field(default_factory=dict)
    rows: dict[tuple[str, str, int], dict[tuple[str, str], Cell]] = field(default_factory=dict)

    def put(self, model: tuple[str, str], values: dict[tuple[str, str], Cell]) -> None:
        """Put the values of one run into the first row of its model that has none of its suite."""
        suites = {suite for suite, _ in values}
        copy = 0
        while suites & {suite for suite, _ in self.rows.get((*model, copy), {})}:
            copy += 1
        self.rows.setdefault((*model, copy), {}).update(values)


def overview(runs: Sequence[Run], rows: pl.DataFrame, keys: Keys, anchors: Anchors) -> Table | None:
    """Return one row a model and the coarsest estimates of each suite as columns; None without a judged suite.

    A number is marked where it was asked for in another way than most of its suite, and a note says how.
    """
    last = last_of_each([run for run in runs if design_of_run(run) != "value"])
    kept = rows.filter(pl.col(_KEY).is_in([runs.index(run) for run in last]) & (pl.col("metric") == SHARES[0]))
    usual = {suite: _usual([run for run in last if about(run).suite == suite]) for suite in keys.suites}
    grid, marks = _Grid(), dict[str, str]()
    for suite in keys.suites:
        found = groupings(kept.filter(pl.col("suite") == suite))
        if found:
            _fill(grid, suite, *found[0], runs, usual[suite], marks)
    if not grid.columns:
        return None
    shown = [c for c in grid.columns if sum(c[0] == other[0] for other in grid.columns) <= _MOST_LEVELS]
    heads = [Column("model"), Column("revision"), *(grid.columns[c] for c in shown)]
    body = [
        Row([*map(text_cell, key[:2]), *(said.get(c, Cell(UNDEFINED)) for c in shown)], "", keys.of_models(key[:1]))
        for key, said in grid.rows.items()
    ]
    notes = ["Accuracy (P@1 in suites of ranks) over all items, or over the coarsest groups that a suite has."]
    if len(last) < len(runs):
        notes.append("Of each trajectory the last checkpoint.")
    notes += [visible(f"{suite}: {asked}.") for suite, asked in usual.items() if _is_worth_saying(asked)]
    notes += [f"{mark} {visible(said)}." for said, mark in marks.items()]
    return said_once(Table(anchors("table-overview"), "Accuracy", heads, body, notes, level=3), {"revision"})


def _fill(
    grid: _Grid,
    suite: str,
    factors: Sequence[str],
    coarsest: pl.DataFrame,
    runs: Sequence[Run],
    usual: str,
    marks: dict[str, str],
) -> None:
    """Put the estimates of a suite into the grid, runs that were asked as most of them first."""
    parts = coarsest.partition_by(_KEY, maintain_order=True)
    parts.sort(key=lambda part: _asked(runs[part[_KEY][0]]) != usual)
    for row in coarsest.to_dicts():
        level = _level(row, factors)
        grid.columns.setdefault((suite, level), Column(f"{suite} {level}".strip(), "number"))
    for part in parts:
        asked = _asked(runs[part[_KEY][0]])
        said = f"{suite}: {asked}"
        mark = "" if asked == usual else marks.setdefault(said, str(len(marks) + 1).translate(_MARKS))
        values = {
            (suite, _level(row, factors)): number(row["estimate"], f"{text}{mark}")
            for row, (text,) in zip(part.to_dicts(), cells(part, ["estimate"]), strict=True)
        }
        grid.put((part["model"][0], part["revision"][0]), values)


def _level(row: dict[str, object], factors: Sequence[str]) -> str:
    return " ".join(visible(row[name]) for name in factors)


def _usual(runs: Sequence[Run]) -> str:
    """Return how most runs of a suite were asked, the first of equals: whole data before samples."""
    ways = sorted(Counter(map(_asked, runs)).items(), key=lambda pair: (-pair[1], _is_worth_saying(pair[0]), pair[0]))
    return ways[0][0] if ways else ""


def _asked(run: Run) -> str:
    """Return what else a number depends on: data, sample, options, precision, BOS."""
    identity = run.record["identity"]
    dtype, bos = identity.get("dtype") or "float32", identity.get("bos") or "auto"
    more = [*([str(dtype)] if dtype != "float32" else []), *([f"bos={bos}"] if bos != "auto" else [])]
    return "; ".join([condition_of(run), *more])


def _is_worth_saying(asked: str) -> bool:
    """Whether there is more to say than the name of the data."""
    return ";" in asked
