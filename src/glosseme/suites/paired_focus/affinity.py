"""Whether models predict the fixed words of a paired-focus construction.

Global affinity of a word is its probability in its own place (Scivetti et al., CoNLL 2026, Equation 3). Local
affinity of two words is the Jensen-Shannon divergence, in the place of one of them, between the distribution
with that word masked and the one with both masked (Rozner et al. 2025). The factor `affinity` tells
the two apart. Masked models only.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Final

import polars as pl

from glosseme.measures import SLOT, Kind
from glosseme.suites.paired_focus.frames import first_sentence
from glosseme.suites.paired_focus.sources import source
from glosseme.suites.suite import Items, Options, Suite

__all__ = ["AFFINITY", "FACTORS", "READ"]

READ: Final = "*"
"""What marks, in the text of a divergence, the filler in whose place it is read."""

FACTORS: Final = (
    *("affinity", "construction", "word", "at", "partner"),
    *("scale", "verb", "noun", "template", "frame"),
)

_Row = tuple[str, str, str, int, str | None, str, str]


def _questions(construction: str) -> list[_Row]:
    """Return the questions of a construction: five factors, its words with slots, the fillers."""
    words = construction.split()
    rows: list[_Row] = []
    for at, word in enumerate(words, 1):
        rows.append(("global", construction, word, at, None, _masked(words, {at}), word))
        for other, partner in enumerate(words, 1):
            if other != at:
                pair = [word if place != at else READ + word for place, word in enumerate(words, 1)]
                fillers = SLOT.join(pair[place - 1] for place in sorted((at, other)))
                rows.append(("local", construction, word, at, partner, _masked(words, {at, other}), fillers))
    return rows


def _masked(words: list[str], places: set[int]) -> str:
    return " ".join(SLOT if place in places else word for place, word in enumerate(words, 1))


def _plan(constructions: tuple[str, ...]) -> pl.DataFrame:
    """Return the questions of one frame, the constructions in turn."""
    turns = zip_longest(*(_questions(name) for name in constructions))
    rows = [row for turn in turns for row in turn if row is not None]
    return pl.DataFrame(rows, schema=[*FACTORS[:5], "connective", "text"], orient="row")


def build_affinity(kind: Kind, data: str, options: Options) -> Items:
    """Return the items of `paired-focus/affinity`, in the plausible sentence of each frame."""
    found = source(data)
    table = found.frames.join(_plan(found.constructions), how="cross", maintain_order="left_right")
    is_global = pl.col("affinity") == "global"
    pair = pl.when(is_global).then(pl.col("word")).otherwise(pl.format("{}|{}", "word", "partner"))
    requests = table.select(
        pl.format("{}/{}/{}/{}", "frame", "construction", "affinity", pair).alias("item"),
        pl.lit("value").alias("role"),
        pl.when(is_global).then(pl.lit("slot")).otherwise(pl.lit("divergence")).alias("measure"),
        first_sentence(pl.lit("xy"), pl.col("connective")).alias("context"),
        "text",
        *FACTORS,
    )
    return Items(requests, found.notes)


AFFINITY: Final = Suite(
    name="paired-focus/affinity",
    title="How well are the fixed words of a construction predicted from the rest of the sentence?",
    version="1",
    design="value",
    factors=FACTORS,
    cluster="template",
    unit="frame",
    balance=("scale",),
    by=("affinity", "construction", "word"),
    kinds=("masked",),
    build=build_affinity,
    sets=("core", "extended"),
    source="Scivetti et al. (CoNLL 2026), after Rozner et al. (2025)",
    reads_files=True,
    also=(("affinity", "construction"), ("affinity",)),
    default_reduction="probability",
    apart=("affinity",),
)
