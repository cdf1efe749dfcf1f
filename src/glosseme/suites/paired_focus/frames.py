"""Frames of paired-focus sentences and the texts made of them (Scivetti et al., CoNLL 2026, section 3).

A **template** is a verb, a noun and two adjectives x, y of one scale, y the one that is harder to deal with.
A **frame** is a template with a pronoun and a negated modal. Texts are expressions over a table of frames.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import polars as pl

from glosseme.suites.paired_focus.articles import with_article
from glosseme.suites.paired_focus.lexicon import templates

__all__ = [
    "CONSTRUCTIONS",
    "FRAME_COLUMNS",
    "MODALS",
    "PRONOUNS",
    "WORDS",
    "capitalised",
    "complete",
    "first_sentence",
    "follow_up",
    "frames",
    "lowered",
    "template_id",
]

CONSTRUCTIONS: Final = ("let alone", "much less", "not to mention", "never mind")
"""The paired-focus constructions, in the order of the paper."""

PRONOUNS: Final = ("You", "We", "They")
MODALS: Final = {"couldn't": "could", "can't": "can", "weren't able to": "were able to"}
"""Each negated modal with its affirmative."""

WORDS: Final = ("easier", "harder")
"""The two words between which a follow-up chooses."""

FRAME_COLUMNS: Final = (
    "frame",
    "template",
    "scale",
    "verb",
    "gerund",
    "noun",
    "pronoun",
    "modal",
    "x",
    "y",
)


@cache
def frames(name: str = "core") -> pl.DataFrame:
    """Return the frames of a set, one row a frame, with the columns of `FRAME_COLUMNS` (all strings).

    >>> frames("core")["frame"][0]
    'lift-rock-small-large-you-couldnt'
    """
    return complete(templates(name).drop("why"))


def complete(table: pl.DataFrame) -> pl.DataFrame:
    """Return frames from templates (scale, verb, gerund, noun, x, y): each with 3 pronouns x 3 modals.

    >>> complete(templates("core").drop("why").head(2)).height
    18
    """
    who = pl.DataFrame({"pronoun": PRONOUNS}).join(
        pl.DataFrame({"modal": list(MODALS)}), how="cross", maintain_order="left_right"
    )
    crossed = table.join(who, how="cross", maintain_order="left_right")
    ending = pl.format("-{}-{}", _slug(pl.col("pronoun")), _slug(pl.col("modal")))
    return crossed.with_columns(template=template_id(), frame=template_id() + ending).select(FRAME_COLUMNS)


def template_id() -> pl.Expr:
    """Return the expression that names a template: verb, noun, x and y with hyphens."""
    return pl.format("{}-{}-{}-{}", *(_slug(pl.col(c)) for c in ("verb", "noun", "x", "y")))


def _slug(text: pl.Expr) -> pl.Expr:
    return text.str.to_lowercase().str.replace_all("'", "", literal=True).str.replace_all(" ", "-", literal=True)


def first_sentence(order: pl.Expr, connective: pl.Expr) -> pl.Expr:
    """Return the expression of "P M V a x N, C a y one.", x and y exchanged where `order` is `yx`.

    `order` (xy or yx) and `connective` are string expressions over the same table.
    """
    first, second = _ordered(order)
    return pl.format(
        "{} {} {} {} {}, {} {} one.",
        *(pl.col(c) for c in ("pronoun", "modal", "verb")),
        with_article(first),
        pl.col("noun"),
        connective,
        with_article(second),
    )


def follow_up(mention: pl.Expr, word: pl.Expr) -> pl.Expr:
    """Return the expression of "G a x N is WORD than G a y N.", x and y exchanged where `mention` is `yx`."""
    first, second = _ordered(mention)
    noun, gerund = pl.col("noun"), pl.col("gerund")
    first, second = with_article(first), with_article(second)
    return pl.format("{} {} {} is {} than {} {} {}.", capitalised(gerund), first, noun, word, gerund, second, noun)


def _ordered(order: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    x, y, straight = pl.col("x"), pl.col("y"), order == "xy"
    return pl.when(straight).then(x).otherwise(y), pl.when(straight).then(y).otherwise(x)


def capitalised(text: pl.Expr) -> pl.Expr:
    """Return the expression with its first letter upper case."""
    return text.str.slice(0, 1).str.to_uppercase() + text.str.slice(1)


def lowered(pronoun: pl.Expr) -> pl.Expr:
    """Return the pronoun as it is written inside a sentence."""
    return pl.when(pronoun == "I").then(pronoun).otherwise(pronoun.str.to_lowercase())
