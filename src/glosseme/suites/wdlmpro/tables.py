"""A wordnet as two tables: the nouns and verbs, and which of them is a kind of which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

__all__ = ["HYPERNYM_COLUMNS", "SYNSET_COLUMNS", "Wordnet", "pos_of", "tables", "word_of"]

SYNSET_COLUMNS: Final[dict[str, pl.DataType]] = {
    "id": pl.UInt32(),
    "synset": pl.String(),
    "pos": pl.String(),
    "word": pl.String(),
    "definition": pl.String(),
}
HYPERNYM_COLUMNS: Final[dict[str, pl.DataType]] = {
    "child": pl.UInt32(),
    "parent": pl.UInt32(),
    "instance": pl.Boolean(),
}

_NUMBER: Final = r"\.[a-z]\.\d+$"


@dataclass(frozen=True, slots=True)
class Wordnet:
    """The nouns and verbs of a wordnet; a synset's id is its row."""

    source: str
    """Where it is from: what `load` was given."""
    synsets: pl.DataFrame
    """One row a synset, the columns of `SYNSET_COLUMNS`: nouns, then verbs, each in the order of their names.

    `pos` is `noun` or `verb`; `word` and `definition` are null where the wordnet gives none.
    """
    hypernyms: pl.DataFrame
    """One row a link from a synset to a direct hypernym, the columns of `HYPERNYM_COLUMNS`.

    `instance` marks what is an instance of its hypernym (Paris of a national capital) and not a kind of it.
    """
    language: str = "en"
    """A language code (BCP 47)."""


def word_of(synset: pl.Expr) -> pl.Expr:
    """Return the words of synsets: their names without part of speech and number, underscores as spaces.

    >>> names = pl.DataFrame({"synset": ["warm_up.v.04", "ph.d..n.01"]})
    >>> names.select(word_of(pl.col("synset"))).to_series().to_list()
    ['warm up', 'ph.d.']
    """
    return synset.str.replace(_NUMBER, "").str.replace_all("_", " ", literal=True)


def pos_of(synset: pl.Expr) -> pl.Expr:
    """Return the parts of speech of synsets, `noun` or `verb`, by their names.

    >>> pl.DataFrame({"synset": ["warm_up.v.04"]}).select(pos_of(pl.col("synset"))).item()
    'verb'
    """
    return pl.when(synset.str.contains(r"\.v\.\d+$")).then(pl.lit("verb")).otherwise(pl.lit("noun"))


def tables(source: str, synsets: pl.DataFrame, hypernyms: pl.DataFrame, language: str = "en") -> Wordnet:
    """Return a wordnet from tables of a reader, with ids in the order of part of speech and name.

    `synsets` has a row a synset: key (of any type), synset, word, definition. `hypernyms` has a row a link: child
    and parent (keys) and instance; repeated links count once, and links to other synsets than these are left out.
    """
    ordered = (
        synsets.with_columns(pos=pos_of(pl.col("synset")))
        .sort("pos", "synset")
        .with_row_index("id")
        .with_columns(pl.col("id").cast(pl.UInt32))
    )
    ids = ordered.select("key", "id")
    links = (
        hypernyms.join(ids.rename({"key": "child", "id": "child_id"}), on="child")
        .join(ids.rename({"key": "parent", "id": "parent_id"}), on="parent")
        .select(pl.col("child_id").alias("child"), pl.col("parent_id").alias("parent"), "instance")
        .unique()
        .sort("child", "parent", "instance")
    )
    return Wordnet(source, ordered.select(list(SYNSET_COLUMNS)), links, language)
