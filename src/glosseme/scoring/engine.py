"""Batches to values: the forward pass, and the one formula that turns logits into log-probabilities.

The two kinds of model differ here in one thing: padding is hidden from a masked model by an attention mask; a causal
one never sees it, because it stands to the right.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from glosseme.measures import Kind
from glosseme.scoring.batch import Batch
from glosseme.scoring.head import Head, jensen_shannon, linear_head
from glosseme.scoring.linear import EQUAL, LinearMaps, Room
from glosseme.scoring.plan import Limits
from glosseme.scoring.probe import Probe, probe_of, without_cache
from glosseme.scoring.reads import NO_TOKEN
from glosseme.scoring.trie_mask import ancestors, trie_masks
from glosseme.scoring.ways import LADDERS, Floats, Way, WayUnusableError

__all__ = ["TorchEngine"]

_AT_ONCE = 1 << 20  # numbers: logsumexp makes a copy of what it sums, which should stay in the cache


_TURN = RLock()
"""Held while a network is at work: its hooks and its layers' maps belong to one thread at a time."""


class TorchEngine:
    """Answers batches with a transformers model, whose weights must not change meanwhile."""

    exact = False

    def __init__(self, network: Any, kind: Kind, pad_id: int = 0) -> None:
        self.ways: tuple[Way, ...] = LADDERS[kind]
        self.pad_id = pad_id
        self.vocabulary = int(network.config.get_text_config().vocab_size)
        weight = next(network.parameters())
        with _TURN:
            probe = probe_of(network)
            self._head, self._maps = _faster(network, probe, weight.dtype)
        self.tolerance = _tolerance(weight.dtype, probe)
        self.limits = Limits(tokens=1 << 14, logits=1 << 29) if weight.device.type == "cuda" else Limits()
        if self._head is not None:
            self.limits = Limits(logits=1 << 40)  # there are never so many at once
        self._network = network
        self._kind = kind
        self._device = weight.device
        self._takes_positions = "position_ids" in inspect.signature(network.forward).parameters
        self._without_cache = without_cache(network)
        self._head_rows = network.get_output_embeddings() is not None

    @torch.inference_mode()
    def answer(self, batch: Batch, way: Way) -> Floats:
        """Return the value of each read of the batch, in nats, shape (n,)."""
        if self._head is None or way == "plain":
            with _TURN:
                logits = self._logits_plain(batch) if way == "plain" else self._read(batch, way)
            return _values(logits, batch).cpu().numpy()
        with _TURN:
            hidden = self._read(batch, way, hidden=True)
        places = (self._tensor(part) for part in (batch.place, batch.token, batch.other_place))
        return self._head.values(hidden, *places).numpy()

    def _read(self, batch: Batch, way: Way, *, hidden: bool = False) -> torch.Tensor:
        """Return logits at the batch's places, shape (R, vocabulary), or what the head makes them of, (R, width)."""
        rows = self._hidden if hidden else self._rows
        inputs = {"input_ids": self._tensor(batch.ids)}
        if way != "trie":
            if self._kind == "masked" and int(batch.lengths.min()) < batch.ids.shape[1]:
                columns = np.arange(batch.ids.shape[1])
                inputs["attention_mask"] = self._tensor((columns < batch.lengths[:, None]).astype(np.int64))
            return rows(inputs, batch.places)
        if not self._takes_positions or batch.parent is None:
            raise WayUnusableError("the model takes no position ids")
        depth = self._tensor(batch.depth)
        inputs |= {"position_ids": depth, "attention_mask": torch.ones_like(inputs["input_ids"])}
        with trie_masks(ancestors(batch.parent).to(self._device), depth):
            return rows(inputs, batch.places)

    def _hidden(self, inputs: dict[str, torch.Tensor], places: npt.NDArray[np.int64]) -> torch.Tensor:
        """Return what the head is given at `places`, shape (R, width); the head itself gets no row of it."""
        with _only(self._network.get_output_embeddings(), self._tensor(places), none_passed_on=True) as seen:
            self._forward(inputs)
        if len(seen) != 1:
            raise WayUnusableError("the head was not called once")
        return seen[0]

    def _rows(self, inputs: dict[str, torch.Tensor], places: npt.NDArray[np.int64]) -> torch.Tensor:
        """Return logits at `places` only, shape (R, vocabulary); the model's own head computes them."""
        flat = self._tensor(places)
        if self._head_rows:
            with _only(self._network.get_output_embeddings(), flat) as seen:
                logits = self._forward(inputs)
            if len(seen) == 1 and logits.shape[-2] == len(places):
                return logits.reshape(len(places), logits.shape[-1])
            # The model computes its logits without calling the module (MobileBERT): read them all from now on.
            self._head_rows = False
        logits = self._forward(inputs)
        return logits.reshape(-1, logits.shape[-1])[flat]

    def _logits_plain(self, batch: Batch) -> torch.Tensor:
        width = batch.ids.shape[1]
        parts = []
        for row, length in enumerate(batch.lengths.tolist()):
            columns = batch.places[batch.places // width == row] % width
            if columns.size:
                logits = self._forward({"input_ids": self._tensor(batch.ids[row : row + 1, :length])})
                parts.append(logits[0, self._tensor(columns)])
        return torch.cat(parts)

    def _forward(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        with self._maps.in_place():
            logits: torch.Tensor = self._network(**inputs, **self._without_cache).logits
        return logits

    def _tensor(self, array: npt.NDArray[np.int64]) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self._device)


def _tolerance(dtype: torch.dtype, probe: Probe | None) -> float:
    """Return how far two ways may be apart by rounding, in nats.

    In float32 two exact ways differ by less than 1e-4, and a wrong one by more than .1. With 16 bits rounding grows
    with the logits: exact ways of some fifty architectures differ by up to 1.7 times the precision of the largest
    logit, wrong ones by 29 times and more.
    """
    if dtype in (torch.float32, torch.float64):
        return 2e-4
    largest = 16.0 if probe is None else probe.largest
    return max(0.05, 3 * torch.finfo(dtype).eps * largest)


def _faster(network: Any, probe: Probe | None, dtype: torch.dtype) -> tuple[Head | None, LinearMaps]:
    """Return a network's head and layers in a faster form, where a probe comes to the same by them."""
    room = Room()
    as_it_is = None, LinearMaps(torch.nn.Identity(), room, {})
    if probe is None or dtype not in EQUAL:
        return as_it_is
    head = linear_head(network, probe, room)
    maps = LinearMaps(network, room, {} if head is None else {network.get_output_embeddings(): head.logits})
    with maps.in_place():
        again = probe_of(network)
    # Rounding gives a third of the difference of one product or less, a wrong map 1.
    return as_it_is if probe.gap(again) > 10 * EQUAL[dtype] else (head, maps)


@contextmanager
def _only(head: torch.nn.Module, flat: torch.Tensor, *, none_passed_on: bool = False) -> Iterator[list[torch.Tensor]]:
    """Let only the hidden states at `flat` reach the head, or none of them; yield them, call by call."""
    seen: list[torch.Tensor] = []

    def keep(_: torch.nn.Module, args: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        hidden = args[0]
        seen.append(hidden.reshape(-1, hidden.shape[-1])[flat])
        return (seen[-1][None, : 0 if none_passed_on else None], *args[1:])

    with head.register_forward_pre_hook(keep):
        yield seen


def _values(logits: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Return log-probabilities of tokens, and divergences where two distributions are compared, shape (n,).

    `logit - logsumexp` in fp32: over 262k entries `log_softmax` on a CPU is off by up to 6e-5, this by 1e-6.
    """
    scores = logits.float()
    at_once = max(1, _AT_ONCE // scores.shape[-1]) if scores.device.type == "cpu" else 64
    norm = torch.cat([part.logsumexp(-1) for part in torch.split(scores, at_once)])
    place = torch.from_numpy(batch.place).to(scores.device)
    token = torch.from_numpy(batch.token).to(scores.device)
    values = scores[place, token.clamp(min=0)] - norm[place]
    for i in np.flatnonzero(batch.other_place != NO_TOKEN).tolist():
        a, b = int(batch.place[i]), int(batch.other_place[i])
        values[i] = jensen_shannon(scores[a] - norm[a], scores[b] - norm[b]).clamp(min=0.0)
    return values
