"""The lexicon of the package: verbs, nouns and scalar adjectives, from `data/paired_focus/lexicon.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Final

import polars as pl

__all__ = ["SETS", "adjectives", "templates"]

SETS: Final = ("core", "extended")
"""The sets of the lexicon, the default first; `extended` holds `core`."""


@cache
def _raw() -> dict[str, Any]:
    path = files("glosseme") / "data" / "paired_focus" / "lexicon.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def adjectives() -> pl.DataFrame:
    """Return the adjectives of the scales, one row an adjective: adjective, scale, end (`low` or `high`).

    `high` is the end that is harder to deal with, which is `dim` for brightness.

    >>> adjectives().filter(pl.col("adjective") == "dim").row(0)
    ('dim', 'brightness', 'high')
    """
    rows = [
        (word, scale, end) for scale, ends in _raw()["scales"].items() for end in ("low", "high") for word in ends[end]
    ]
    return pl.DataFrame(rows, schema=["adjective", "scale", "end"], orient="row")


@cache
def templates(name: str = "core") -> pl.DataFrame:
    """Return the templates of a set, one row a template: scale, verb, gerund, noun, x, y, why.

    x is the low and y the high adjective: doing the verb to a y noun is harder. Rows are in the file's order.

    >>> templates("core").columns
    ['scale', 'verb', 'gerund', 'noun', 'x', 'y', 'why']
    """
    raw = _raw()
    wanted = SETS[: SETS.index(name) + 1]
    rows = [
        {
            "scale": scale,
            "verb": entry["verb"],
            "gerund": entry["gerund"],
            "noun": entry["nouns"],
            "x": entry.get("low", raw["scales"][scale]["low"]),
            "y": entry.get("high", raw["scales"][scale]["high"]),
            "why": entry["why"],
        }
        for section in wanted
        for scale, entries in raw[section].items()
        for entry in entries
    ]
    return pl.DataFrame(rows).explode("noun").explode("x").explode("y")
