"""An engine whose answers depend on nothing but the tokens a read may see, with faults put in on purpose."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from glosseme.measures import Kind
from glosseme.scoring.batch import Batch
from glosseme.scoring.plan import Limits
from glosseme.scoring.reads import NO_TOKEN
from glosseme.scoring.ways import LADDERS, Floats, Way

__all__ = ["Stub"]


def _nothing(batch: Batch, way: Way) -> None:
    """Do as one is told."""


def _unchanged(batch: Batch, way: Way, values: Floats) -> Floats:
    return values


@dataclass
class Stub:
    """Answers every layout with a hash of what a read sees, in [-16, 0): equal to the last bit in each way."""

    kind: Kind = "causal"
    vocabulary: int = 1000
    before: Callable[[Batch, Way], None] = _nothing
    """Called before a batch is answered; raises what a model would raise."""
    after: Callable[[Batch, Way, Floats], Floats] = _unchanged
    """Changes what is answered."""
    exact: bool = False
    limits: Limits = field(default_factory=Limits)
    pad_id: int = 500
    tolerance: float = 2e-4
    seen: list[tuple[Way, Batch]] = field(default_factory=list)

    @property
    def ways(self) -> tuple[Way, ...]:
        return LADDERS[self.kind]

    def answer(self, batch: Batch, way: Way) -> Floats:
        self.before(batch, way)
        self.seen.append((way, batch))
        values = np.empty(len(batch.read), np.float32)
        for i in range(len(batch.read)):
            here = self._view(batch, int(batch.places[batch.place[i]]))
            other = int(batch.other_place[i])
            there = b"" if other == NO_TOKEN else self._view(batch, int(batch.places[other]))
            digest = blake2b(here + there + int(batch.token[i]).to_bytes(4, "big", signed=True), digest_size=3)
            values[i] = -int.from_bytes(digest.digest(), "big") / 2**20
        return self.after(batch, way, values)

    def _view(self, batch: Batch, place: int) -> bytes:
        row, column = divmod(place, batch.ids.shape[1])
        ids: list[Any] = []
        if self.kind == "masked":
            ids = [column, *batch.ids[row, : batch.lengths[row]].tolist()]
        elif batch.parent is None:
            ids = batch.ids[row, : column + 1].tolist()
        else:
            while column >= 0:
                ids.insert(0, batch.ids[row, column])
                column = int(batch.parent[row, column])
        return np.asarray(ids, ">i4").tobytes()
