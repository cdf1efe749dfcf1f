"""Reads: unique token sequences, and the (position, token) pairs whose log-probability is wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = [
    *("NO_TOKEN", "Ids", "Ints", "Lowered", "Ragged", "Reads"),
    *("first_tokens", "firsts", "in_order", "joined", "ragged", "reads_of", "sums"),
]

Ids = npt.NDArray[np.int32]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

NO_TOKEN = -1
"""The token of a read that compares two distributions instead of naming a token."""


@dataclass(frozen=True, slots=True)
class Ragged:
    """Lists of token ids of different lengths, one after another."""

    ids: Ids
    starts: Ints
    """Where each list starts in `ids`, shape (lists + 1,)."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: int) -> Ids:
        return self.ids[self.starts[index] : self.starts[index + 1]]

    @property
    def lengths(self) -> Ints:
        """The length of each list, shape (lists,)."""
        return np.diff(self.starts)

    def take(self, index: Ints) -> Ragged:
        """Return some of the lists, in the order of `index`.

        >>> ragged([[3, 1], [], [2]]).take(np.array([2, 0])).ids.tolist()
        [2, 3, 1]
        """
        lengths = self.lengths[index]
        ends = np.cumsum(lengths)
        within = np.arange(int(lengths.sum())) - np.repeat(ends - lengths, lengths)
        ids = self.ids[np.repeat(self.starts[:-1][index], lengths) + within]
        return Ragged(ids, np.concatenate([[0], ends]).astype(np.int64))


def ragged(lists: Sequence[npt.ArrayLike]) -> Ragged:
    """Return lists of token ids one after another.

    >>> ragged([[3, 1], [], [2]]).starts.tolist()
    [0, 2, 2, 3]
    """
    parts = [np.asarray(part, np.int32) for part in lists]
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return Ragged(np.concatenate(parts) if parts else np.zeros(0, np.int32), starts)


@dataclass(frozen=True, slots=True)
class Reads:
    """What a model is to answer, with equal sequences once.

    A sequence is a stem followed by a branch (often empty): a suite that crosses contexts with continuations has far
    fewer of both than of sequences. Where `hidden` has lists, a sequence is a stem with the mask token at the positions
    of its list: a text has as many such copies as tokens. The distribution after (causal) or at (masked) `position` of
    `sequence` is asked for the log-probability of `token`. Where `token` is `NO_TOKEN`, it is compared with the one at
    `other_position` of `other_sequence`.
    """

    stems: Ragged
    branches: Ragged
    stem: Ints
    """The stem of each sequence, shape (sequences,)."""
    branch: Ints
    """The branch of each sequence, shape (sequences,)."""
    lengths: Ints
    """The length of each sequence, shape (sequences,)."""
    sequence: Ints
    """Shape (reads,)."""
    position: Ints
    """Where the distribution is read, shape (reads,)."""
    token: Ints
    """Shape (reads,)."""
    other_sequence: Ints
    """Shape (reads,); `NO_TOKEN` where the read names a token."""
    other_position: Ints
    """Shape (reads,)."""
    question: Ints
    """The question each read answers a part of, non-decreasing, shape (reads,)."""
    hidden: Ragged | None = None
    """The positions of each sequence that hold the mask token, or None where stems are forwarded as they are."""
    mask: int = NO_TOKEN
    """The id of the mask token, where anything is hidden."""

    def sequence_ids(self, index: int) -> Ids:
        """Return the token ids of one sequence, shape (length,)."""
        stem, branch = self.stems[int(self.stem[index])], self.branches[int(self.branch[index])]
        if self.hidden is not None and len(at := self.hidden[index]):
            stem = stem.copy()
            stem[at] = self.mask
        return np.concatenate([stem, branch]) if len(branch) else stem

    def padded(self, sequences: Ints, width: int, pad: int) -> Ints:
        """Return the token ids of some sequences, `pad` to their right, shape (sequences, width)."""
        stem, branch = self.stem[sequences], self.branch[sequences]
        rows, columns = np.arange(len(sequences))[:, None], np.arange(width)
        ids = np.full((len(sequences), width), pad, np.int64)
        for lists, of, first in ((self.stems, stem, 0), (self.branches, branch, self.stems.lengths[stem][:, None])):
            inside = (columns >= first) & (columns < first + lists.lengths[of][:, None])
            ids[inside] = lists.take(of).ids
        if self.hidden is not None:
            hidden = self.hidden.take(sequences)
            ids[np.repeat(rows[:, 0], hidden.lengths), hidden.ids] = self.mask
        return ids

    @property
    def highest(self) -> Ints:
        """The highest token id of each sequence, -1 for an empty one, shape (sequences,)."""
        highest = np.maximum(_highest(self.stems)[self.stem], _highest(self.branches)[self.branch])
        return highest if self.hidden is None else np.maximum(highest, self.mask)


