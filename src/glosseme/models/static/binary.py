"""Vectors in binary files of word2vec and fastText, read by gensim; the latter make vectors of unknown words too."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from glosseme.errors import WORK_FAILED, GlossemeError
from glosseme.models.load import first_line
from glosseme.models.static.embed import Embedded, Floats, Ints
from glosseme.models.static.text import opened
from glosseme.models.static.words import TOKENS, embed_words
from glosseme.models.versions import installed

__all__ = ["BinaryVectors"]

_FASTTEXT: Final = (793712314).to_bytes(4, "little")
"""What a fastText model begins with."""


class BinaryVectors:
    """A binary file of word vectors."""

    packages = ("gensim", "nltk")
    tokens = TOKENS

    def __init__(self, path: Path) -> None:
        self._path = path
        self.files = {path.name: path}

    @cached_property
    def _is_fasttext(self) -> bool:
        with opened(self._path) as file:
            start = file.read(40)
        counts = start.partition(b"\n")[0].split()
        if start.startswith(_FASTTEXT):
            return True
        if len(counts) == 2 and all(count.isdigit() for count in counts):
            return False
        raise GlossemeError(
            "the file holds neither fastText nor word2vec vectors",
            where=str(self._path),
            todo="give vectors in one of their formats; pickled weights are not read",
        )

    def check(self) -> None:
        """Raise `GlossemeError` for a file of another format, and where gensim is not installed."""
        _ = self._is_fasttext
        if installed("gensim") is None:
            todo = "pip install 'glosseme[static]', or give the vectors as text (.vec)"
            raise GlossemeError("gensim is needed to read binary vectors", where=str(self._path), todo=todo)

    @cached_property
    def _keyed(self) -> Any:
        from gensim.models import KeyedVectors
        from gensim.models.fasttext import load_facebook_vectors

        read: Callable[[], Any] = (
            (lambda: load_facebook_vectors(str(self._path)))
            if self._is_fasttext
            else (lambda: KeyedVectors.load_word2vec_format(str(self._path), binary=True, unicode_errors="replace"))
        )
        try:
            with _quiet():
                keyed = read()
        except Exception as error:  # a broken file fails in many ways
            what = f"the file of vectors can't be read: {first_line(error)}"
            raise GlossemeError(what, where=str(self._path), exit_code=WORK_FAILED) from error
        if not np.isfinite(keyed.vectors).all():
            raise GlossemeError("the vectors have numbers that are not finite", where=str(self._path))
        return keyed

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the mean vectors of texts; raise `GlossemeError` for a file that is broken."""
        return embed_words(texts, self._find)

    def close(self) -> None:
        """Let go of the vectors."""
        self.__dict__.pop("_keyed", None)

    def _find(self, words: Sequence[str]) -> tuple[Floats, Ints]:
        index: dict[str, int] = self._keyed.key_to_index
        row_of = np.fromiter((index.get(w, index.get(w.lower(), -1)) for w in words), np.int64, len(words))
        known = np.flatnonzero(row_of >= 0)
        table = np.zeros((len(words), self._keyed.vector_size), np.float32)
        table[known] = self._keyed.vectors[row_of[known]]
        if self._is_fasttext and self._keyed.bucket:
            with _quiet():
                for number in np.flatnonzero(row_of < 0):
                    table[number] = self._keyed.get_vector(words[int(number)])
            # A word too short for n-grams is left without a vector.
            row_of[table.any(axis=1)] = 0
        return table, np.where(row_of >= 0, np.arange(len(words)), -1)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep gensim's warnings off the screen for a while."""
    log = logging.getLogger("gensim")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(level)
