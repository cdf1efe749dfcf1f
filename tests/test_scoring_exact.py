"""What the package answers is what each model says of each text alone, on every architecture of the zoo.

The reference below shares nothing with the package: it calls the tokenizer with its own special tokens, asks it
which token each character belongs to, forwards one unpadded sequence at a time, and takes a log-softmax in fp64.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from glosseme.measures import SLOT, PllVariant
from glosseme.scoring.batch import Batch
from glosseme.scoring.check import choose
from glosseme.scoring.encode import BosChoice
from glosseme.scoring.engine import _values as values_of
from glosseme.scoring.execute import Settings
from glosseme.scoring.plan import Limits
from glosseme.scoring.ways import LADDERS, Floats, Way
from scored import Row, engine_of, kind_of_name, lowered_of, run, score
from stub_engine import Stub
from zoo import CAUSAL, MASKED, network_of, tokenizer_for

CLOSE = 1e-4

KEEPER = "The old keeper walked down to the harbour every morning, and counted the boats."
RAIN = "Then the rain began again, softly at first. The street was empty but for a dog."
CAUSAL_ROWS: list[Row] = [
    ("conditional", KEEPER, "He liked what he saw."),
    ("conditional", KEEPER, "He liked what he believed."),
    ("conditional", KEEPER, "He liked the boats, let alone the storms."),
    ("conditional", KEEPER, "Nobody answered."),
    ("conditional", RAIN, "He liked what he saw."),
    ("conditional", RAIN, "He liked what he believed."),
    ("conditional", RAIN, "Nobody answered."),
    ("conditional", "The", "cat"),
    ("conditional", "The", "café"),
    ("sentence", None, KEEPER),
    ("sentence", None, KEEPER),
    ("sentence", None, "The old keeper walked down to the harbour"),
    ("sentence", None, "The old keeper walked"),
    ("sentence", None, KEEPER + " " + RAIN + " " + KEEPER),
    ("sentence", None, "The doctor didn't believe in the unlikely weather 😀 of September"),
    ("sentence", None, "a"),
    ("conditional", KEEPER, "He liked what he saw."),
]

MASKED_ROWS: list[Row] = [
    ("pll", None, "The old keeper walked down to the harbour."),
    ("pll", None, "The old keeper walked down to the harbour."),
    ("pll", None, "The old keeper walked"),
    ("pll", None, "Nobody believed the unhappy bicyclist's café."),
    ("pll", None, "a"),
    ("pll", "The rain began again.", "The unlikely umbrella was forgotten."),
    ("pll", "The keeper counted the boats.", "The unlikely umbrella was forgotten."),
    ("slot", f"The {SLOT} walked down to the harbour.", "keeper"),
    ("slot", f"The {SLOT} walked down to the harbour.", "bicyclist"),
    ("slot", f"The {SLOT} walked down to the harbour.", "unhappy keeper"),
    ("slot", f"The old keeper counted the {SLOT}.", "boats"),
    ("slot", f"The old keeper counted the {SLOT}.", "sailors"),
    ("slot", f"The old keeper counted the {SLOT}.", "umbrellas"),
    ("divergence", f"He could not walk {SLOT} {SLOT} run.", f"*let{SLOT}alone"),
    ("divergence", f"He could not walk {SLOT} {SLOT} run.", f"let{SLOT}*alone"),
    ("divergence", f"He could not {SLOT} in storms, {SLOT} in the sea.", f"*believe{SLOT}unhappily"),
]


def reference(name: str, row: Row, pll: PllVariant = "within_word_l2r") -> float:
    """Return the value of a row by a model of the zoo, computed in the plainest way there is."""
    measure, context, text = row
    if kind_of_name(name) == "causal":
        return _causal(name, context, text)
    if measure == "pll":
        return _pll(name, context, text, pll)
    return _slot(name, context, text) if measure == "slot" else _divergence(name, context, text)


def _logprobs(name: str, ids: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        return network_of(name)(input_ids=torch.tensor([ids])).logits[0].double().log_softmax(-1)


def _tokens_of(encoding: Any, text: str, start: int, end: int) -> list[int]:
    """Return the tokens that belong to the non-space characters text[start:end], by asking for each character."""
    found = [encoding.char_to_token(i) for i in range(start, end) if not text[i].isspace()]
    indices = [i for i in found if i is not None]
    return list(range(min(indices), len(encoding.ids))) if indices else []


def _encoded(name: str, text: str) -> Any:
    return tokenizer_for(name)([text]).encodings[0]


def _causal(name: str, context: str | None, text: str) -> float:
    joined = text if context is None else f"{context} {text}"
    encoding = _encoded(name, joined)
    targets = _tokens_of(encoding, joined, len(joined) - len(text), len(joined))
    if context is None:
        targets = list(range(len(encoding.ids)))
    special = encoding.special_tokens_mask
    values = _logprobs(name, encoding.ids)
    wanted = [t for t in targets if t > 0 and not special[t]]
    return sum(float(values[t - 1, encoding.ids[t]]) for t in wanted) if wanted else float("nan")


def _pll(name: str, context: str | None, text: str, variant: PllVariant) -> float:
    joined = text if context is None else f"{context} {text}"
    encoding = _encoded(name, joined)
    ids, words, mask = encoding.ids, encoding.word_ids, tokenizer_for(name).mask_token_id
    total = 0.0
    for t in _tokens_of(encoding, joined, len(joined) - len(text), len(joined)):
        if encoding.special_tokens_mask[t]:
            continue
        hidden = {t}
        if variant == "within_word_l2r":
            hidden |= {later for later in range(t, len(ids)) if words[later] == words[t]}
        masked = [mask if i in hidden else token for i, token in enumerate(ids)]
        total += float(_logprobs(name, masked)[t, ids[t]])
    return total


def _filler(encoding: Any, text: str, start: int, end: int) -> list[int]:
    """Return the tokens from the first character of text[start:end] up to the word or sign behind it."""
    behind = next(i for i in range(end, len(text)) if not text[i].isspace())
    return list(range(encoding.char_to_token(start), encoding.char_to_token(behind)))


def _slot(name: str, context: str, filler: str) -> float:
    left, right = context.split(SLOT)
    filled = left + filler + right
    encoding = _encoded(name, filled)
    places = _filler(encoding, filled, len(left), len(left) + len(filler))
    mask = tokenizer_for(name).mask_token_id
    values = _logprobs(name, [mask if i in places else token for i, token in enumerate(encoding.ids)])
    return sum(float(values[i, encoding.ids[i]]) for i in places)


def _divergence(name: str, context: str, text: str) -> float:
    parts, fillers = context.split(SLOT), text.split(SLOT)
    words = [filler.lstrip("*") for filler in fillers]
    read = 0 if fillers[0].startswith("*") else 1
    starts = [len(parts[0]), len(parts[0]) + len(words[0]) + len(parts[1])]
    filled = parts[0] + words[0] + parts[1] + words[1] + parts[2]
    encoding = _encoded(name, filled)
    places = [_filler(encoding, filled, s, s + len(w)) for s, w in zip(starts, words, strict=True)]
    mask = tokenizer_for(name).mask_token_id
    one = [mask if i in places[read] else token for i, token in enumerate(encoding.ids)]
    both = [mask if i in places[0] + places[1] else token for i, token in enumerate(encoding.ids)]
    p, q = _logprobs(name, one)[places[read]].exp(), _logprobs(name, both)[places[read]].exp()
    mean = (p + q) / 2
    return float(((p * (p / mean).log()).sum() + (q * (q / mean).log()).sum()) / 2)


WAY_OF: dict[str, Way] = dict.fromkeys(CAUSAL, "trie")
# Their positions are counted in columns of a row (ALiBi, GPT-Neo's windows), or they have a state.
WAY_OF |= dict.fromkeys(("bloom", "mpt", "falcon-alibi", "gpt-neo", "mamba", *MASKED), "padded")
# They see their padding, whatever they are told.
WAY_OF |= dict.fromkeys(("convbert", "mobilebert"), "equal")


@pytest.mark.parametrize("name", CAUSAL)
def test_causal_values_are_those_of_each_text_alone(name: str, tmp_path: Path) -> None:
    found = score(CAUSAL_ROWS, name, tmp_path / "s")
    expected = np.array([reference(name, row) for row in CAUSAL_ROWS])
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=CLOSE, equal_nan=True)
    assert found.effort.way == WAY_OF[name], found.effort.ways_found
    assert found.effort.spot_checks > 0


@pytest.mark.parametrize("pll", ["within_word_l2r", "original"])
@pytest.mark.parametrize("name", MASKED)
def test_masked_values_are_those_of_each_text_alone(name: str, pll: PllVariant, tmp_path: Path) -> None:
    found = score(MASKED_ROWS, name, tmp_path / "s", pll=pll)
    expected = np.array([reference(name, row, pll) for row in MASKED_ROWS])
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=CLOSE)
    assert found.effort.way == WAY_OF[name], found.effort.ways_found
    assert found.effort.spot_checks > 0


def test_the_variants_of_pseudo_log_likelihood_differ_where_words_are_split(tmp_path: Path) -> None:
    rows: list[Row] = [MASKED_ROWS[3], ("pll", None, "the old")]
    one = score(rows, "bert", tmp_path / "a", pll="within_word_l2r").values
    other = score(rows, "bert", tmp_path / "b", pll="original").values
    assert abs(one[0] - other[0]) > 0.1
    assert one[1] == pytest.approx(other[1], abs=CLOSE)


def test_values_of_the_zoo_depend_on_their_context() -> None:
    """Else the comparisons above would see nothing."""
    for name in CAUSAL:
        values = [reference(name, row) for row in CAUSAL_ROWS if row[2] == "Nobody answered."]
        assert abs(values[0] - values[1]) > 0.05, name


@pytest.mark.parametrize("name", ["gpt2", "gemma3", "bert", "modernbert"])
def test_the_vocabulary_is_reached_only_where_it_is_read(name: str, tmp_path: Path) -> None:
    """The product with a large vocabulary costs more than a small model's body."""
    rows = CAUSAL_ROWS[:4] if name in CAUSAL else MASKED_ROWS[:4]
    lowered = lowered_of(rows, tokenizer_for(name), kind_of_name(name))
    engine = engine_of(name)
    engine.exact = True  # no check, which would read everything
    seen: list[int] = []
    head = network_of(name).get_output_embeddings()
    handle = head.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0].shape[:-1].numel()))
    try:
        run(lowered, lambda: engine, tmp_path / "s")
    finally:
        handle.remove()
    reads = lowered.reads
    assert sum(seen) <= len(np.unique(reads.sequence * 1000 + reads.position))
    assert sum(seen) < 0.5 * reads.lengths.sum()


