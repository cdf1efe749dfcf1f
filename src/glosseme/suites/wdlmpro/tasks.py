"""W2D and D2W: a word's definition among those of its sisters, a definition's word among theirs.

Both tasks read one matrix, the pairs of a definition d and a word w: W2D of target t reads (d = candidate, w = t),
D2W reads (d = t, w = candidate). A request is a pair; the rows of the tasks are made of the scores.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import polars as pl

from glosseme.measures import Kind
from glosseme.suites.suite import Drawing, Items, Options, Suite
from glosseme.suites.wdlmpro.choose import choose, groups_of
from glosseme.suites.wdlmpro.depth import depths
from glosseme.suites.wdlmpro.expand import FACTORS, expander
from glosseme.suites.wdlmpro.frequency import counts_used, frequencies
from glosseme.suites.wdlmpro.show import show_groups
from glosseme.suites.wdlmpro.source import sha256_of_wordnet
from glosseme.suites.wdlmpro.templates import AVERAGE, TEMPLATES, asked
from glosseme.suites.wdlmpro.wordnet import WORDNET_30, Wordnet

__all__ = ["CUT", "WDLMPRO"]

CUT: Final = 48
"""Tokens after which a definition is cut."""

_TASKS: Final = ("W2D", "D2W")


def draw(kind: Kind, data: str, options: Options, drawing: Drawing) -> Items:
    """Return the pairs that a sample of groups reads, and how the rows of the tasks come of their scores.

    A limit counts groups: half of them of nouns and half of verbs, as far as there are so many. Raises
    `GlossemeError` for a wordnet, a file of targets or of counts that can't be read.
    """
    wordnet, found = groups_of(data)
    chosen = choose(wordnet, found, options.get("pos", "both"), drawing)
    members = found.members.join(chosen.select("target"), on="target", how="semi")
    synsets = _cut(wordnet.synsets, members, drawing)
    pairs = _pairs(members)
    texts = pairs.join(
        synsets.select(pl.col("id").alias("definition_id"), "pos", "definition", pl.col("synset").alias("item")),
        on="definition_id",
        how="left",
        maintain_order="left",
    ).join(
        synsets.select(pl.col("id").alias("word_id"), "word"),
        on="word_id",
        how="left",
        maintain_order="left",
    )
    # Without a template nothing gets a capital.
    authors = options.get("case", "ours") == "authors" and kind != "static"
    parts = [
        texts.filter(pl.col("pos") == pos).select(
            "item",
            pl.lit("value").alias("role"),
            *asked(kind, template, authors_case=authors, capital_template=authors and task == "D2W" and pos == "verb"),
            pl.lit(template).alias("template"),
            pl.lit(task).alias("task"),
            "definition_id",
            "word_id",
        )
        for task in (_TASKS if authors else ("both",))
        for pos in ("noun", "verb")
        for template in TEMPLATES[kind, pos]
    ]
    counts = drawing.files.get("counts")
    facts = _facts(wordnet, chosen, counts)
    used = f"frequency bands by {counts_used(counts, language=wordnet.language)}"
    return Items(pl.concat(parts), (used,), expander(kind, members, facts, synsets))


def _pairs(members: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs that either task reads, each once, those of a definition together."""
    both = [
        members.select(pl.col("candidate").alias("definition_id"), pl.col("target").alias("word_id")),
        members.select(pl.col("target").alias("definition_id"), pl.col("candidate").alias("word_id")),
    ]
    return pl.concat(both).unique().sort("definition_id", "word_id")


def _cut(synsets: pl.DataFrame, members: pl.DataFrame, drawing: Drawing) -> pl.DataFrame:
    """Return the synsets that are members, their definitions cut after `CUT` tokens of the model's tokenizer."""
    used = synsets.join(members.select(pl.col("candidate").alias("id")).unique(), on="id", how="semi")
    texts = used["definition"].to_list()
    # A token has a character at least, or is the space that some tokenizers put in front: short texts need no look.
    long = [i for i, text in enumerate(texts) if len(text) >= CUT or not text.isascii()]
    for i, text in zip(long, drawing.cut([texts[i] for i in long], CUT), strict=True):
        texts[i] = text
    return used.with_columns(definition=pl.Series(texts, dtype=pl.String))


def _facts(wordnet: Wordnet, chosen: pl.DataFrame, counts: Path | None) -> pl.DataFrame:
    """Return what is known of each target: target, item, pos, word, band, depth, size."""
    synsets = wordnet.synsets.select(pl.col("id").alias("target"), pl.col("synset").alias("item"), "word")
    known = chosen.join(synsets, on="target", how="left", maintain_order="left")
    depth = depths(wordnet).rename({"id": "target"})
    bands = frequencies(known["word"], counts, language=wordnet.language).select("word", "band")
    return known.join(depth, on="target", how="left", maintain_order="left").join(
        bands, on="word", how="left", maintain_order="left"
    )


def build(kind: Kind, data: str, options: Options) -> Items:
    """Return the pairs of all groups."""
    return draw(kind, data, options, Drawing())


WDLMPRO: Final = Suite(
    name="wdlmpro",
    title="Which definition belongs to a word (W2D), and which word to a definition (D2W), among its sisters?",
    version="1",
    design="rank",
    factors=FACTORS,
    cluster="item",
    unit="item",
    balance=("pos",),
    by=("task", "pos"),
    kinds=("causal", "masked", "static"),
    build=build,
    draw=draw,
    show=show_groups,
    sets=(WORDNET_30,),
    source="Senel and Schütze (EACL 2021)",
    options={"pos": ("both", "noun", "verb"), "case": ("ours", "authors")},
    files=("targets", "counts"),
    data_sha256=sha256_of_wordnet,
    within=("task", "template"),
    where={"template": AVERAGE},
)
