"""Reads to batches: which sequences are forwarded together, each distinct one once.

Three ways of laying sequences out: `trie` packs sequences that share prefixes into one row, every shared token once;
`padded` and `equal` lay one sequence a row, of any lengths or of one length. Batches are bounded by a budget of
tokens and of vocabulary rows, the longest first, and depend on nothing but the reads and the limits, so that a
resumed run forwards exactly the batches that are left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from glosseme.scoring.batch import Rows
from glosseme.scoring.pack import Packed, bundles, packed_rows
from glosseme.scoring.reads import NO_TOKEN, Ints, Reads

__all__ = ["Layout", "Limits", "Planned", "halves", "plan"]

Layout = Literal["trie", "padded", "equal"]

_PORTION: Final = 1 << 16
"""Rows taken out of arrays at a time."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one forward pass may hold."""

    tokens: int = 1024
    """Tokens, padding included."""
    logits: int = 2**27
    """Numbers that the vocabulary head puts out: positions read times the size of the vocabulary."""
    sequences: int | None = None
    """Rows; no limit when None."""
    row_tokens: int = 96
    """Nodes of a packed row; the self-check vouches for rows up to this length."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A batch before it is laid out."""

    packed: Packed
    group: npt.NDArray[np.int32]
    """Which rows of all it has, shape (rows,)."""
    n_tokens: int
    """Tokens that it forwards, padding apart."""

    @property
    def rows(self) -> Rows:
        """The sequences of each of its rows, made when they are needed: all batches' at once are many small lists."""
        return [self.packed.row(index) for index in self.group.tolist()]


def plan(reads: Reads, layout: Layout, limits: Limits, vocabulary: int) -> list[Planned]:
    """Return the batches of a layout, the longest first, for a model with a vocabulary of this size."""
    packed = packed_rows(reads, limits.row_tokens) if layout == "trie" else bundles(reads)
    if not len(packed):
        return []
    tokens = _per_row(packed, reads.lengths[packed.order] - packed.shared)
    if layout == "trie":
        size, width = tokens, np.ones(len(packed), np.int64)
    else:
        size, width = reads.lengths[packed.order[packed.starts[:-1]]], np.diff(packed.starts)
    heads = _per_row(packed, _places(reads, packed)[packed.order])
    groups = _groups(size, width, heads, limits, max(8, limits.logits // vocabulary), one_length=layout == "equal")
    return [Planned(packed, group, int(tokens[group].sum())) for group in groups]


def _per_row(packed: Packed, counts: Ints) -> Ints:
    """Return the sums of what stands in the order of the rows, shape (rows,)."""
    return np.add.reduceat(counts, packed.starts[:-1])


def _places(reads: Reads, packed: Packed) -> Ints:
    """Return at how many places each sequence is read, those apart that it shares with the one before it in its row.

    Sequences that share a place are taken to read it both; the bound on vocabulary rows need not be exact.
    """
    sequence, position = reads.sequence, reads.position
    paired = reads.other_sequence != NO_TOKEN
    if paired.any():
        sequence = np.concatenate([sequence, reads.other_sequence[paired]])
        position = np.concatenate([position, reads.other_position[paired]])
    longest = int(reads.lengths.max(initial=0)) + 1
    place = np.sort(sequence * longest + position)
    place = place[np.diff(place, prepend=-1) != 0]  # np.unique of newer numpy hashes, ten times slower for as many
    shared = np.empty(len(reads.lengths), np.int64)
    shared[packed.order] = packed.shared
    sequence, position = np.divmod(place, longest)
    return np.bincount(sequence[position >= shared[sequence]], minlength=len(reads.lengths))


def _groups(
    size: Ints, width: Ints, heads: Ints, limits: Limits, most_heads: int, *, one_length: bool
) -> list[npt.NDArray[np.int32]]:
    """Return which rows make a batch; `size` is the length of each, `width` how many rows of the batch it takes."""
    order = np.lexsort((np.arange(len(size)), -size)).astype(np.int32)
    cuts = [0]
    n_rows = n_heads = longest = 0
    for place, (length, wide, heads_here) in enumerate(_in_order(order, size, width, heads)):
        n_rows, n_heads = n_rows + wide, n_heads + heads_here
        begins = place == cuts[-1]
        longest = length if begins else longest
        full = longest * n_rows > limits.tokens or n_heads > most_heads
        full |= limits.sequences is not None and n_rows > limits.sequences
        if not begins and (full or (one_length and length != longest)):
            cuts.append(place)
            n_rows, n_heads, longest = wide, heads_here, length
    return np.split(order, cuts[1:])


def _in_order(order: npt.NDArray[np.int32], *columns: Ints) -> Iterator[tuple[int, ...]]:
    """Yield what columns have at each row of `order`, a portion at a time."""
    for start in range(0, len(order), _PORTION):
        part = order[start : start + _PORTION]
        yield from zip(*(column[part].tolist() for column in columns), strict=True)


def halves(rows: Rows, layout: Layout) -> list[Rows]:
    """Return a batch as two, or as it is when it can't be taken apart."""
    if len(rows) == 1 and layout == "trie":
        rows = [[sequence] for sequence in rows[0]]
    middle = len(rows) // 2
    return [rows[:middle], rows[middle:]] if middle else [rows]
