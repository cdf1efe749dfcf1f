"""The bound: the model's body over the fewest tokens, and its head where it is read, by the same kernels."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache

import numpy as np
import torch

from glosseme.measures import Kind
from glosseme.scoring.batch import Batch, ReadsOf, build
from glosseme.scoring.engine import TorchEngine
from glosseme.scoring.plan import plan
from glosseme.scoring.reads import Lowered

__all__ = ["Bound"]

_TOKENS = (1024, 2048)
_ROWS = (96, 192)


class Bound:
    """Forwards what a table of questions needs, laid out beforehand in the batches that are fastest here."""

    def __init__(self, lowered: Lowered, network: torch.nn.Module, kind: Kind) -> None:
        self._reads = lowered.reads
        self._kind = kind
        self._engine = TorchEngine(network, kind)
        self._batches: list[Batch] | None = None

    def prepare(self) -> None:
        """Choose among sizes of rows and batches by timing a few of each; not part of what is timed."""
        if self._batches is None:
            rows = _ROWS if self._kind == "causal" else (96,)
            tried = {(t, r): self._rate(t, r) for r in rows for t in _TOKENS}
            self._batches = self._laid(*min(tried, key=tried.__getitem__))

    def __call__(self) -> int:
        """Forward all batches and return how many tokens these are."""
        self.prepare()
        assert self._batches is not None
        for batch in self._batches:
            self._forward(batch)
        return sum(batch.n_tokens for batch in self._batches)

    @torch.inference_mode()
    def _forward(self, batch: Batch) -> None:
        self._engine.answer(batch, "trie" if self._kind == "causal" else "padded")

    @cache  # noqa: B019
    def _laid(self, tokens: int, row: int) -> list[Batch]:
        layout = "trie" if self._kind == "causal" else "padded"
        limits = replace(self._engine.limits, tokens=tokens, row_tokens=row)
        of = ReadsOf(self._reads)
        planned = plan(self._reads, layout, limits, self._engine.vocabulary)
        return [build(self._reads, of, p.rows, packed=layout == "trie") for p in planned]

    def _seconds(self, batches: list[Batch]) -> float:
        start = time.perf_counter()
        for batch in batches:
            self._forward(batch)
        return time.perf_counter() - start

    def _rate(self, tokens: int, row: int) -> float:
        """Return the seconds that all batches would take, from a few spread over them."""
        batches = self._laid(tokens, row)
        chosen = [batches[i] for i in np.unique(np.linspace(0, len(batches) - 1, 3).astype(int))]
        self._forward(chosen[-1])
        seconds = min(self._seconds(chosen) for _ in range(2))
        weight = sum(batch.n_tokens + len(batch.places) for batch in batches)
        return seconds / sum(batch.n_tokens + len(batch.places) for batch in chosen) * weight
