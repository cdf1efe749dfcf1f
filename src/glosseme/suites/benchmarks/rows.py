"""What the benchmarks do alike with their rows: what can't be asked is left out and counted, what is odd is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from glosseme.errors import GlossemeError
from glosseme.measures import Reduction
from glosseme.suites.benchmarks.read import FILE, LINE
from glosseme.words import counted

__all__ = ["REDUCTIONS", "VARIANTS", "Reason", "alike", "asked", "duplicates", "empty", "identical", "label", "usable"]

REDUCTIONS: tuple[Reduction, ...] = ("sum", "mean")
"""Choices of the option `reduction`."""
VARIANTS = ("within_word_l2r", "original")
"""Choices of the option `pll`, for masked models."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a row can't be asked."""

    wrong: pl.Expr
    """Which rows it is true of."""
    one: str
    """What a note says of one row."""
    several: str


def empty(texts: Sequence[str]) -> Reason:
    """Return the reason of rows of which a text is empty or missing."""
    lacking = ((pl.col(name).is_null() | (pl.col(name).str.strip_chars() == "")) for name in texts)
    return Reason(
        pl.any_horizontal(lacking),
        "a text of its is empty or missing",
        "a text of theirs is empty or missing",
    )


def alike(one: str, other: str, what: str) -> Reason:
    """Return the reason of crossed rows whose two contexts or targets are the same but for spaces.

    With one context, no target has one to prefer; of one target, each preference is the other's contrary, so that no
    scorer is ever right and one without knowledge is below chance.
    """
    first, second = (pl.col(name).str.strip_chars().str.replace_all(r"\s+", " ") for name in (one, other))
    return Reason(first == second, f"its two {what} are the same", f"their two {what} are the same")


def usable(rows: pl.DataFrame, reasons: Sequence[Reason]) -> tuple[pl.DataFrame, list[str]]:
    """Return the rows that can be asked, and a sentence on those that each of the reasons leaves out.

    Raises `GlossemeError` with the first file and line where none is left.

    >>> rows = pl.DataFrame({"text": ["a", " ", None], FILE: "x.csv", LINE: [2, 3, 4]})
    >>> usable(rows, [empty(["text"])])[1]
    ['2 items are left out: a text of theirs is empty or missing (first: x.csv:3)']
    """
    notes: list[str] = []
    kept, first = rows, rows.head(1)
    for reason in reasons:
        wrong = reason.wrong.fill_null(value=False)
        out, kept = kept.filter(wrong), kept.filter(~wrong)
        notes += _said(out, ("is", "are"), f"left out: {reason.several if out.height > 1 else reason.one}")
    if not kept.height:
        raise GlossemeError(
            "no item can be asked", where=_place(first) if first.height else None, todo="; ".join(notes)
        )
    return kept, notes


def identical(rows: pl.DataFrame, one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Return a sentence on pairs whose two members are the same, which tie with every scorer."""
    same = pl.all_horizontal(pl.col(a) == pl.col(b) for a, b in zip(one, other, strict=True))
    return _said(rows.filter(same), ("has two identical members and ties", "have two identical members and tie"))


def duplicates(rows: pl.DataFrame, columns: Sequence[str]) -> list[str]:
    """Return a sentence on rows that repeat an earlier one, which are scored as they are."""
    again = ~pl.struct(columns).is_first_distinct()
    verbs = ("repeats an earlier one and counts again", "repeat earlier ones and count again")
    return _said(rows.filter(again), verbs)


def _said(rows: pl.DataFrame, verbs: tuple[str, str], what: str = "") -> list[str]:
    if not rows.height:
        return []
    return [f"{counted(rows.height, 'item', verbs)}{' ' * bool(what)}{what} (first: {_place(rows)})"]


def _place(rows: pl.DataFrame) -> str:
    return f"{rows[FILE][0]}:{rows[LINE][0]}"


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
