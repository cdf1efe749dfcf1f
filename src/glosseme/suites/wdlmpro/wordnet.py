"""From the name of a wordnet to its tables: the WordNet 3.0 of the package, a folder, or a lexicon of `wn`.

The package's WordNet 3.0 is made by `scripts/pack_wordnet.py` from the Debian package wordnet-base, which differs
from Princeton's release in one hypernym that matters here: there `inhibit.v.04` and `restrain.v.01` are hypernyms
of each other. No group of the suite differs, but their hyponyms have a depth.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

import polars as pl

from glosseme.errors import GlossemeError
from glosseme.suites.wdlmpro.lexicons import PREFIX, read_lexicon
from glosseme.suites.wdlmpro.tables import SYNSET_COLUMNS, Wordnet, pos_of, word_of
from glosseme.suites.wdlmpro.wndb import read_wndb

__all__ = ["WORDNET_30", "Wordnet", "load", "write_packed"]

WORDNET_30: Final = "wordnet-3.0"
"""The name of the wordnet that the package carries."""

_SYNSETS: Final = "synsets.parquet"
_HYPERNYMS: Final = "hypernyms.parquet"


def load(source: str = WORDNET_30) -> Wordnet:
    """Return the nouns and verbs of a wordnet.

    `source` is `wordnet-3.0`, the path of a WNDB folder (or of NLTK's copy, zipped or not), or `wn:` with the
    specifier of a lexicon that the `wn` library has. Raises `GlossemeError` where there is no such wordnet.

    >>> load().synsets.filter(pl.col("synset") == "warm_up.v.04").row(0, named=True)["word"]
    'warm up'
    """
    if source == WORDNET_30:
        return _packed()
    if source.startswith(PREFIX):
        return read_lexicon(source.removeprefix(PREFIX))
    path = Path(source).expanduser()
    if not path.exists():
        todo = f"name {WORDNET_30!r}, a folder of a WordNet, or '{PREFIX}' with a lexicon of the wn library"
        raise GlossemeError(f"there is no wordnet and no folder {source!r}", todo=todo)
    return read_wndb(path)


@cache
def _packed() -> Wordnet:
    with as_file(files("glosseme") / "data" / "wordnet") as folder:
        synsets = pl.read_parquet(folder / _SYNSETS)
        hypernyms = pl.read_parquet(folder / _HYPERNYMS)
    name = pl.col("synset")
    full = synsets.with_row_index("id").with_columns(pl.col("id").cast(pl.UInt32), pos=pos_of(name), word=word_of(name))
    return Wordnet(WORDNET_30, full.select(list(SYNSET_COLUMNS)), hypernyms)


def write_packed(wordnet: Wordnet, folder: Path) -> None:
    """Write a wordnet's tables into a folder as the package carries them; the same tables give the same bytes."""
    parts = {_SYNSETS: wordnet.synsets.select("synset", "definition"), _HYPERNYMS: wordnet.hypernyms}
    for name, table in parts.items():
        table.write_parquet(folder / name, compression="zstd", compression_level=19, statistics=False)
