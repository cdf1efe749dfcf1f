"""From the vectors of tokens to the mean vectors of texts, and their cosines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["NO_VECTOR", "Embedded", "Floats", "Ints", "Vectors", "mean_vectors"]

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.integer[Any]]

NO_VECTOR: Final = -1.0
"""The similarity of a text without a vector: the lowest that a cosine can be."""

_CHUNK: Final = 2**23
"""Numbers that are gathered at once on either side of a product."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """Texts as vectors."""

    unit: Floats
    """The mean vector of each text's known tokens over its length, shape (texts, dimensions); 0 where there is none."""
    n_known: npt.NDArray[np.int64]
    """How many tokens of each text have a vector, shape (texts,)."""
    has_vector: npt.NDArray[np.bool_]
    """Whether a text has a known token, and their mean a direction, shape (texts,)."""

    def cosines(self, one: Ints, other: Ints) -> npt.NDArray[np.float64]:
        """Return the cosine of the vectors of texts `one[i]` and `other[i]`, shape (pairs,), in [-1, 1].

        It is `NO_VECTOR` where either of the two has none.

        >>> texts = Embedded(np.eye(2, dtype=np.float32), np.array([1, 1]), np.array([True, True]))
        >>> texts.cosines(np.array([0, 0]), np.array([0, 1])).tolist()
        [1.0, 0.0]
        """
        values = np.empty(len(one), np.float64)
        step = max(1, _CHUNK // self.unit.shape[1])
        for at in range(0, len(one), step):
            part = slice(at, at + step)
            values[part] = np.einsum("ij,ij->i", self.unit[one[part]], self.unit[other[part]])
        np.clip(values, -1.0, 1.0, out=values)  # rounding takes a vector's cosine with itself above 1
        values[~(self.has_vector[one] & self.has_vector[other])] = NO_VECTOR
        return values


class Vectors(Protocol):
    """A vector for each token of a vocabulary, and how texts become tokens."""

    @property
    def files(self) -> Mapping[str, Path]:
        """The files that fix the vectors, by name."""

    @property
    def tokens(self) -> Mapping[str, str]:
        """Hashes that fix how texts become tokens, by name."""

    @property
    def packages(self) -> Sequence[str]:
        """The packages that read vectors and tokens."""

    def check(self) -> None:
        """Raise `GlossemeError` where the vectors can't be read, as far as a look shows it."""

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the mean vectors of texts; raise `GlossemeError` for a file that is broken."""

    def close(self) -> None:
        """Let go of what was read."""


def mean_vectors(table: Floats, rows: Ints, counts: Ints) -> Embedded:
    """Return the mean vectors of texts.

    `table` has a vector in each row, shape (rows, dimensions); `rows` has the row of each known token, those of a
    text together, and `counts` how many tokens each text has, shape (texts,).
    """
    from scipy.sparse import csr_matrix

    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])
    bags = csr_matrix((np.ones(len(rows), np.float32), rows, starts), shape=(len(counts), len(table)))
    bags.sum_duplicates()  # in the order of the rows: the same tokens in another order give the same sum to the bit
    # The mean has the direction of the sum.
    sums = np.asarray(bags @ table, np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums, dtype=np.float64))
    has_vector = lengths > 0
    np.divide(sums, lengths[:, None], out=sums, where=has_vector[:, None], casting="same_kind")
    return Embedded(sums, np.asarray(counts, np.int64), has_vector)
