"""The vocabulary head, applied a piece of the vocabulary at a time.

What is asked for is a few logits of each distribution and the logarithm of the sum of all their exponentials. Computed
piece by piece the logits never leave the processor's cache: with 262,144 tokens this takes a third of the time off.
"""

from __future__ import annotations

from typing import Any, Final

import torch

from glosseme.scoring.linear import Room, linear_map
from glosseme.scoring.probe import Probe

__all__ = ["Head", "linear_head"]

_PIECE: Final = 2048
"""Tokens of the vocabulary at a time: with some hundred rows, a few megabytes."""
_EQUAL: Final = {torch.float32: 1e-5, torch.bfloat16: 1e-2}
"""Relative to the largest logit: two products of the same numbers differ by rounding."""


class Head:
    """A head that is one linear map of the hidden state, with nothing after it.

    >>> head = Head(torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), None, Room(0))
    >>> hidden = torch.tensor([[0.5, -1.0]])
    >>> values = head.logprobs(hidden, torch.tensor([0, 0]), torch.tensor([0, 2]))
    >>> torch.allclose(values, (hidden @ head.weight.T).log_softmax(-1)[0, [0, 2]])
    True
    """

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None, room: Room) -> None:
        self.weight = weight
        self.bias = bias
        pieces = [slice(start, start + _PIECE) for start in range(0, len(weight), _PIECE)]
        self._maps = [linear_map(weight[p], None if bias is None else bias[p], room) for p in pieces]

    def logprobs(self, hidden: torch.Tensor, place: torch.Tensor, token: torch.Tensor) -> torch.Tensor:
        """Return log-probabilities in nats, shape (n,), of tokens at rows `place` of `hidden`, shape (R, width)."""
        logit = (hidden[place].float() * self.weight[token].float()).sum(-1)
        if self.bias is not None:
            logit += self.bias[token].float()
        # Rounded as the model's own logits are.
        return logit.to(self.weight.dtype).float() - self._logsumexp(hidden)[place]

    def _logsumexp(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return the logarithm of the sum of exponentials of all logits of each row, shape (R,)."""
        highest = torch.full((len(hidden),), -torch.inf)
        total = torch.zeros(len(hidden))
        for piece in self._maps:
            logits = piece(hidden).float()
            above = torch.maximum(highest, logits.amax(-1))
            total = total * (highest - above).exp() + logits.sub_(above[:, None]).exp_().sum(-1)
            highest = above
        return highest + total.log()

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return all logits, shape (..., vocabulary)."""
        return torch.cat([piece(hidden) for piece in self._maps], dim=-1)


def linear_head(network: Any, probe: Probe | None, room: Room) -> Head | None:
    """Return the head of a network on a CPU, None where its logits are anything but its head's product.

    Caps, scales and corrections after the head (Gemma 2, Cohere, Granite) show in the logits of a probe, whatever the
    model is called.
    """
    module = network.get_output_embeddings()
    weight = getattr(module, "weight", None)
    if probe is None or probe.hidden is None or type(module) is not torch.nn.Linear:
        return None
    if weight is None or weight.device.type != "cpu" or weight.dtype not in _EQUAL:
        return None
    own = torch.nn.functional.linear(probe.hidden, weight, module.bias)
    near = _EQUAL[weight.dtype] * own.abs().max()
    same = own.shape == probe.logits.shape and bool((own - probe.logits).abs().max() <= near)
    return Head(weight, module.bias, room) if same else None
