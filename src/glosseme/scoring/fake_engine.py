"""Answers batches without a network, for the public fakes."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from glosseme.scoring.batch import Batch
from glosseme.scoring.plan import Limits
from glosseme.scoring.reads import NO_TOKEN
from glosseme.scoring.ways import Floats, Way

__all__ = ["FakeEngine", "FakeModel"]

Ints = npt.NDArray[np.int64]


class FakeModel(Protocol):
    """What gives a fake's values.

    Sequence s is `ids[starts[s]:starts[s + 1]]`; all other arrays have shape (reads,).
    """

    def logprobs(self, ids: Ints, starts: Ints, sequence: Ints, position: Ints, token: Ints) -> Floats:
        """Return a log-probability for each read, in nats."""

    def divergences(
        self,
        ids: Ints,
        starts: Ints,
        sequence: Ints,
        position: Ints,
        other_sequence: Ints,
        other_position: Ints,
    ) -> Floats:
        """Return a divergence of two distributions for each read, in nats."""


class FakeEngine:
    """Answers each read from the tokens of its sequence, so that every way of batching gives the same."""

    exact = True
    pad_id = 0
    tolerance = 0.0

    def __init__(self, fake: FakeModel, vocabulary: int) -> None:
        self.ways: tuple[Way, ...] = ("padded",)
        self.vocabulary = vocabulary
        self.limits = Limits(tokens=1 << 16, logits=1 << 40)
        self._fake = fake

    def answer(self, batch: Batch, way: Way) -> Floats:
        """Return the value of each read of the batch, in nats, shape (n,)."""
        width = batch.ids.shape[1]
        ids = batch.ids[np.arange(width) < batch.lengths[:, None]]
        starts = np.concatenate([[0], np.cumsum(batch.lengths)])
        row, column = np.divmod(batch.places, width)
        values = np.zeros(len(batch.read), np.float32)
        named, compared = batch.other_place == NO_TOKEN, batch.other_place != NO_TOKEN
        here, place = batch.place[named], batch.place[compared]
        other = batch.other_place[compared]
        values[named] = self._fake.logprobs(ids, starts, row[here], column[here], batch.token[named])
        values[compared] = self._fake.divergences(ids, starts, row[place], column[place], row[other], column[other])
        return values
