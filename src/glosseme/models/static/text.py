"""Vectors in text: a word and its numbers on each line; fastText and word2vec put both counts on a line before."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from glosseme.errors import GlossemeError
from glosseme.models.static.embed import Embedded, Floats, Ints
from glosseme.models.static.words import TOKENS, embed_words

__all__ = ["TextVectors", "opened"]

_TODO = "each line is a word and the numbers of its vector, parted by spaces"


@dataclass(frozen=True, slots=True)
class _Head:
    """What the first line says."""

    n_words: int | None
    """How many words follow; None where the first line is a word already."""
    dimensions: int


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file, unpacking it where its name ends in `.gz`; errors of reading are `GlossemeError`s."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            yield cast("BinaryIO", file)
    except (OSError, EOFError, zlib.error) as error:
        raise GlossemeError(f"the file of vectors can't be read ({error})", where=str(path)) from None


class TextVectors:
    """A text file of word vectors, of which only the vectors of words that occur are kept in memory."""

    packages = ("nltk",)
    tokens = TOKENS

    def __init__(self, path: Path) -> None:
        self._path = path
        self.files = {path.name: path}

    @cached_property
    def _head(self) -> _Head:
        with opened(self._path) as file:
            fields = file.readline().split()
        if len(fields) == 2 and all(field.isdigit() for field in fields):
            head = _Head(int(fields[0]), int(fields[1]))
        else:
            head = _Head(None, len(fields) - 1)
            _numbers(fields[1:], self._at(1))
        if head.dimensions < 1:
            raise GlossemeError("this is no line of vectors", where=self._at(1), todo=_TODO)
        return head

    def check(self) -> None:
        """Raise `GlossemeError` where the first line is none of a file of vectors."""
        _ = self._head

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the mean vectors of texts; raise `GlossemeError` with the line where the file is broken."""
        return embed_words(texts, self._find)

    def close(self) -> None:
        """Nothing is kept."""

    def _at(self, number: int) -> str:
        return f"{self._path}:{number}"

    def _find(self, words: Sequence[str]) -> tuple[Floats, Ints]:
        own, lower = [w.encode() for w in words], [w.lower().encode() for w in words]
        table, rows = self._read({*own, *lower})
        found = (rows.get(w, rows.get(low, -1)) for w, low in zip(own, lower, strict=True))
        return table, np.fromiter(found, np.int64, len(words))

    def _read(self, wanted: Set[bytes]) -> tuple[Floats, dict[bytes, int]]:
        """Return the vectors of the words that are wanted, as far as the file has them, and the row of each."""
        head, rows, vectors, n_words = self._head, dict[bytes, int](), list[Floats](), 0
        with opened(self._path) as file:
            for number, raw in enumerate(file, 1):
                line = raw.rstrip(b" \t\r\n")
                if not line or (number == 1 and head.n_words is not None):
                    continue
                n_words += 1
                word, values = self._parted(line, number)
                if word in wanted and word not in rows:
                    rows[word] = len(vectors)
                    vectors.append(_numbers(values.split(), self._at(number)))
        if head.n_words not in (None, n_words):
            what = f"the first line says that {head.n_words} words follow, and there are {n_words}"
            raise GlossemeError(what, where=self._at(1), todo="get the file again, or correct that line")
        return np.stack(vectors) if vectors else np.zeros((0, head.dimensions), np.float32), rows

    def _parted(self, line: bytes, number: int) -> tuple[bytes, bytes]:
        """Return the word of a line and its numbers."""
        dimensions = self._head.dimensions
        if line.count(b" ") == dimensions and b"\t" not in line:
            word, _, values = line.partition(b" ")
            return word, values
        # GloVe has words with spaces in them (`. . .`); a number there means that there are too many of them.
        fields = line.split()
        word_fields, values_fields = fields[:-dimensions], fields[-dimensions:]
        if not word_fields or any(_is_number(field) for field in word_fields[1:]):
            what = f"the vector has {len(fields) - 1} numbers and should have {dimensions}"
            raise GlossemeError(what, where=self._at(number), todo=_TODO)
        return b" ".join(word_fields), b" ".join(values_fields)


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _numbers(fields: Sequence[bytes], where: str) -> Floats:
    try:
        with np.errstate(over="ignore"):
            vector = np.array(fields, dtype=np.bytes_).astype(np.float32)
    except ValueError:
        bad = next((field for field in fields if not _is_number(field)), b"")
        raise GlossemeError(f"{bad[:40].decode(errors='replace')!r} is no number", where=where, todo=_TODO) from None
    if not np.isfinite(vector).all():
        raise GlossemeError("the vector has a number that is not finite", where=where, todo="leave the word out")
    return vector
