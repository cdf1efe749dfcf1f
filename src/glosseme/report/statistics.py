"""Statistics as text, JSON, CSV, Markdown and LaTeX: what the tables of `glosseme analyse` have in common."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import polars as pl

from glosseme.errors import GlossemeError, nearest
from glosseme.report.cells import INTERVAL, cells, finite, plain
from glosseme.report.grid import latex_grid, markdown_grid, text_grid

__all__ = ["FORMATS", "HOLM_NOTE", "MARK", "as_json", "block", "check_format", "flat"]

FORMATS: Final = ("text", "json", "csv", "markdown", "latex")
MARK: Final = "mark"
"""The column of text that marks what is left of p after Holm's adjustment."""
HOLM_NOTE: Final = "p_holm is p adjusted for all rows (Holm 1979); * marks those under .05."

_HEADERS: Final = {INTERVAL: "95%", "n_clusters": "clusters", MARK: ""}


def check_format(format_: str) -> None:
    """Raise `GlossemeError` for an unknown format."""
    if format_ not in FORMATS:
        raise GlossemeError(f"there is no format {format_!r}", todo=nearest(format_, FORMATS))


def as_json(rows: Sequence[dict[str, Any]]) -> str:
    """Return a strict JSON list of objects, one a line."""
    lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
    return "[\n  " + ",\n  ".join(lines) + "\n]" if rows else "[]"


def flat(table: pl.DataFrame, format_: str, columns: Sequence[str]) -> str:
    """Return a table in a format that isn't text; Markdown and LaTeX have the columns named, rounded."""
    if format_ == "json":
        return as_json(finite(table).to_dicts())
    if format_ == "csv":
        return finite(table).write_csv()
    return markdown_grid(*_grid(table, columns)) if format_ == "markdown" else latex_grid(*_grid(table, columns))


def block(head: str, table: pl.DataFrame, columns: Sequence[str]) -> str:
    """Return aligned text below a heading; the column `MARK` is a star where p_holm is under .05."""
    if MARK in columns:
        table = table.with_columns(pl.when(pl.col("p_holm") < 0.05).then(pl.lit("*")).otherwise(pl.lit("")).alias(MARK))
    return "\n".join([plain(head), *text_grid(*_grid(table, columns))])


def _grid(table: pl.DataFrame, columns: Sequence[str]) -> tuple[list[str], list[list[str]], list[bool]]:
    right = [name == INTERVAL or table[name].dtype.is_numeric() for name in columns]
    return [_HEADERS.get(name, name) for name in columns], cells(table, columns), right
