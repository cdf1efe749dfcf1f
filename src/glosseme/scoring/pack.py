"""Sequences to rows: what is forwarded side by side, and how much of it is shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from glosseme.scoring.reads import NO_TOKEN, Ids, Ints, Ragged, Reads

__all__ = ["Packed", "bundles", "common", "packed_rows"]

AT_ONCE = 1 << 18
"""Pairs of branches compared at a time."""


@dataclass(frozen=True, slots=True)
class Packed:
    """All sequences in the order of their rows."""

    order: Ints
    """Shape (sequences,)."""
    starts: Ints
    """Where each row starts in `order`, shape (rows + 1,)."""
    shared: Ints
    """How many tokens each has in common with the one before it in its row, shape (sequences,)."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    def row(self, index: int) -> list[int]:
        """Return the sequences of one row."""
        return self.order[self.starts[index] : self.starts[index + 1]].tolist()  # type: ignore[no-any-return]

    def rows(self) -> list[list[int]]:
        """Return the sequences of each row."""
        return [self.row(index) for index in range(len(self))]


def bundles(reads: Reads) -> Packed:
    """Return a row for each sequence, or for those that must be forwarded together because they are compared."""
    n = len(reads.lengths)
    pairs = reads.other_sequence != NO_TOKEN
    if not pairs.any():
        return Packed(np.arange(n), np.arange(n + 1), np.zeros(n, np.int64))
    graph = coo_array((np.ones(int(pairs.sum())), (reads.sequence[pairs], reads.other_sequence[pairs])), shape=(n, n))
    _, label = connected_components(graph, directed=False)
    order = np.argsort(label, kind="stable")
    starts = np.concatenate([[0], np.flatnonzero(np.diff(label[order])) + 1, [n]])
    return Packed(order, starts.astype(np.int64), np.zeros(n, np.int64))


def packed_rows(reads: Reads, cap: int) -> Packed:
    """Return sequences packed into rows of at most `cap` trie nodes (one longer sequence is a row of its own).

    Sequences are sorted, so that shared prefixes are neighbours; a full row is cut where the least is shared.
    """
    order = np.lexsort((_ranks(reads.branches)[reads.branch], _ranks(reads.stems)[reads.stem]))
    shared = _shared_with_previous(reads, order)
    starts = _cuts(reads.lengths[order].tolist(), shared.tolist(), cap)
    shared[starts[:-1]] = 0
    return Packed(order, np.asarray(starts, np.int64), shared)


def _ranks(lists: Ragged) -> Ints:
    """Return the place of each list in the order of their tokens, shape (lists,)."""
    # Big-endian bytes compare as the numbers do.
    keys = [lists[i].astype(">i4").tobytes() for i in range(len(lists))]
    ranks = np.empty(len(keys), np.int64)
    ranks[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    return ranks


def _shared_with_previous(reads: Reads, order: Ints) -> Ints:
    """Return how many tokens each sequence has in common with the one before it, shape (sequences,)."""
    shared = np.zeros(len(order), np.int64)
    if not len(order):
        return shared
    stem = reads.stem[order]
    same = np.flatnonzero(stem[1:] == stem[:-1]) + 1
    branch = reads.branch[order]
    shared[same] = reads.stems.lengths[stem[same]] + _common_of_branches(reads, branch[same - 1], branch[same])
    sequences = order.tolist()
    for i in (np.flatnonzero(stem[1:] != stem[:-1]) + 1).tolist():
        shared[i] = common(reads.sequence_ids(sequences[i - 1]), reads.sequence_ids(sequences[i]))
    return shared


def common(a: Ids, b: Ids) -> int:
    """Return how many tokens two sequences begin with alike.

    >>> common(np.int32([1, 2, 3]), np.int32([1, 2, 4, 5]))
    2
    """
    n = min(len(a), len(b))
    differ = np.flatnonzero(a[:n] != b[:n])
    return int(differ[0]) if differ.size else n


def _common_of_branches(reads: Reads, a: Ints, b: Ints) -> Ints:
    lengths = reads.branches.lengths
    width = int(lengths.max(initial=0))
    square = np.full((len(lengths), width + 1), -1, np.int32)
    columns = np.arange(width + 1)
    square[columns < lengths[:, None]] = reads.branches.ids
    result = np.empty(len(a), np.int64)
    for start in range(0, len(a), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        equal = square[a[part]] == square[b[part]]
        equal[:, -1] = False
        result[part] = equal.argmin(axis=1)
    return np.minimum(result, np.minimum(lengths[a], lengths[b]))


def _cuts(lengths: Sequence[int], shared: Sequence[int], cap: int) -> list[int]:
    """Return where rows start, and the end."""
    starts = [0]
    nodes = 0
    for i, length in enumerate(lengths):
        nodes += length - (shared[i] if i > starts[-1] else 0)
        while nodes > cap and i > starts[-1]:
            cut = _best_cut(shared, starts[-1], i)
            starts.append(cut)
            nodes = lengths[cut] + sum(lengths[j] - shared[j] for j in range(cut + 1, i + 1))
    return [*starts, len(lengths)] if lengths else [0]


def _best_cut(shared: Sequence[int], start: int, end: int) -> int:
    """Return the place in (start, end] where a cut repeats the fewest tokens; the last one of equals."""
    candidates = range(start + 1 + (end - start) // 2, end + 1)
    return min(reversed(candidates), key=lambda i: shared[i])