@pytest.mark.parametrize("bos", ["auto", "always", "never"])
def test_what_stands_in_front_is_chosen(bos: BosChoice, tmp_path: Path) -> None:
    text = "The keeper walked"
    for name, own in (("gpt2", False), ("llama", True)):
        tokenizer = tokenizer_for(name)
        ids = tokenizer([text], add_special_tokens=False).encodings[0].ids
        front = [tokenizer.bos_token_id] if bos == "always" or (bos == "auto" and own) else []
        values = _logprobs(name, front + ids)
        expected = sum(float(values[i - 1, t]) for i, t in enumerate(front + ids) if i > 0)
        found = score([("sentence", None, text)], name, tmp_path / name, bos=bos)
        assert found.values[0] == pytest.approx(expected, abs=CLOSE)
        assert found.lowered.n_tokens[0] == len(ids) - (0 if front else 1)


@pytest.mark.parametrize("name", ["gpt2", "bloom", "gemma3", "mamba", "bert", "modernbert"])
def test_every_way_that_the_check_allows_is_exact(name: str, tmp_path: Path) -> None:
    rows = CAUSAL_ROWS if name in CAUSAL else MASKED_ROWS
    expected = np.array([reference(name, row) for row in rows])
    for way in LADDERS[kind_of_name(name)]:
        found = score(rows, name, tmp_path / way, Settings(ways=(way,)))
        np.testing.assert_allclose(found.values, expected, rtol=0, atol=CLOSE, equal_nan=True)
        refused = way == "trie" and WAY_OF[name] != "trie"
        assert found.effort.way == ("plain" if refused else way)


