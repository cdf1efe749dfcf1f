"""The reader of the WNDB format, in which Princeton WordNet and NLTK's copy of it come.

A line of `index.noun` has a lemma and the offsets of its synsets, first sense first; a line of `data.noun` has a
synset: its offset, its words, its pointers, and its gloss after a bar (wndb(5WN)). Names and definitions are those
that NLTK's `WordNetCorpusReader` makes of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from zipfile import BadZipFile, is_zipfile
from zipfile import Path as ZipPath

import polars as pl

from glosseme.errors import GlossemeError
from glosseme.suites.wdlmpro.tables import Wordnet, tables, word_of

__all__ = ["definition", "find_files", "read_wndb"]

FilePath = Path | ZipPath

_FILES: Final = ("index.noun", "data.noun", "index.verb", "data.verb")
_POS: Final = {"noun": "n", "verb": "v"}
_POINTERS: Final = {"@": False, "@i": True}
_EXAMPLE: Final = re.compile(r'"[^"]*"')
_TODO: Final = "name a folder with index.noun, data.noun, index.verb and data.verb, or NLTK's wordnet.zip"


@dataclass(slots=True)
class _Read:
    """What has been read: columns of `tables.tables`; keys are a part of speech with an offset (`n00001740`)."""

    keys: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    definitions: list[str] = field(default_factory=list)
    links: list[tuple[str, str, bool]] = field(default_factory=list)


def read_wndb(path: Path) -> Wordnet:
    """Return the nouns and verbs of a WNDB folder, or of a zip file with one.

    Raises `GlossemeError` for a folder without the files, and with file and line for one that isn't WNDB.
    """
    folder, read = find_files(path), _Read()
    for part in _POS:
        _read_data(folder / f"data.{part}", part, _offsets(folder / f"index.{part}", part), read)
    synsets = pl.DataFrame({"key": read.keys, "synset": read.names, "definition": read.definitions})
    links = pl.DataFrame(
        read.links, schema={"child": pl.String, "parent": pl.String, "instance": pl.Boolean}, orient="row"
    )
    return tables(str(path), synsets.with_columns(word=word_of(pl.col("synset"))), links)


def find_files(path: Path) -> FilePath:
    """Return the folder with the files of a WNDB: this one, or one directly inside (`dict`, NLTK's `wordnet`).

    Raises `GlossemeError` where there is none.
    """
    root: FilePath = path
    if path.is_file():
        try:
            root = ZipPath(path) if is_zipfile(path) else path
        except BadZipFile:
            root = path
    if not root.is_dir():
        what = "this is neither a folder nor a zip file" if path.exists() else "there is no such folder"
        raise GlossemeError(what, where=str(path), todo=_TODO)
    inside = sorted((child for child in root.iterdir() if child.is_dir()), key=lambda child: child.name)
    for folder in (root, *inside):
        if all((folder / name).is_file() for name in _FILES):
            return folder
    missing = [name for name in _FILES if not (root / name).is_file()]
    raise GlossemeError(f"the folder has no {' and no '.join(missing)}", where=str(path), todo=_TODO)


def definition(gloss: str) -> str:
    """Return a gloss without its examples, which stand in quotation marks, as NLTK does it.

    >>> definition('cause to get warm; "warm up the soup"; "heat it"')
    'cause to get warm'
    """
    return _EXAMPLE.sub("", gloss).strip().strip("; ")


def _lines(file: FilePath) -> Iterator[tuple[int, str]]:
    """Return the numbered lines of a file but those of the licence, which start with a space."""
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise GlossemeError("the file is not UTF-8", where=str(file), todo=_TODO) from error
    # Line feeds alone end a line: a gloss may hold other characters that `splitlines` would take for an end.
    return ((number, line) for number, line in enumerate(text.split("\n"), 1) if line and line[0] != " ")


def _offsets(file: FilePath, part: str) -> dict[str, list[str]]:
    """Return the offsets of the synsets of each lemma, first sense first."""
    offsets = {}
    for number, line in _lines(file):
        fields = line.split()
        if len(fields) < 3 or not fields[2].isdecimal() or not 0 < int(fields[2]) < len(fields) - 3:
            raise GlossemeError(f"this is no line of an index of {part}s", where=f"{file}:{number}", todo=_TODO)
        offsets[fields[0]] = fields[-int(fields[2]) :]
    return offsets


def _read_data(file: FilePath, part: str, offsets: dict[str, list[str]], read: _Read) -> None:
    pos = _POS[part]
    for number, line in _lines(file):
        head, _, gloss = line.partition("|")
        fields = head.split()
        try:
            key, first = fields[0], fields[4].lower()
            pointers = 4 + 2 * int(fields[3], 16)
            sense = offsets[first].index(key) + 1
            for at in range(pointers + 1, pointers + 1 + 4 * int(fields[pointers]), 4):
                if fields[at] in _POINTERS:
                    read.links.append((pos + key, fields[at + 2] + fields[at + 1], _POINTERS[fields[at]]))
        except (IndexError, KeyError, ValueError) as error:
            what = f"this is no line of data of {part}s, or its first word is not in index.{part}"
            raise GlossemeError(what, where=f"{file}:{number}", todo=_TODO) from error
        read.keys.append(pos + key)
        read.names.append(f"{first}.{pos}.{sense:02d}")
        read.definitions.append(definition(gloss))
