"""Linear maps by oneDNN: used where they come to the same, and gone when a forward pass is over."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from torch.nn import functional

from glosseme.scoring import engine, linear
from glosseme.scoring.check import choose
from glosseme.scoring.linear import LinearMaps, Room, linear_map
from glosseme.scoring.probe import probe_of
from zoo import network_of


def inputs(rows: int, width: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(rows, width, generator=torch.Generator().manual_seed(rows)).to(dtype)


@pytest.mark.parametrize("room", [0, 1 << 30])
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize(("outputs", "width"), [(1, 1), (3, 64), (640, 256), (257, 31)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_map_is_the_plain_one(outputs: int, width: int, biased: bool, room: int, dtype: torch.dtype) -> None:
    weight, bias = inputs(outputs, width, dtype), inputs(outputs, 1, dtype)[:, 0] if biased else None
    own = linear_map(weight, bias, Room(room))
    for x in (inputs(1, width, dtype), inputs(70, width, dtype), inputs(12, width, dtype).reshape(3, 4, width)):
        wanted = functional.linear(x, weight, bias)
        assert own(x).shape == wanted.shape
        near = {"rtol": 0.02, "atol": 0.1} if dtype == torch.bfloat16 else {"rtol": 1e-4, "atol": 1e-4}
        torch.testing.assert_close(own(x), wanted, **near)


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_layers_are_as_before_afterwards(name: str) -> None:
    """GPT-2 has layers of its own kind."""
    network = network_of(name)
    before = probe_of(network)
    maps = LinearMaps(network, Room(1 << 30), {})
    assert maps._maps
    with maps.in_place():
        assert all("forward" in module.__dict__ for module, _ in maps._maps)
        inside = probe_of(network)
    assert not any("forward" in module.__dict__ for module in network.modules())
    after = probe_of(network)
    assert before is not None
    assert before.gap(inside) < 1e-5
    assert before.gap(after) == 0
    with pytest.raises(ZeroDivisionError), maps.in_place():
        raise ZeroDivisionError
    assert not any("forward" in module.__dict__ for module in network.modules())


def test_room_is_kept() -> None:
    network = network_of("llama")
    weights = [m.weight.nbytes for m in network.modules() if isinstance(m, torch.nn.Linear)]
    room = Room(sum(weights) + 10)
    LinearMaps(network, room, {})
    assert room.left == 10


def test_a_layer_with_a_forward_of_its_own_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks of other libraries (offloading, adapters) live there."""
    network = network_of("llama")
    layer = next(m for m in network.modules() if isinstance(m, torch.nn.Linear))
    own = lambda x: functional.linear(x, layer.weight)  # noqa: E731
    monkeypatch.setitem(layer.__dict__, "forward", own)
    maps = LinearMaps(network, Room(1 << 30), {})
    with maps.in_place():
        assert layer.forward is own
    assert layer.forward is own


def test_a_wrong_product_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the trial of each shape, and if that were to miss it by the probe of the whole network."""
    real = linear._onednn

    def wrong(weight: torch.Tensor, bias: torch.Tensor | None, *, lay_out: bool) -> linear.Map:
        own = real(weight, bias, lay_out=lay_out)
        return lambda x: own(x) * 1.001

    monkeypatch.setattr(linear, "_onednn", wrong)
    linear._is_right.cache_clear()
    try:
        network = network_of("llama")
        assert LinearMaps(network, Room(1 << 30), {})._maps == []
        monkeypatch.setattr(linear, "_is_right", lambda *_: True)
        _, maps = engine._faster(network, probe_of(network))
        assert maps._maps == []
    finally:
        monkeypatch.undo()
        linear._is_right.cache_clear()


@pytest.mark.parametrize(
    "kind_and_name", ["causal llama", "causal gpt-neo", "causal falcon-alibi", "masked mobilebert"]
)
def test_rounding_of_16_bits_is_told_from_a_wrong_way(kind_and_name: str) -> None:
    kind, name = kind_and_name.split()
    network = network_of(name)
    low = deepcopy(network).to(torch.bfloat16)
    ways = [choose(one, one.limits).way for one in (engine.TorchEngine(network, kind), engine.TorchEngine(low, kind))]
    assert ways == [{"llama": "trie", "mobilebert": "equal"}.get(name, "padded")] * 2


def test_rounding_grows_with_the_logits() -> None:
    """The offline model's logits reach 98, where numbers of bfloat16 are .5 apart."""
    network = deepcopy(network_of("llama")).to(torch.bfloat16)
    small = engine.TorchEngine(network, "causal").tolerance
    with torch.no_grad():
        network.get_output_embeddings().weight *= 8
    assert engine.TorchEngine(network, "causal").tolerance == pytest.approx(8 * small, rel=0.05)