def test_the_check_finds_windows_that_count_columns() -> None:
    """GPT-Neo's do: a packed row must be full before the last branch is too far from its root."""
    network = network_of("gpt-neo")
    for window, cap in ((8, 96), (64, 96), (90, 96), (64, 200)):
        engine = engine_of("gpt-neo")
        attentions = [block.attn.attention for block in network.transformer.h]  # type: ignore[union-attr]
        before = [a.bias.clone() for a in attentions]
        for attention in (a for a in attentions if a.attention_type == "local"):
            ones = torch.ones(1, 1, *attention.bias.shape[-2:], dtype=torch.bool)
            attention.bias = ones.tril() & ~ones.tril(-window)
        try:
            assert choose(engine, Limits(row_tokens=cap)).way == "padded", (window, cap)
        finally:
            for attention, bias in zip(attentions, before, strict=True):
                attention.bias = bias


def add_one_in(way: Way, after: int = 0, below: int = 10**9) -> Callable[[Batch, Way, Floats], Floats]:
    """Return a fault: one nat too much in `way`, from its batch `after` on, where an id is below `below`."""
    batches = 0

    def spoil(batch: Batch, now: Way, values: Floats) -> Floats:
        nonlocal batches
        batches += now == way
        return values + 1 if now == way and batches > after and batch.ids.min() < below else values

    return spoil


