"""The cells of a table: numbers as statistics are printed, text as text in every format."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from typing import Final

import polars as pl

from glosseme.words import counted

__all__ = ["INTERVAL", "cells", "counted", "finite", "latex", "latex_number", "markdown", "plain", "width"]

INTERVAL: Final = "interval"
"""The column made of low and high."""

_NONE: Final = "-"
_LATEX: Final = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # A bracket after a line break would be read as its argument.
    "[": "{[}",
    # These are other characters in the encoding that LaTeX has by default.
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{char: f"\\{char}" for char in "&%$#_{}"},
}


def cells(table: pl.DataFrame, columns: Sequence[str]) -> list[list[str]]:
    """Return the rows of a table as printed, for the columns named: undefined is `-`, never a number.

    >>> cells(pl.DataFrame({"low": [-0.5, None], "high": [0.25, None], "n": [3, 0]}), [INTERVAL, "n"])
    [['[-.50, .25]', '3'], ['-', '0']]
    """
    digits = _digits(table)
    rounded = max(digits, 3)
    by_column = [
        _intervals(table, digits) if name == INTERVAL else [_cell(value, rounded) for value in table[name]]
        for name in columns
    ]
    return [list(row) for row in zip(*by_column, strict=True)]


def _digits(table: pl.DataFrame) -> int:
    """Return with how many decimals the intervals are written: two, more where they are very narrow."""
    if not {"low", "high"} <= set(table.columns):
        return 2
    narrowest = finite(table).select((pl.col("high") - pl.col("low")).min()).item()
    return 2 if narrowest is None or narrowest >= 0.02 else 3 if narrowest >= 0.002 else 4


def _intervals(table: pl.DataFrame, digits: int) -> list[str]:
    bounds = finite(table).select("low", "high").rows()
    return [_NONE if None in pair else "[" + ", ".join(_number(b, digits) for b in pair) + "]" for pair in bounds]


def _cell(value: object, digits: int) -> str:
    if isinstance(value, float):
        return _number(value, digits) if math.isfinite(value) else _NONE
    return _NONE if value is None else plain(value)


def _number(value: float, digits: int) -> str:
    """Return a number as statistics are printed: .635, -.120, 1.204; a very small one with its exponent."""
    if 0 < abs(value) < 0.5 * 10**-digits:
        return f"{value:.1e}" if digits > 2 else _number(0.0, digits)
    # Adding zero takes the sign from a negative zero.
    return re.sub(r"^(-?)0\.", r"\1.", f"{value + 0.0:.{digits}f}")


def plain(value: object) -> str:
    """Return text on one line, without control characters."""
    return "".join(char for char in " ".join(str(value).split()) if char.isprintable())


def width(text: str) -> int:
    """Return how many columns of a terminal text takes."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(bool(unicodedata.combining(char)) for char in text)


def markdown(text: str) -> str:
    r"""Return text with what Markdown would take for markup escaped; underscores inside words are none.

    >>> print(markdown("a_b|*c*"))
    a_b\|\*c\*
    """
    return re.sub(r"([\\`*<\[\]|&~]|(?<![^\W_])_|_(?![^\W_]))", r"\\\1", text)


def latex(text: str) -> str:
    r"""Return text with what LaTeX would take for commands escaped.

    >>> print(latex("50% of a_b"))
    50\% of a\_b
    """
    return "".join(_LATEX.get(char, char) for char in text)


def latex_number(cell: str) -> str:
    """Return a printed number with LaTeX's minus signs, and a dash where it is undefined."""
    return "--" if cell == _NONE else cell.replace("-", "$-$")


def finite(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with null for what is no finite number."""
    floats = pl.selectors.float()
    return table.with_columns(pl.when(floats.is_finite()).then(floats))
