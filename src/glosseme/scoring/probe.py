"""A few random tokens through a network as it is: what its head is given, and what comes out."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch

__all__ = ["Probe", "probe_of", "without_cache"]

_TOKENS: Final = 8
_RULED_OUT: Final = 1e4


@dataclass(frozen=True, slots=True)
class Probe:
    """One forward pass."""

    logits: torch.Tensor
    """Shape (tokens, vocabulary)."""
    hidden: torch.Tensor | None
    """What the head was given, shape (tokens, width); None where it wasn't called once, on all tokens."""

    @property
    def _possible(self) -> torch.Tensor:
        possible: torch.Tensor = self.logits.float().abs() < _RULED_OUT
        return possible

    @property
    def largest(self) -> float:
        """The largest logit in size, apart from those of tokens that a model rules out by infinite or huge ones."""
        return float(self.logits.float().abs()[self._possible].max())

    def gap(self, other: Probe | None) -> float:
        """Return the largest difference of logits over the largest logit, infinite where there is none to compare.

        Tokens that the model rules out aren't looked at: their size would hide any difference.
        """
        if other is None or other.logits.shape != self.logits.shape:
            return float("inf")
        gap = (self.logits.float() - other.logits.float()).abs()[self._possible]
        largest = float(gap.max()) / self.largest if gap.numel() else float("inf")
        return largest if np.isfinite(largest) else float("inf")


def without_cache(network: Any) -> dict[str, bool]:
    """Return what keeps a network from collecting keys and values that nobody asks for."""
    return {"use_cache": False} if "use_cache" in inspect.signature(network.forward).parameters else {}


@torch.inference_mode()
def probe_of(network: Any) -> Probe | None:
    """Return what a network makes of a few random tokens, None where it can't be forwarded with nothing but them."""
    head = network.get_output_embeddings()
    seen: list[torch.Tensor] = []
    handle = None if head is None else head.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    try:
        vocabulary = int(network.config.get_text_config().vocab_size)
        ids = torch.from_numpy(np.random.default_rng(0).integers(0, vocabulary, _TOKENS))[None]
        logits = network(input_ids=ids.to(next(network.parameters()).device), **without_cache(network)).logits[0]
    except (RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError):
        return None
    finally:
        if handle is not None:
            handle.remove()
    once = len(seen) == 1 and seen[0].shape[:-1] == (1, _TOKENS)
    return Probe(logits, seen[0][0] if once else None)
