"""Questions, one at a time, to flat arrays of reads, with each distinct sequence once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from glosseme.errors import GlossemeError
from glosseme.scoring.reads import NO_TOKEN, Ids, Ints, Lowered, joined, reads_of

__all__ = ["Builder", "OneRead", "check_length"]


@dataclass(frozen=True, slots=True)
class OneRead:
    """One sequence, where it is read, and for which tokens (or against which other sequence)."""

    sequence: Ids
    positions: Ids
    tokens: Ids
    other: Ids | None = None


def check_length(length: int, max_length: int | None, where: str) -> None:
    """Raise `GlossemeError` for a text longer than the model's context."""
    if max_length is not None and length > max_length:
        raise GlossemeError(
            f"the text has {length} tokens and the model takes {max_length}",
            where=where,
            todo="shorten it or choose a model with a longer context",
        )


class Builder:
    """Collects questions."""

    def __init__(self) -> None:
        self._index: dict[bytes, int] = {}
        self._reads: list[tuple[int, Ids, Ids, int, int]] = []
        self._facts: list[tuple[int, int, bool, bool]] = []

    def add(self, question: int, reads: Sequence[OneRead], facts: tuple[int, bool, bool]) -> None:
        """Take in a question's reads and its (n_plain, spanning, mismatch)."""
        for read in reads:
            other = NO_TOKEN if read.other is None else self._sequence(read.other)
            self._reads.append((self._sequence(read.sequence), read.positions, read.tokens, other, question))
        self._facts.append((sum(len(read.positions) for read in reads), *facts))

    def _sequence(self, ids: Ids) -> int:
        return self._index.setdefault(ids.astype(np.int32).tobytes(), len(self._index))

    def lowered(self, question_of_request: Ints) -> Lowered:
        """Return everything collected."""
        counts = [len(positions) for _, positions, _, _, _ in self._reads]

        def spread(column: int) -> Any:
            return np.repeat(np.asarray([read[column] for read in self._reads], np.int64), counts)

        position, other = joined(read[1] for read in self._reads), spread(3)
        reads = reads_of(
            [np.frombuffer(key, np.int32) for key in self._index],
            sequence=spread(0),
            position=position,
            token=joined(read[2] for read in self._reads),
            question=spread(4),
            other=(other, np.where(other == NO_TOKEN, NO_TOKEN, position)),
        )
        facts = np.asarray(self._facts, np.int64).reshape(-1, 4)
        spanning, mismatch = facts[:, 2].astype(bool), facts[:, 3].astype(bool)
        return Lowered(reads, question_of_request, facts[:, 0], facts[:, 1], spanning, mismatch)
