"""Whether models draw the inference that a paired-focus construction licenses.

Scivetti et al. (CoNLL 2026), Equation 1. A construction says that its second focus is the harder one. The
follow-up that it entails is:

| cell | order | mention | entailed |
|---|---|---|---|
| `plausible-1` | xy | xy | easier |
| `plausible-2` | xy | yx | harder |
| `implausible-1` | yx | xy | harder |
| `implausible-2` | yx | yx | easier |
"""

from __future__ import annotations

from typing import Final

import polars as pl

from glosseme.measures import SLOT, Kind
from glosseme.suites.paired_focus.frames import WORDS, first_sentence, follow_up
from glosseme.suites.paired_focus.sources import source
from glosseme.suites.suite import Items, Options, Suite

__all__ = ["CELLS", "CONTROL", "FACTORS", "SEMANTICS", "SEMANTICS_PLL", "cells_of", "plan"]

CONTROL: Final = "or"
"""The connective without a scale, with which a construction is compared."""

CELLS: Final = (
    ("plausible-1", "xy", "xy", "easier"),
    ("implausible-1", "yx", "xy", "harder"),
    ("plausible-2", "xy", "yx", "harder"),
    ("implausible-2", "yx", "yx", "easier"),
)
"""Cell, order, mention, entailed word; plausible and implausible in turn, as the first items should be."""

FACTORS: Final = (
    *("construction", "plausibility", "cell", "order", "mention", "entailed"),
    *("scale", "verb", "noun", "template", "frame"),
)


def plan(constructions: tuple[str, ...]) -> pl.DataFrame:
    """Return the requests of one frame without its words: cells x constructions x roles.

    Items stand in the order of a Latin square: each cell and construction has its share of the first n items.

    >>> plan(("let alone", "much less")).height
    32
    """
    n = len(constructions)
    rows = []
    for turn in range(n):
        for place, (cell, order, mention, entailed) in enumerate(CELLS):
            construction = constructions[(place + turn) % n]
            contradicting = WORDS[1 - WORDS.index(entailed)]
            for group, connective in (("treated", construction), ("control", CONTROL)):
                for expectation, word in (("expected", entailed), ("unexpected", contradicting)):
                    role = f"{group}-{expectation}"
                    plausibility = cell.rpartition("-")[0]
                    rows.append((construction, plausibility, cell, order, mention, entailed, role, connective, word))
    return pl.DataFrame(rows, schema=[*FACTORS[:6], "role", "connective", "word"], orient="row")


def cells_of(frames: pl.DataFrame, constructions: tuple[str, ...]) -> pl.DataFrame:
    """Return the requests of frames without their texts: the columns of both, and item."""
    table = frames.join(plan(constructions), how="cross", maintain_order="left_right")
    return table.with_columns(item=pl.format("{}/{}/{}", "frame", "construction", "cell"))


def _table(data: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    found = source(data)
    table = cells_of(found.frames, found.constructions)
    return table.with_columns(sentence=first_sentence(pl.col("order"), pl.col("connective"))), found.notes


def _items(table: pl.DataFrame, notes: tuple[str, ...], measure: str, context: pl.Expr, text: pl.Expr) -> Items:
    requests = table.select(
        "item",
        "role",
        pl.lit(measure).alias("measure"),
        context.alias("context"),
        text.alias("text"),
        *FACTORS,
    )
    return Items(requests, notes)


def build_semantics(kind: Kind, data: str, options: Options) -> Items:
    """Return the items of `paired-focus/semantics`: follow-ups for causal models, words for masked ones."""
    table, notes = _table(data)
    sentence, mention, word = pl.col("sentence"), pl.col("mention"), pl.col("word")
    if kind == "causal":
        return _items(table, notes, "conditional", sentence, follow_up(mention, word))
    context = pl.format("{} {}", sentence, follow_up(mention, pl.lit(SLOT)))
    return _items(table, notes, "slot", context, word)


def build_semantics_pll(kind: Kind, data: str, options: Options) -> Items:
    """Return the items of `paired-focus/semantics-pll`: pseudo-log-likelihoods of whole follow-ups."""
    table, notes = _table(data)
    return _items(table, notes, "pll", pl.col("sentence"), follow_up(pl.col("mention"), pl.col("word")))


_SOURCE: Final = "Scivetti, Wilcox, Schneider, Misra and Weissweiler (CoNLL 2026)"

SEMANTICS: Final = Suite(
    name="paired-focus/semantics",
    title="Is the second focus of a paired-focus construction taken to be the harder one?",
    version="1",
    design="contrast",
    factors=FACTORS,
    cluster="template",
    unit="frame",
    balance=("scale",),
    by=("construction", "plausibility"),
    kinds=("causal", "masked"),
    build=build_semantics,
    sets=("core", "extended"),
    source=_SOURCE,
    reads_files=True,
    also=(("plausibility",), ()),
)

SEMANTICS_PLL: Final = Suite(
    name="paired-focus/semantics-pll",
    title="The semantics suite by the pseudo-log-likelihood of the whole follow-up (appendix 9)",
    version="1",
    design="contrast",
    factors=FACTORS,
    cluster="template",
    unit="frame",
    balance=("scale",),
    by=("construction", "plausibility"),
    kinds=("masked",),
    build=build_semantics_pll,
    sets=("core", "extended"),
    source=_SOURCE,
    reads_files=True,
    options={"pll": ("within_word_l2r", "original")},
    also=(("plausibility",), ()),
    in_group=False,
)
