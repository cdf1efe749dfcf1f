"""The vocabulary head, applied a piece of the vocabulary at a time.

What is asked for is a few logits of each distribution and the logarithm of the sum of all their exponentials. Computed
piece by piece the logits never leave the processor's cache: with 262,144 tokens this takes a third of the time off.
"""

from __future__ import annotations

import math
from typing import Any, Final

import torch

from glosseme.scoring.linear import EQUAL, Room, is_ordinary, is_plain, linear_map
from glosseme.scoring.probe import Probe
from glosseme.scoring.reads import NO_TOKEN

__all__ = ["Head", "jensen_shannon", "linear_head"]

_PIECE: Final = 2048
"""Tokens of the vocabulary at a time: with some hundred rows, a few megabytes."""


class Head:
    """A head that is one linear map of the hidden state, with nothing after it.

    >>> head = Head(torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), None, Room(0))
    >>> hidden = torch.tensor([[0.5, -1.0]])
    >>> values = head.values(hidden, torch.tensor([0, 0]), torch.tensor([0, 2]), torch.tensor([-1, -1]))
    >>> torch.allclose(values, (hidden @ head.weight.T).log_softmax(-1)[0, [0, 2]])
    True
    """

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None, room: Room) -> None:
        self.weight = weight
        self.bias = bias
        pieces = [slice(start, start + _PIECE) for start in range(0, len(weight), _PIECE)]
        self._maps = [linear_map(weight[p], None if bias is None else bias[p], room) for p in pieces]

    def values(
        self, hidden: torch.Tensor, place: torch.Tensor, token: torch.Tensor, other_place: torch.Tensor
    ) -> torch.Tensor:
        """Return what `Batch` asks of rows of `hidden`, shape (R, width), in nats, shape (n,).

        That is the log-probability of a token in the distribution at `place`, or where there is an `other_place` the
        divergence of the distributions at the two.
        """
        values = torch.empty(len(place))
        named = other_place == NO_TOKEN
        norm = self._logsumexp(hidden)
        values[named] = self._logits_of(hidden, place[named], token[named]) - norm[place[named]]
        if not named.all():
            values[~named] = self._divergences(hidden, norm, place[~named], other_place[~named])
        return values

    def _divergences(
        self, hidden: torch.Tensor, norm: torch.Tensor, place: torch.Tensor, other: torch.Tensor
    ) -> torch.Tensor:
        """Return the divergences of the distributions of two rows each, in nats, shape (n,)."""
        total = torch.zeros(len(place))
        for piece in self._maps:
            logprobs = piece(hidden).float() - norm[:, None]
            total += jensen_shannon(logprobs[place], logprobs[other])
        return total.clamp(min=0.0)

    def _logits_of(self, hidden: torch.Tensor, place: torch.Tensor, token: torch.Tensor) -> torch.Tensor:
        logit = (hidden[place].float() * self.weight[token].float()).sum(-1)
        if self.bias is not None:
            logit += self.bias[token].float()
        return logit.to(self.weight.dtype).float()  # rounded as the model's own logits are

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
        logits = hidden.new_empty(*hidden.shape[:-1], len(self.weight))
        for number, piece in enumerate(self._maps):
            logits[..., number * _PIECE : (number + 1) * _PIECE] = piece(hidden)
        return logits


def jensen_shannon(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """Return the Jensen-Shannon divergence, in nats, of distributions given as log-probabilities, shape (..., tokens).

    Of a piece of the vocabulary it is that piece's part of the sum.

    >>> one, other = torch.tensor([0.5, 0.5]).log(), torch.tensor([0.25, 0.75]).log()
    >>> round(float(jensen_shannon(one, other)), 4)
    0.0338
    """
    mean = torch.logaddexp(p, q) - math.log(2)
    return 0.5 * (p.exp() * (p - mean) + q.exp() * (q - mean)).sum(-1)


@torch.inference_mode()
def linear_head(network: Any, probe: Probe | None, room: Room) -> Head | None:
    """Return the head of a network on a CPU, None where its logits are anything but its head's product.

    Caps, scales and corrections after the head (Gemma 2, Cohere, Granite) show in the logits of a probe, whatever the
    model is called.
    """
    module = network.get_output_embeddings()
    if probe is None or probe.hidden is None or type(module) is not torch.nn.Linear or not is_plain(module):
        return None
    weight: torch.Tensor = module.weight
    if not is_ordinary(weight):
        return None
    own = torch.nn.functional.linear(probe.hidden, weight, module.bias)
    same = bool(own.isfinite().all()) and probe.gap(Probe(own, None)) <= EQUAL[weight.dtype]
    return Head(weight, module.bias, room) if same else None
