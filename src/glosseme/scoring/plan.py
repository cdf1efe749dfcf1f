"""Reads to batches: which sequences are forwarded together, each distinct one once.

Three ways of laying sequences out: `trie` packs sequences that share prefixes into one row, every shared token once;
`padded` and `equal` lay one sequence a row, of any lengths or of one length. Batches are bounded by a budget of
tokens and of vocabulary rows, the longest first, and depend on nothing but the reads and the limits, so that a
resumed run forwards exactly the batches that are left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from glosseme.scoring.reads import NO_TOKEN, Reads

__all__ = [
    "LAYOUTS",
    "Batch",
    "Layout",
    "Limits",
    "ReadsOf",
    "Rows",
    "build",
    "halves",
    "plan",
    "rows_of_trie",
    "tokens_of",
]

Layout = Literal["trie", "padded", "equal"]
LAYOUTS: tuple[Layout, ...] = ("trie", "padded", "equal")
Ints = npt.NDArray[np.int64]
Rows = list[list[int]]
"""The parts of a batch that can't be taken apart, as indices of sequences: what lies in one packed row, or what must be
forwarded together because it is compared."""


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
class Batch:
    """One forward pass: B rows of N tokens, read at R places, for n reads."""

    ids: Ints
    """Token ids, padded on the right with `pad`, shape (B, N)."""
    lengths: Ints
    """Tokens of each row without padding, shape (B,)."""
    depth: Ints
    """Position of each token in its sequence, shape (B, N)."""
    parent: Ints | None
    """Column of the token before each token, -1 for none; None when rows are plain sequences. Shape (B, N)."""
    places: Ints
    """Where logits are read, as row * N + column, ascending, shape (R,)."""
    read: Ints
    """Index of each read among all reads, shape (n,)."""
    place: Ints
    """Index into `places` of each read, shape (n,)."""
    token: Ints
    """Token of each read, shape (n,)."""
    other_place: Ints
    """Index into `places` of the distribution compared with, or `NO_TOKEN`, shape (n,)."""

    @property
    def n_tokens(self) -> int:
        """Tokens forwarded, without padding."""
        return int(self.lengths.sum())


def plan(reads: Reads, layout: Layout, limits: Limits, vocabulary: int) -> list[Rows]:
    """Return the batches of a layout, the longest first, for a model with a vocabulary of this size."""
    lengths = reads.lengths
    rows = rows_of_trie(reads, limits.row_tokens) if layout == "trie" else _bundles(reads)
    size = np.asarray([_row_length(reads, row) if layout == "trie" else lengths[row[0]] for row in rows])
    heads = _heads(reads, rows, layout)
    most_heads = max(8, limits.logits // vocabulary)
    width = np.asarray([1 if layout == "trie" else len(row) for row in rows])
    order = np.lexsort((np.arange(len(rows)), -size)).tolist()
    batches: list[Rows] = []
    current: list[int] = []
    for row in order:
        trial = [*current, row]
        if current and (
            _too_much(size[trial[0]], int(width[trial].sum()), limits)
            or int(heads[trial].sum()) > most_heads
            or (layout == "equal" and size[row] != size[current[0]])
        ):
            batches.append([rows[i] for i in current])
            trial = [row]
        current = trial
    return [*batches, [rows[i] for i in current]] if current else batches


def _too_much(longest: int, n_rows: int, limits: Limits) -> bool:
    return longest * n_rows > limits.tokens or (limits.sequences is not None and n_rows > limits.sequences)


def _heads(reads: Reads, rows: Rows, layout: Layout) -> Ints:
    """Return at how many places each row is read, shape (rows,); a place that sequences share counts once."""
    places = np.stack([reads.sequence, reads.position])
    paired = reads.other_sequence != NO_TOKEN
    if paired.any():
        places = np.hstack([places, np.stack([reads.other_sequence[paired], reads.other_position[paired]])])
    sequence, position = np.unique(places, axis=1)
    bounds = np.searchsorted(sequence, np.arange(len(reads.lengths) + 1))
    if layout != "trie":
        counts = np.diff(bounds)
        return np.asarray([int(counts[row].sum()) for row in rows])
    return np.asarray([_heads_of_row(reads, row, position, bounds) for row in rows])


def _heads_of_row(reads: Reads, row: Sequence[int], position: Ints, bounds: Ints) -> int:
    read = np.zeros(int(reads.lengths[row].max()), bool)
    total = 0
    for i, sequence in enumerate(row):
        if i:
            read[_shared(reads, row[i - 1], sequence) :] = False
        here = position[bounds[sequence] : bounds[sequence + 1]]
        total += int((~read[here]).sum())
        read[here] = True
    return total


def _bundles(reads: Reads) -> Rows:
    """Return the sequences that must be forwarded together because their distributions are compared."""
    n = len(reads.lengths)
    pairs = reads.other_sequence != NO_TOKEN
    if not pairs.any():
        return [[i] for i in range(n)]
    graph = coo_array((np.ones(int(pairs.sum())), (reads.sequence[pairs], reads.other_sequence[pairs])), shape=(n, n))
    _, label = connected_components(graph, directed=False)
    order = np.argsort(label, kind="stable")
    return [part.tolist() for part in np.split(order, np.flatnonzero(np.diff(label[order])) + 1)]


def rows_of_trie(reads: Reads, cap: int) -> Rows:
    """Return sequences packed into rows of at most `cap` trie nodes (one longer sequence is a row of its own).

    Sequences are sorted, so that shared prefixes are neighbours; a full row is cut where the least is shared.
    """
    keys = [reads.sequence_ids(i).astype(">i4").tobytes() for i in range(len(reads.lengths))]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    shared = [0, *(_shared(reads, a, b) for a, b in pairwise(order))]
    lengths = reads.lengths[order].tolist()
    rows: Rows = []
    start, nodes = 0, 0
    for i, length in enumerate(lengths):
        nodes += length - (shared[i] if i > start else 0)
        while nodes > cap and i > start:
            cut = _best_cut(shared, start, i)
            rows.append(order[start:cut])
            start = cut
            nodes = lengths[start] + sum(lengths[j] - shared[j] for j in range(start + 1, i + 1))
    return [*rows, order[start:]] if order else rows


def _best_cut(shared: Sequence[int], start: int, end: int) -> int:
    """Return the place in (start, end] where a cut repeats the fewest tokens; the last one of equals."""
    candidates = range(start + 1 + (end - start) // 2, end + 1)
    return min(reversed(candidates), key=lambda i: shared[i])


def _shared(reads: Reads, a: int, b: int) -> int:
    x, y = reads.sequence_ids(a), reads.sequence_ids(b)
    n = min(len(x), len(y))
    differ = np.flatnonzero(x[:n] != y[:n])
    return int(differ[0]) if differ.size else n


def _row_length(reads: Reads, row: Sequence[int]) -> int:
    shared = sum(_shared(reads, a, b) for a, b in pairwise(row))
    return int(reads.lengths[row].sum()) - shared


def tokens_of(reads: Reads, rows: Rows, layout: Layout) -> int:
    """Return how many tokens a batch forwards, padding apart."""
    if layout == "trie":
        return sum(_row_length(reads, row) for row in rows)
    return int(sum(reads.lengths[row].sum() for row in rows))


def halves(rows: Rows, layout: Layout) -> list[Rows]:
    """Return a batch as two, or as it is when it can't be taken apart."""
    if len(rows) == 1 and layout == "trie":
        rows = [[sequence] for sequence in rows[0]]
    middle = len(rows) // 2
    return [rows[:middle], rows[middle:]] if middle else [rows]


