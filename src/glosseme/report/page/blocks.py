"""What a page is made of: tables with cells that know their raw values, and what each part is about."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import polars as pl

from glosseme.report.cells import INTERVAL, cells
from glosseme.report.page.text import visible

__all__ = [
    "UNDEFINED",
    "Cell",
    "Column",
    "Keys",
    "Note",
    "Row",
    "Table",
    "columns_of",
    "number",
    "printed",
    "said_once",
    "text_cell",
]

_END: Final = 14
"""So many letters at least of either end of a long name are seen."""
UNDEFINED: Final = "\u2013"
"""What stands where nothing is defined."""

Kind = Literal["text", "number", "interval", "range"]
Shown = Literal["always", "wide", "never"]
"""`wide` is where there is much room."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The suites and models of a page, which the filter knows by their places."""

    suites: tuple[str, ...]
    models: tuple[str, ...]

    def of_suites(self, names: Iterable[object]) -> str:
        """Return the places of suites, as the page's script reads them."""
        return _places(self.suites, names)

    def of_models(self, names: Iterable[object]) -> str:
        """Return the places of models; a checkpoint (`name@revision`) is its model."""
        return _places(self.models, (self._known(str(name)) for name in names))

    def _known(self, name: str) -> str:
        return name if name in self.models else name.rpartition("@")[0]


def _places(known: Sequence[str], names: Iterable[object]) -> str:
    return " ".join(str(place) for place in sorted({known.index(str(n)) for n in names if n in known}))


@dataclass(frozen=True, slots=True)
class Cell:
    """What is printed, and the raw value where that differs."""

    text: str
    value: str = ""
    """The value in full precision; of an interval its lower end."""
    high: str = ""
    """The upper end of an interval."""
    style: str = ""
    """Where the marks of a drawn interval lie."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column's head and how it is sorted and set."""

    head: str
    kind: Kind = "text"
    shown: Shown = "always"
    """Whether it is seen; files of values have all columns."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row and what it is about."""

    cells: Sequence[Cell]
    suites: str = ""
    models: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its caption."""

    id: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    notes: Sequence[str] = ()
    suites: str = ""
    models: str = ""
    level: int = 4
    same: str = ""
    """What the columns say that are the same in every row, and are not shown."""

    def alike(self) -> frozenset[str]:
        """Return the long names of rows that would look like others with their middles cut: they are shown whole."""
        names = {row.cells[0].text for row in self.rows}
        ends = Counter((name[:_END], name[-_END:]) for name in names if len(name) > 2 * _END)
        return frozenset(name for name in names if len(name) > 2 * _END and ends[name[:_END], name[-_END:]] > 1)


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence and what it is about."""

    text: str
    suites: str = ""
    models: str = ""
    runs: Sequence[str] = field(default_factory=tuple)


def said_once(table: Table, heads: Container[str]) -> Table:
    """Return a table of which those columns that have one of these heads and are the same in every row aren't shown.

    What they say stands above the table. One row is shown whole.

    >>> rows = [Row([Cell(name), Cell("main")]) for name in "ab"]
    >>> said_once(Table("x", "X", [Column("model"), Column("revision")], rows), {"revision"}).same
    'revision main'
    """
    if len(table.rows) < 2:
        return table
    columns, said = list(table.columns), []
    for place, column in enumerate(columns[1:], 1):
        first = table.rows[0].cells[place]
        if column.head in heads and all(row.cells[place] == first for row in table.rows):
            columns[place] = replace(column, shown="never")
            said += [] if first.text == UNDEFINED else [f"{column.head} {first.text}"]
    return replace(table, columns=columns, same="; ".join(said))


def text_cell(value: object) -> Cell:
    """Return text; nothing is undefined.

    >>> text_cell("a"), text_cell(None).text
    (Cell(text='a', value='', high='', style=''), '\u2013')
    """
    return Cell(UNDEFINED if value is None else visible(value))


def number(value: float | int | None, text: str | None = None) -> Cell:
    """Return a number: as given, or with thousands apart.

    >>> number(1920)
    Cell(text='1,920', value='1920', high='', style='')
    """
    if value is None or not math.isfinite(value):
        return Cell(UNDEFINED)
    return Cell(printed(f"{value:,}" if text is None else text), repr(value))


def printed(cell: str) -> str:
    """Return a printed number with real minus signs, and a dash where it is undefined."""
    return UNDEFINED if cell == "-" else cell if "e-" in cell else cell.replace("-", "\u2212")


def columns_of(
    table: pl.DataFrame, names: Sequence[str], heads: dict[str, str]
) -> tuple[list[Column], list[list[Cell]]]:
    """Return columns of a frame and their cells, column by column; `interval` stands for low and high.

    Floats are printed as statistics are, integers with thousands apart, all else as text.
    """
    texts = dict(zip(names, zip(*cells(table, names), strict=True), strict=True)) if table.height else {}
    made = [_column(table, name, texts.get(name, ())) for name in names]
    return [Column(visible(heads.get(name, name)), kind) for name, (kind, _) in zip(names, made, strict=True)], [
        m for _, m in made
    ]


def _column(table: pl.DataFrame, name: str, texts: Sequence[str]) -> tuple[Kind, list[Cell]]:
    if name == INTERVAL:
        bounds = zip(texts, table["low"], table["high"], strict=True)
        return "interval", [_interval(text, low, high) for text, low, high in bounds]
    values = table[name]
    if values.dtype.is_float():
        return "number", [number(value, text) for value, text in zip(values, texts, strict=True)]
    if values.dtype.is_integer():
        return "number", [number(value) for value in values]
    return "text", [text_cell(_said(value)) for value in values]


def _said(value: Any) -> object:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


def _interval(text: str, low: float | None, high: float | None) -> Cell:
    return Cell(UNDEFINED) if text == "-" else Cell(printed(text), repr(low), repr(high))
