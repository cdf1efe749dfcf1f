"""The ways in which a batch can be answered, and what answers it.

`trie` packs sequences into rows, with a mask that lets a token see its ancestors only; `padded` and `equal` are rows
of one sequence each; `plain` forwards each sequence alone, unpadded, with the whole vocabulary at every position:
slow, and the measure of all the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from glosseme.measures import Kind
from glosseme.scoring.batch import Batch
from glosseme.scoring.plan import Layout, Limits

__all__ = ["LADDERS", "Engine", "Floats", "Way", "WayUnusableError", "layout_of", "limits_of"]

Way = Literal["trie", "padded", "equal", "plain"]
Floats = npt.NDArray[np.float32]

LADDERS: dict[Kind, tuple[Way, ...]] = {
    "causal": ("trie", "padded", "equal", "plain"),
    "masked": ("padded", "equal", "plain"),
}
"""The ways for each kind of model, the one that saves most first."""


class WayUnusableError(Exception):
    """A model can't be forwarded in this way; the next one of the ladder is tried."""


class Engine(Protocol):
    """Something that answers batches."""

    ways: tuple[Way, ...]
    """The ways to try, the fastest first."""
    exact: bool
    """Whether the ways need no check, because nothing is computed."""
    vocabulary: int
    """Token ids are below this."""
    limits: Limits
    """How much one forward pass holds unless somebody asks for something else."""
    pad_id: int
    """What fills a row up."""
    tolerance: float
    """The largest difference between two ways, in nats, that is rounding and no error."""

    def answer(self, batch: Batch, way: Way) -> Floats:
        """Return the value of each read of the batch, in nats, shape (n,)."""


def limits_of(way: Way, limits: Limits) -> Limits:
    """Return the limits of a way's batches: `plain` holds all logits of one, whatever the head of the others does."""
    return replace(limits, logits=min(limits.logits, Limits().logits)) if way == "plain" else limits


def layout_of(way: Way) -> Layout:
    """Return how sequences are laid out for a way: `plain` takes any rows apart again."""
    return "padded" if way == "plain" else way