def _highest(lists: Ragged) -> Ints:
    filled = np.flatnonzero(lists.lengths)
    highest = np.full(len(lists), -1, np.int64)
    if filled.size:
        highest[filled] = np.maximum.reduceat(lists.ids, lists.starts[filled])
    return highest


def reads_of(
    sequences: Sequence[npt.ArrayLike],
    sequence: npt.ArrayLike,
    position: npt.ArrayLike,
    token: npt.ArrayLike,
    question: npt.ArrayLike,
    other: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
) -> Reads:
    """Return reads of sequences that have no branches; `other` is (other_sequence, other_position)."""
    stems = ragged(sequences)
    n, named = len(stems), np.asarray(token, np.int64)
    other_sequence, other_position = other or (np.full(len(named), NO_TOKEN), np.full(len(named), NO_TOKEN))
    return Reads(
        stems=stems,
        branches=ragged([[]]),
        stem=np.arange(n),
        branch=np.zeros(n, np.int64),
        lengths=stems.lengths,
        sequence=np.asarray(sequence, np.int64),
        position=np.asarray(position, np.int64),
        token=named,
        other_sequence=np.asarray(other_sequence, np.int64),
        other_position=np.asarray(other_position, np.int64),
        question=np.asarray(question, np.int64),
    )


@dataclass(frozen=True, slots=True)
class Lowered:
    """The reads of a table of requests; equal requests are one question."""

    reads: Reads
    question_of_request: Ints
    """Shape (requests,)."""
    n_tokens: Ints
    """Reads of each question, shape (questions,)."""
    n_plain: Ints
    """Tokens a plain scorer would forward for each question, shape (questions,)."""
    spanning: Bools
    """Whether a token covers non-space characters of both sides of a boundary, shape (questions,)."""
    mismatch: Bools
    """Whether filling a slot changed the tokens around it, shape (questions,)."""

    def __len__(self) -> int:
        return len(self.n_tokens)


def sums(lowered: Lowered, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Return the sum over each question's reads in nats, shape (questions,), NaN for a question without reads."""
    total = np.zeros(len(lowered))
    np.add.at(total, lowered.reads.question, values.astype(np.float64))  # float64: no rounding of sums
    return np.where(lowered.n_tokens > 0, total, np.nan)


def firsts(lowered: Lowered, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Return the value of each question's first read in nats, shape (questions,), NaN for one without reads."""
    first = np.full(len(lowered), np.nan)
    questions, index = np.unique(lowered.reads.question, return_index=True)
    first[questions] = values[index]
    return first


def first_tokens(lowered: Lowered) -> Ints:
    """Return the token of each question's first read, shape (questions,), `NO_TOKEN` for one without reads."""
    first = np.full(len(lowered), NO_TOKEN, np.int64)
    questions, index = np.unique(lowered.reads.question, return_index=True)
    first[questions] = lowered.reads.token[index]
    return first


def in_order(first: Ints, inverse: Ints) -> tuple[Ints, Ints]:
    """Return what `np.unique` says of first places and of which is which, numbered by first place.

    >>> _, first, inverse = np.unique([7, 3, 7], return_index=True, return_inverse=True)
    >>> [part.tolist() for part in in_order(first, inverse)]
    [[0, 1], [0, 1, 0]]
    """
    order = np.argsort(first)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return first[order].astype(np.int64), place[inverse.reshape(-1)]


def joined(parts: Iterable[npt.ArrayLike]) -> Ints:
    """Return arrays one after another as one of int64."""
    arrays = [np.asarray(part, np.int64) for part in parts]
    return np.concatenate(arrays) if arrays else np.zeros(0, np.int64)