STUB_ROWS: list[Row] = [
    ("sentence", None, f"{who} {walked} down to the {place}.")
    for who in ("The keeper", "A doctor", "Nobody", "The children", "He", "They all", "A dog", "We")
    for walked in ("walked", "ran", "came")
    for place in ("harbour", "street", "bridge")
]


def _stub_values(tmp_path: Path) -> Floats:
    lowered = lowered_of(STUB_ROWS, tokenizer_for("llama"), "causal")
    return run(lowered, lambda: Stub(), tmp_path / "right", Settings(ways=("plain",))).values


def test_a_way_that_is_wrong_is_dropped_by_the_check(tmp_path: Path) -> None:
    lowered = lowered_of(STUB_ROWS, tokenizer_for("llama"), "causal")
    stub = Stub(after=add_one_in("trie"))
    found = run(lowered, lambda: stub, tmp_path / "s")
    assert found.effort.way == "padded"
    assert found.effort.ways_found["trie"] == "1.0e+00"
    np.testing.assert_array_equal(found.values, _stub_values(tmp_path))


def test_a_way_that_raises_or_gives_nan_is_dropped_by_the_check() -> None:
    def refuse(batch: Batch, way: Way) -> None:
        if way == "trie":
            raise KeyError("linear_attention")

    def spoil(batch: Batch, way: Way, values: Floats) -> Floats:
        return values * np.float32("nan") if way == "padded" else values

    verdict = choose(Stub(before=refuse, after=spoil), Limits())
    assert verdict.way == "equal"
    assert verdict.found["trie"] == "KeyError: 'linear_attention'"
    assert verdict.found["padded"] == "inf"


@pytest.mark.parametrize("after", [0, 3])
def test_a_way_right_on_the_probes_and_wrong_on_the_data_is_taken_back(after: int, tmp_path: Path) -> None:
    """The probes hold no id below 10, the texts begin with one."""
    lowered = lowered_of(STUB_ROWS, tokenizer_for("llama"), "causal")
    probes = len(_batches_of_probes())
    stub = Stub(after=add_one_in("trie", after=probes + after, below=10))
    limits = Limits(tokens=40, row_tokens=40)
    path = tmp_path / "s"
    found = run(lowered, lambda: stub, path, Settings(limits=limits))
    assert found.effort.way == "padded"
    assert "spot check differed by 1.0e+00" in found.effort.ways_found["trie"]
    assert any("'trie' was dropped" in line for line in found.said)
    np.testing.assert_array_equal(found.values, _stub_values(tmp_path))


