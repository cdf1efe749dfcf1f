"""What the benchmarks do alike with their rows: what can't be asked is left out and counted, what is odd is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from glosseme.measures import Reduction
from glosseme.suites.benchmarks.read import FILE, LINE

__all__ = ["REDUCTIONS", "VARIANTS", "asked", "duplicates", "identical", "label", "usable"]

REDUCTIONS: tuple[Reduction, ...] = ("sum", "mean")
"""Choices of the option `reduction`."""
VARIANTS = ("within_word_l2r", "original")
"""Choices of the option `pll`, for masked models."""


def usable(rows: pl.DataFrame, texts: Sequence[str]) -> tuple[pl.DataFrame, list[str]]:
    """Return the rows in which no text is empty or missing, and a sentence on the others.

    >>> rows = pl.DataFrame({"text": ["a", " ", None], FILE: "x.csv", LINE: [2, 3, 4]})
    >>> usable(rows, ["text"])[1]
    ['2 items are left out because a text of theirs is empty or missing (first: x.csv:3)']
    """
    empty = pl.any_horizontal((pl.col(name).is_null() | (pl.col(name).str.strip_chars() == "")) for name in texts)
    return rows.filter(~empty), _counted(
        rows.filter(empty),
        ("item is left out because a text of its is", "items are left out because a text of theirs is"),
        "empty or missing",
    )


def identical(rows: pl.DataFrame, one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Return a sentence on rows whose two members are the same, which no scorer can tell apart."""
    same = pl.all_horizontal(pl.col(a) == pl.col(b) for a, b in zip(one, other, strict=True))
    return _counted(rows.filter(same), ("item has", "items have"), "two identical members and ties")


def duplicates(rows: pl.DataFrame, columns: Sequence[str]) -> list[str]:
    """Return a sentence on rows that repeat an earlier one, which are scored as they are."""
    again = ~pl.struct(columns).is_first_distinct()
    return _counted(
        rows.filter(again), ("item repeats", "items repeat"), "an earlier one word for word and counts again"
    )


def _counted(rows: pl.DataFrame, verbs: tuple[str, str], what: str) -> list[str]:
    if not rows.height:
        return []
    first = f"{rows[FILE][0]}:{rows[LINE][0]}"
    return [f"{rows.height:,} {verbs[rows.height > 1]} {what} (first: {first})"]


def label(name: str) -> pl.Expr:
    """Return the expression of a column's values as labels: lower case, hyphens.

    >>> pl.DataFrame({"domain": ["Physical Relations", "agent_properties"]}).select(label("domain"))["domain"].to_list()
    ['physical-relations', 'agent-properties']
    """
    return pl.col(name).str.strip_chars().str.to_lowercase().str.replace_all(r"[\s_/-]+", "-")


def asked(
    rows: pl.DataFrame,
    roles: Mapping[str, tuple[pl.Expr | None, pl.Expr]],
    measure: str,
    factors: Sequence[str],
) -> pl.DataFrame:
    """Return the requests of rows, an item's together: each role with its context (or None) and text.

    `rows` has the columns item and `factors`.
    """
    parts = [
        rows.select(
            "item",
            pl.lit(role).alias("role"),
            pl.lit(measure).alias("measure"),
            (pl.lit(None, dtype=pl.String) if context is None else context).alias("context"),
            text.alias("text"),
            *factors,
            pl.int_range(pl.len()).alias("__row"),
        )
        for role, (context, text) in roles.items()
    ]
    return pl.concat(parts).sort("__row", maintain_order=True).drop("__row")
