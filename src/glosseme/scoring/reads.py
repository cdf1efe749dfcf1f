"""Reads: unique token sequences, and the (position, token) pairs whose log-probability is wanted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["NO_TOKEN", "Lowered", "Reads"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

NO_TOKEN = -1
"""The token of a read that compares two distributions instead of naming a token."""


@dataclass(frozen=True, slots=True)
class Reads:
    """What a model is to answer, with equal sequences once.

    The distribution after (causal) or at (masked) `position` of sequence `sequence` is asked for the log-probability
    of `token`. Where `token` is `NO_TOKEN`, it is compared with the one at `other_position` of `other_sequence`.
    """

    ids: npt.NDArray[np.int32]
    """The sequences one after another."""
    starts: Ints
    """Where each sequence starts in `ids`, shape (sequences + 1,)."""
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

    @property
    def lengths(self) -> Ints:
        """The length of each sequence, shape (sequences,)."""
        return np.diff(self.starts)

    def sequence_ids(self, index: int) -> npt.NDArray[np.int32]:
        """Return the token ids of one sequence, shape (length,)."""
        return self.ids[self.starts[index] : self.starts[index + 1]]


@dataclass(frozen=True, slots=True)
class Lowered:
    """The reads of a table of requests; equal requests are one question."""

    reads: Reads
    question_of_request: Ints
    """Shape (requests,)."""
    keys: list[bytes]
    """What identifies each question's reads, whatever the model: 16 bytes a question."""
    n_tokens: Ints
    """Reads of each question, shape (questions,)."""
    n_plain: Ints
    """Tokens a plain scorer would forward for each question, shape (questions,)."""
    spanning: Bools
    """Whether a token covers non-space characters of both sides of a boundary, shape (questions,)."""
    mismatch: Bools
    """Whether filling a slot changed the tokens around it, shape (questions,)."""
