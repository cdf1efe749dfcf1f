"""What the package answers is what each model says of each text alone, on every architecture of the zoo.

The reference below shares nothing with the package: it calls the tokenizer with its own special tokens, asks it
which token each character belongs to, forwards one unpadded sequence at a time, and takes a log-softmax in fp64.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from glosseme.measures import SLOT, PllVariant
from glosseme.scoring.check import choose
from glosseme.scoring.execute import Settings
from glosseme.scoring.plan import Batch, Limits
from glosseme.scoring.ways import Floats, Way
from scored import Row, engine_of, kind_of_name, lowered_of, run, score
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
WAY_OF |= dict.fromkeys(("bloom", "mpt", "falcon-alibi", "gpt-neo", "mamba", *MASKED), "padded")


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