class ReadsOf:
    """Finds the reads of a sequence without a pass over all of them."""

    def __init__(self, reads: Reads) -> None:
        self._order = np.argsort(reads.sequence, kind="stable")
        self._starts = np.searchsorted(reads.sequence[self._order], np.arange(len(reads.lengths) + 1))

    def __call__(self, sequences: Iterable[int]) -> Ints:
        """Return the indices of the reads of `sequences`, ascending within each."""
        parts = [self._order[self._starts[s] : self._starts[s + 1]] for s in sequences]
        return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, np.int64)


def build(reads: Reads, of: ReadsOf, rows: Rows, layout: Layout, pad: int = 0) -> Batch:
    """Return the batch that holds the sequences of `rows`: a packed row each, or else a row for each sequence."""
    if layout != "trie":
        rows = [[sequence] for row in rows for sequence in row]
    laid = [_lay_row(reads, row) for row in rows]
    width = max(len(tokens) for tokens, _, _, _ in laid)
    ids, depth = np.full((len(rows), width), pad, np.int64), np.zeros((len(rows), width), np.int64)
    parent = np.full((len(rows), width), -1, np.int64)
    column: dict[int, tuple[int, Ints]] = {}
    for r, (tokens, depths, parents, paths) in enumerate(laid):
        ids[r, : len(tokens)], depth[r, : len(tokens)], parent[r, : len(tokens)] = tokens, depths, parents
        column.update({s: (r, path) for s, path in zip(rows[r], paths, strict=True)})
    read = of(s for row in rows for s in row)

    def flat(sequences: Ints, positions: Ints) -> Ints:
        at = [column[s] for s in sequences.tolist()]
        return np.asarray([r * width + path[p] for (r, path), p in zip(at, positions.tolist(), strict=True)], np.int64)

    here = flat(reads.sequence[read], reads.position[read])
    pairs = np.flatnonzero(reads.other_sequence[read] != NO_TOKEN)
    there = flat(reads.other_sequence[read[pairs]], reads.other_position[read[pairs]])
    places = np.unique(np.concatenate([here, there]))
    other_place = np.full(len(read), NO_TOKEN, np.int64)
    other_place[pairs] = np.searchsorted(places, there)
    return Batch(
        ids=ids,
        lengths=np.asarray([len(tokens) for tokens, _, _, _ in laid], np.int64),
        depth=depth,
        parent=parent if layout == "trie" else None,
        places=places,
        read=read,
        place=np.searchsorted(places, here),
        token=reads.token[read],
        other_place=other_place,
    )


def _lay_row(reads: Reads, row: Sequence[int]) -> tuple[Ints, Ints, Ints, list[Ints]]:
    """Return a row's tokens, their depths and parents, and the columns of each of its sequences."""
    tokens: list[npt.NDArray[np.int32]] = []
    depths: list[Ints] = []
    parents: list[Ints] = []
    paths: list[Ints] = []
    used = 0
    for i, sequence in enumerate(row):
        ids = reads.sequence_ids(sequence)
        shared = _shared(reads, row[i - 1], sequence) if i else 0
        new = np.arange(used, used + len(ids) - shared, dtype=np.int64)
        path = np.concatenate([paths[-1][:shared], new]) if i else new
        tokens.append(ids[shared:])
        depths.append(np.arange(shared, len(ids), dtype=np.int64))
        parents.append(np.concatenate([[-1], path])[shared : len(ids)].astype(np.int64))
        paths.append(path)
        used += len(new)
    return np.concatenate(tokens).astype(np.int64), np.concatenate(depths), np.concatenate(parents), paths
