"""One forward pass, laid out: tokens, positions, and the places that are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glosseme.scoring.pack import common
from glosseme.scoring.reads import NO_TOKEN, Ints, Reads

__all__ = ["Batch", "ReadsOf", "Rows", "build"]

Rows = list[list[int]]
"""The parts of a batch that can't be taken apart, as indices of sequences: what lies in one packed row, or what must be
forwarded together because it is compared."""


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


class ReadsOf:
    """Finds the reads of a sequence without a pass over all of them."""

    def __init__(self, reads: Reads) -> None:
        self._order = np.argsort(reads.sequence, kind="stable")
        self._starts = np.searchsorted(reads.sequence[self._order], np.arange(len(reads.lengths) + 1))

    def __call__(self, sequences: Iterable[int]) -> Ints:
        """Return the indices of the reads of `sequences`, ascending within each."""
        parts = [self._order[self._starts[s] : self._starts[s + 1]] for s in sequences]
        return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class _Laid:
    """Rows of tokens, and where each position of each sequence stands."""

    ids: Ints
    lengths: Ints
    depth: Ints
    parent: Ints | None
    at: Callable[[Ints, Ints], Ints]
    """From sequences and positions, each of shape (n,), to row * N + column."""


def build(reads: Reads, of: ReadsOf, rows: Rows, *, packed: bool, pad: int = 0) -> Batch:
    """Return the batch that holds the sequences of `rows`: a packed row each, or else a row for each sequence."""
    laid = _packed(reads, rows, pad) if packed else _side_by_side(reads, rows, pad)
    read = of(s for row in rows for s in row)
    here = laid.at(reads.sequence[read], reads.position[read])
    pairs = np.flatnonzero(reads.other_sequence[read] != NO_TOKEN)
    there = laid.at(reads.other_sequence[read[pairs]], reads.other_position[read[pairs]])
    places = np.unique(np.concatenate([here, there]))
    other_place = np.full(len(read), NO_TOKEN, np.int64)
    other_place[pairs] = np.searchsorted(places, there)
    return Batch(
        ids=laid.ids,
        lengths=laid.lengths,
        depth=laid.depth,
        parent=laid.parent,
        places=places,
        read=read,
        place=np.searchsorted(places, here),
        token=reads.token[read],
        other_place=other_place,
    )


def _side_by_side(reads: Reads, rows: Rows, pad: int) -> _Laid:
    """Return a row for each sequence, padded on the right."""
    sequences = np.asarray([sequence for row in rows for sequence in row], np.int64)
    lengths = reads.lengths[sequences]
    width = int(lengths.max(initial=0))
    ids = reads.padded(sequences, width, pad)
    order = np.argsort(sequences, kind="stable")

    def at(wanted: Ints, positions: Ints) -> Ints:
        return order[np.searchsorted(sequences[order], wanted)] * width + positions

    depth = np.where(np.arange(width) < lengths[:, None], np.arange(width), 0)
    return _Laid(ids, lengths, depth, None, at)


def _packed(reads: Reads, rows: Rows, pad: int) -> _Laid:
    """Return a row for each list of sequences, what they share standing once."""
    laid = [_lay_row(reads, row) for row in rows]
    width = max(len(tokens) for tokens, _, _, _ in laid)
    ids, depth = np.full((len(rows), width), pad, np.int64), np.zeros((len(rows), width), np.int64)
    parent = np.full((len(rows), width), -1, np.int64)
    column: dict[int, tuple[int, Ints]] = {}
    for r, (tokens, depths, parents, paths) in enumerate(laid):
        ids[r, : len(tokens)], depth[r, : len(tokens)], parent[r, : len(tokens)] = tokens, depths, parents
        column.update({s: (r, path) for s, path in zip(rows[r], paths, strict=True)})

    def at(wanted: Ints, positions: Ints) -> Ints:
        found = [column[s] for s in wanted.tolist()]
        places = [r * width + path[p] for (r, path), p in zip(found, positions.tolist(), strict=True)]
        return np.asarray(places, np.int64)

    return _Laid(ids, np.asarray([len(tokens) for tokens, _, _, _ in laid], np.int64), depth, parent, at)


def _lay_row(reads: Reads, row: Sequence[int]) -> tuple[Ints, Ints, Ints, list[Ints]]:
    """Return a row's tokens, their depths and parents, and the columns of each of its sequences."""
    tokens: list[npt.NDArray[np.int32]] = []
    depths: list[Ints] = []
    parents: list[Ints] = []
    paths: list[Ints] = []
    used = 0
    for i, sequence in enumerate(row):
        ids = reads.sequence_ids(sequence)
        shared = common(reads.sequence_ids(row[i - 1]), ids) if i else 0
        new = np.arange(used, used + len(ids) - shared, dtype=np.int64)
        path = np.concatenate([paths[-1][:shared], new]) if i else new
        tokens.append(ids[shared:])
        depths.append(np.arange(shared, len(ids), dtype=np.int64))
        parents.append(np.concatenate([[-1], path])[shared : len(ids)].astype(np.int64))
        paths.append(path)
        used += len(new)
    return np.concatenate(tokens).astype(np.int64), np.concatenate(depths), np.concatenate(parents), paths