def _batches_of_probes() -> list[Batch]:
    stub = Stub()
    assert choose(stub, Limits(tokens=40, row_tokens=40)).way == "trie"
    return [batch for way, batch in stub.seen if way == "trie"]


def test_what_a_dropped_way_had_stored_is_gone_at_once(tmp_path: Path) -> None:
    """Even if the next way never gets to its end."""

    def interrupt(batch: Batch, way: Way) -> None:
        if way == "padded" and batch.ids.min() < 10:
            raise KeyboardInterrupt

    lowered = lowered_of(STUB_ROWS, tokenizer_for("llama"), "causal")
    stub = Stub(before=interrupt, after=add_one_in("trie", below=10))
    with pytest.raises(KeyboardInterrupt):
        run(lowered, lambda: stub, tmp_path / "s")
    found = run(lowered, Stub, tmp_path / "s")
    assert found.effort.questions_stored == 0
    np.testing.assert_array_equal(found.values, _stub_values(tmp_path))


def test_what_another_run_has_stored_is_not_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "s"
    first = run(lowered_of(STUB_ROWS[:3], tokenizer_for("llama"), "causal"), Stub, path)
    lowered = lowered_of(STUB_ROWS, tokenizer_for("llama"), "causal")
    stub = Stub(after=add_one_in("trie", below=10))
    found = run(lowered, lambda: stub, path)
    assert found.effort.way == "padded"
    assert found.effort.questions_stored == 3
    np.testing.assert_array_equal(found.values[:3], first.values)
    np.testing.assert_array_equal(found.values, _stub_values(tmp_path))


def test_a_way_that_breaks_in_the_middle_is_left_for_the_next(tmp_path: Path) -> None:
    def fail(batch: Batch, way: Way) -> None:
        if way in ("trie", "padded") and batch.ids.min() < 10:
            raise RuntimeError("shapes differ")

    lowered = lowered_of(STUB_ROWS, tokenizer_for("llama"), "causal")
    found = run(lowered, lambda: Stub(before=fail), tmp_path / "s")
    assert found.effort.way == "equal"
    assert found.effort.ways_found["trie"] == "RuntimeError: shapes differ"
    np.testing.assert_array_equal(found.values, _stub_values(tmp_path))


def test_the_last_way_asked_for_is_followed_by_the_plain_one(tmp_path: Path) -> None:
    lowered = lowered_of(STUB_ROWS, tokenizer_for("llama"), "causal")
    stub = Stub(after=add_one_in("trie", below=10))
    found = run(lowered, lambda: stub, tmp_path / "s", Settings(ways=("trie",)))
    assert found.effort.way == "plain"
    np.testing.assert_array_equal(found.values, _stub_values(tmp_path))


def test_divergences_are_spot_checked_too(tmp_path: Path) -> None:
    rows = [row for row in MASKED_ROWS if row[0] == "divergence"]
    lowered = lowered_of(rows, tokenizer_for("bert"), "masked")
    stub = Stub("masked", after=add_one_in("padded", below=10))
    found = run(lowered, lambda: stub, tmp_path / "s")
    assert found.effort.way == "equal"
    assert "spot check" in found.effort.ways_found["padded"]
    expected = np.array([reference("bert", row) for row in rows])
    np.testing.assert_allclose(score(rows, "bert", tmp_path / "t").values, expected, rtol=0, atol=CLOSE)


def test_log_probabilities_over_a_large_vocabulary_are_accurate() -> None:
    """fp32 `log_softmax` over 262k entries is off by up to 6e-5."""
    logits = torch.randn(3, 262_144, generator=torch.Generator().manual_seed(0)) * 2
    batch = Batch(
        *(np.zeros((1, 3), np.int64), np.array([3]), np.zeros((1, 3), np.int64), None, np.arange(3)),
        *(np.arange(3), np.arange(3), np.array([5, 6, 7]), np.full(3, -1)),
    )
    exact = logits.double().log_softmax(-1)[torch.arange(3), torch.tensor([5, 6, 7])]
    assert (values_of(logits, batch).double() - exact).abs().max() < 5e-6
