"""The vocabulary head in pieces: the values of the whole one, in float64."""

from __future__ import annotations

import pytest
import torch

from glosseme.scoring import head as heads
from glosseme.scoring.head import Head
from glosseme.scoring.linear import Room
from glosseme.scoring.reads import NO_TOKEN

ROWS, WIDTH, VOCABULARY = 9, 24, 257


@pytest.mark.parametrize("piece", [100, 256, 257, 2048])
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_pieces_are_the_whole(dtype: torch.dtype, biased: bool, piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heads, "_PIECE", piece)
    random = torch.Generator().manual_seed(piece)
    weight = torch.randn(VOCABULARY, WIDTH, generator=random).to(dtype)
    bias = 3 * torch.randn(VOCABULARY, generator=random).to(dtype) if biased else None
    hidden = torch.randn(ROWS, WIDTH, generator=random).to(dtype)
    head = Head(weight, bias, Room(1 << 20))
    plain = hidden.double() @ weight.double().T + (0 if bias is None else bias.double())
    logprobs = plain.log_softmax(-1)
    place = torch.arange(ROWS).repeat(2)
    token = torch.randint(0, VOCABULARY, (2 * ROWS,), generator=random)
    other = torch.full((2 * ROWS,), NO_TOKEN)
    other[5:8] = torch.tensor([0, 5, 6])  # the second with itself
    token[5:8] = NO_TOKEN
    wanted = logprobs[place, token.clamp(min=0)]
    for i in range(5, 8):
        p, q = logprobs[place[i]], logprobs[other[i]]
        mean = ((p.exp() + q.exp()) / 2).log()
        wanted[i] = (p.exp() * (p - mean) + q.exp() * (q - mean)).sum() / 2
    values = head.values(hidden, place, token, other)
    near = 0.1 if dtype == torch.bfloat16 else 1e-5
    torch.testing.assert_close(values.double(), wanted, rtol=0, atol=near)
    assert (values[5] == 0) == bool(place[5] == other[5])
    torch.testing.assert_close(head.logits(hidden).double(), plain, rtol=0, atol=near)
