"""Linear maps by oneDNN: used where they come to the same, and gone when a forward pass is over."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path

import pytest
import torch
from torch.nn import functional

from glosseme.measures import Kind
from glosseme.scoring import engine, linear
from glosseme.scoring.check import Gap, choose
from glosseme.scoring.linear import LinearMaps, Room, linear_map
from glosseme.scoring.plan import Limits
from glosseme.scoring.probe import Probe, probe_of
from zoo import network_of

here = pytest.mark.skipif(
    not linear._is_right(8, 8, False, torch.float32), reason="there is no oneDNN for this processor"
)


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


@here
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


@here
@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_room_is_kept(name: str) -> None:
    network = network_of(name)
    layers = [module for module in network.modules() if linear.is_plain(module)]
    room = Room(sum(layer.weight.nbytes for layer in layers) + 10)
    LinearMaps(network, room, {})
    assert room.left == 10
    without = LinearMaps(network, Room(0), {})
    # GPT-2's layers would have to be copied all the same.
    assert len(without._maps) == sum(type(layer) is torch.nn.Linear for layer in layers)


def test_a_machine_has_what_its_group_of_processes_may_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit, other = tmp_path / "memory.max", tmp_path / "other"
    limit.write_text("8000\n", encoding="ascii")
    other.write_text("max\n", encoding="ascii")
    monkeypatch.setattr(linear, "_GROUP_LIMITS", (other, tmp_path / "none", limit))
    assert Room().left == 1000


def test_an_input_may_be_named_and_in_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = torch.nn.Linear(8, 4)
    x = inputs(8, 3).T
    with torch.inference_mode(), LinearMaps(layer, Room(1 << 20), {}).in_place():
        named, placed = layer(input=x), layer(x)
    torch.testing.assert_close(named, functional.linear(x, layer.weight, layer.bias))
    assert torch.equal(named, placed)
    assert layer(x[:0]).shape == (0, 4)


def test_a_layer_with_a_forward_of_its_own_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks of other libraries (offloading, adapters) live there; the head is no exception."""
    network = network_of("llama")
    layers = [next(m for m in network.modules() if linear.is_plain(m)), network.get_output_embeddings()]
    for layer in layers:
        monkeypatch.setitem(layer.__dict__, "forward", lambda x, layer=layer: functional.linear(x, layer.weight))
    own = [layer.__dict__["forward"] for layer in layers]
    head, maps = engine._faster(network, probe_of(network), torch.float32)
    assert head is None
    with maps.in_place():
        assert [layer.forward for layer in layers] == own
    assert [layer.forward for layer in layers] == own


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
        head, maps = engine._faster(network, probe_of(network), torch.float32)
        assert (head, maps._maps) == (None, [])
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


@pytest.mark.parametrize(("scale", "wanted"), [(1, 0.16), (16, 2.5)])
def test_rounding_grows_with_the_logits(scale: int, wanted: float) -> None:
    """The offline model's logits reach 98, where numbers of bfloat16 are .5 apart."""
    network = deepcopy(network_of("llama")).to(torch.bfloat16)
    with torch.no_grad():
        network.get_output_embeddings().weight *= scale
    assert engine.TorchEngine(network, "causal").tolerance == pytest.approx(wanted, rel=0.1)


def test_a_token_that_a_model_rules_out_makes_no_tolerance() -> None:
    """Some models give it the lowest number that there is, or minus infinity."""
    logits = torch.tensor([[1.0, -7.0, torch.finfo(torch.bfloat16).min], [2.0, 3.0, -torch.inf]])
    assert Probe(logits, None).largest == 7
    assert not Gap(float("inf"), float("inf")).is_rounding(float("inf"))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize(("name", "kind"), [("gemma2", "causal"), ("convbert", "masked")])
def test_batches_that_are_not_read_are_forwarded(name: str, kind: Kind, dtype: torch.dtype) -> None:
    """Of a network whose head isn't taken apart."""
    one = engine.TorchEngine(deepcopy(network_of(name)).to(dtype), kind)
    ways = ("equal",) if kind == "masked" else ("trie", "padded", "equal")
    for way in ways:
        limits = Limits(sequences=1) if way == "padded" else one.limits
        verdict = choose(one, limits, (way,))
        assert verdict.way == way, verdict.found


def test_threads_take_turns() -> None:
    """Two engines at once, and a network of somebody else's beside them: masks and hooks are each thread's own."""
    mine, other = (deepcopy(network_of(name)) for name in ("llama", "qwen2"))
    alone = deepcopy(network_of("gpt2"))
    ids = torch.arange(1, 82)[None]
    with torch.inference_mode():
        wanted = alone(ids).logits
    limits = Limits(tokens=512)

    def score(network: torch.nn.Module) -> list[str]:
        one = engine.TorchEngine(network, "causal")
        return [choose(one, limits).way for _ in range(6)]

    def forward() -> bool:
        with torch.inference_mode():
            return all(torch.equal(alone(ids).logits, wanted) for _ in range(60))

    with ThreadPoolExecutor() as pool:
        jobs = [pool.submit(score, network) for network in (mine, other, mine)]
        beside = pool.submit(forward)
        assert [job.result() for job in jobs] == [["trie"] * 6] * 3
        assert beside.result()


def test_what_a_model_rules_out_hides_no_difference() -> None:
    logits = torch.tensor([[1.0, 4.0, -1e9], [2.0, 3.0, -torch.inf]])
    other = logits + torch.tensor([0.0, 0.5, 0.0])
    assert Probe(logits, None).gap(Probe(other, None)) == pytest.approx(0.125)
    assert Probe(logits, None).gap(Probe(logits, None)) == 0
