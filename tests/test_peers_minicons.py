"""The same numbers as minicons 0.3.39, wherever both define the same quantity; where they don't, why."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from glosseme.measures import SLOT, PllVariant
from glosseme.scoring.encode import BosChoice
from scored import Row, engine_of, lowered_of, run, score
from zoo import network_of, tokenizer_for

pytest.importorskip("minicons")

CLOSE = 1e-4

CAUSAL = ("gpt2", "llama", "gemma3", "opt")
MASKED = ("bert", "roberta", "modernbert", "xlm-roberta")

CONTEXTS = ["The old keeper walked down to the harbour,", "Then the rain began again, softly at first,"]
TEXTS = [
    "and he liked what he saw.",
    "but the unhappy bicyclist's umbrella was believed.",
    "they counted the boats, let alone the storms, in September.",
    "the café was empty!",
]


def total(values: torch.Tensor) -> float:
    """Return the sum that minicons is asked for instead of its mean."""
    return float(values.sum())


@cache
def causal_peer(name: str) -> Any:
    from minicons.scorer import IncrementalLMScorer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)  # that it adds a padding token
        return IncrementalLMScorer(network_of(name), "cpu", tokenizer=deepcopy(tokenizer_for(name)))


@cache
def masked_peer(name: str) -> Any:
    from minicons.scorer import MaskedLMScorer

    tokenizer = deepcopy(tokenizer_for(name))
    # minicons 0.3.39 still calls the method that transformers 5 took away.
    tokenizer.batch_encode_plus = tokenizer.__call__
    return MaskedLMScorer(network_of(name), "cpu", tokenizer=tokenizer)


def ours(rows: list[Row], name: str, tmp_path: Path, **choices: Any) -> list[float]:
    return score(rows, name, tmp_path / "s", **choices).values.tolist()


@pytest.mark.parametrize("name", CAUSAL)
def test_conditional_score(name: str, tmp_path: Path) -> None:
    pairs = [(context, text) for context in CONTEXTS for text in TEXTS]
    contexts, texts = (list(part) for part in zip(*pairs, strict=True))
    theirs = causal_peer(name).conditional_score(contexts, texts, reduction=total, bow_correction=False)
    rows: list[Row] = [("conditional", context, text) for context, text in pairs]
    np.testing.assert_allclose(ours(rows, name, tmp_path), theirs, rtol=0, atol=CLOSE)


@pytest.mark.parametrize("name", CAUSAL)
def test_sequence_score(name: str, tmp_path: Path) -> None:
    """Both leave the first token of GPT-2 out, and score that of a model whose tokenizer adds a BOS."""
    theirs = causal_peer(name).sequence_score(TEXTS, reduction=total, bow_correction=False)
    found = ours([("sentence", None, text) for text in TEXTS], name, tmp_path)
    np.testing.assert_allclose(found, theirs, rtol=0, atol=CLOSE)


def test_a_bos_asked_for(tmp_path: Path) -> None:
    """Its `bos_token=True` is our `always` where the tokenizer adds none itself."""
    theirs = causal_peer("gpt2").sequence_score(TEXTS, reduction=total, bos_token=True)
    rows: list[Row] = [("sentence", None, text) for text in TEXTS]
    np.testing.assert_allclose(ours(rows, "gpt2", tmp_path, bos="always"), theirs, rtol=0, atol=CLOSE)


@pytest.mark.parametrize("pll", ["original", "within_word_l2r"])
@pytest.mark.parametrize("name", MASKED)
def test_pseudo_log_likelihood(name: str, pll: PllVariant, tmp_path: Path) -> None:
    theirs = masked_peer(name).sequence_score(TEXTS, reduction=total, PLL_metric=pll)
    found = ours([("pll", None, text) for text in TEXTS], name, tmp_path, pll=pll)
    np.testing.assert_allclose(found, theirs, rtol=0, atol=CLOSE)


@pytest.mark.parametrize("pll", ["original", "within_word_l2r"])
@pytest.mark.parametrize("name", MASKED)
def test_conditional_pseudo_log_likelihood(name: str, pll: PllVariant, tmp_path: Path) -> None:
    pairs = [(context, text) for context in CONTEXTS for text in TEXTS]
    contexts, texts = (list(part) for part in zip(*pairs, strict=True))
    theirs = masked_peer(name).conditional_score(contexts, texts, reduction=total, PLL_metric=pll)
    rows: list[Row] = [("pll", context, text) for context, text in pairs]
    np.testing.assert_allclose(ours(rows, name, tmp_path, pll=pll), theirs, rtol=0, atol=CLOSE)


@pytest.mark.parametrize(("name", "space"), [("bert", ""), ("roberta", " "), ("modernbert", " ")])
def test_slots_of_one_token(name: str, space: str, tmp_path: Path) -> None:
    """Its `cloze` looks the word up in the sentence by its tokens, so byte-level BPE wants the word with its space."""
    frame, words = f"The old {SLOT} walked down to the harbour.", ["keeper", "boat", "wind"]
    filled = [(frame.replace(SLOT, word), space + word) for word in words]
    rows: list[Row] = [("slot", frame, word) for word in words]
    found = score(rows, name, tmp_path / "s")
    single = found.lowered.n_tokens == 1
    assert single.sum() >= 2
    theirs = np.array(masked_peer(name).cloze([pair for pair, one in zip(filled, single, strict=True) if one]))
    np.testing.assert_allclose(found.values[single], theirs, rtol=0, atol=CLOSE)


# Where the two differ, by definition.


def test_slots_of_several_tokens_differ(tmp_path: Path) -> None:
    """`cloze` masks the tokens of a word one at a time, each seeing the others; a slot masks all at once.

    So ours can't be high merely because the first half of a word gives the second half away.
    """
    frame, word = f"The old keeper counted the {SLOT}.", "unbelievable"
    theirs = masked_peer("bert").cloze([(frame.replace(SLOT, word), word)])[0]
    found = score([("slot", frame, word)], "bert", tmp_path / "s")
    assert found.lowered.n_tokens[0] > 1
    assert abs(found.values[0] - theirs) > 0.01
    (whole,) = ours([("pll", None, frame.replace(SLOT, word))], "bert", tmp_path / "t", pll="original")
    assert whole != theirs


def test_a_token_across_the_join_differs(tmp_path: Path) -> None:
    """minicons counts the tokens of the context alone, and skips as many of the joined text.

    Where the joined text has fewer, part of the continuation is skipped with them: here `keeper` is one token and
    `kee` two. Ours counts the token that covers characters of both sides with the continuation, and says so.
    """
    peer, ids = causal_peer("gpt2"), tokenizer_for("gpt2")
    assert (len(ids("The kee").input_ids), len(ids("The keeper").input_ids)) == (3, 2)
    theirs = peer.conditional_score(["The kee"], ["per and the cat"], separator="", reduction=total)[0]
    assert theirs == pytest.approx(_conditional(peer, "The keeper and", " the cat"), abs=CLOSE)
    rows: list[Row] = [("conditional", "The kee", "per and the cat")]
    lowered = lowered_of(rows, ids, "causal", join="")
    assert lowered.spanning.tolist() == [True]
    found = run(lowered, lambda: engine_of("gpt2"), tmp_path / "s").values[0]
    assert found == pytest.approx(_conditional(peer, "The", " keeper and the cat"), abs=CLOSE)


def _conditional(peer: Any, context: str, text: str) -> float:
    return float(peer.conditional_score([context], [text], separator="", reduction=total)[0])


def test_a_space_that_is_a_token_of_its_own_differs(tmp_path: Path) -> None:
    """minicons counts it with the continuation; ours with neither, for a space is no character of the text."""
    context, text = CONTEXTS[0], "😀 he said."
    theirs = causal_peer("gpt2").conditional_score([context], [text], reduction=total)[0]
    tokens = causal_peer("gpt2").conditional_score([context], [text], reduction=lambda x: x.tolist())[0]
    (found,) = ours([("conditional", context, text)], "gpt2", tmp_path)
    assert found == pytest.approx(theirs - tokens[0], abs=CLOSE)


def test_what_the_tokenizer_puts_behind_a_text_differs(tmp_path: Path) -> None:
    """A tokenizer that closes texts with SEP: minicons adds the probability of the SEP, ours scores text alone."""
    name = "modernbert-decoder"
    theirs = causal_peer(name).sequence_score(TEXTS, reduction=total)
    without = causal_peer(name).sequence_score(TEXTS, reduction=lambda x: float(x[:-1].sum()))
    found = ours([("sentence", None, text) for text in TEXTS], name, tmp_path)
    np.testing.assert_allclose(found, without, rtol=0, atol=CLOSE)
    assert np.abs(np.array(found) - theirs).min() > 1


@pytest.mark.parametrize("bos", ["auto", "always"])
def test_two_bos_tokens_differ(bos: BosChoice, tmp_path: Path) -> None:
    """`bos_token=True` writes a BOS in front of the tokenizer's own; ours never has two."""
    text = TEXTS[:1]
    peer = causal_peer("llama")
    twice = peer.prepare_text(text, bos_token=True)[0].input_ids[0, :2].tolist()
    assert twice == [tokenizer_for("llama").bos_token_id] * 2
    (found,) = ours([("sentence", None, text[0])], "llama", tmp_path, bos=bos)
    assert found == pytest.approx(peer.sequence_score(text, reduction=total)[0], abs=CLOSE)
    assert abs(found - peer.sequence_score(text, reduction=total, bos_token=True)[0]) > 0.1


def test_a_first_token_differs(tmp_path: Path) -> None:
    """minicons shows 0.0 for the token that nothing precedes; ours has no value for it."""
    peer = causal_peer("gpt2")
    assert peer.token_score(["The keeper"])[0][0][1] == 0.0
    found = score([("sentence", None, "a"), ("sentence", None, "The keeper")], "gpt2", tmp_path / "s")
    assert np.isnan(found.values).tolist() == [True, False]
    assert found.lowered.n_tokens.tolist() == [0, len(peer.token_score(["The keeper"])[0]) - 1]


def test_the_correction_for_word_boundaries_differs(tmp_path: Path) -> None:
    """minicons offers it (Pimentel and Meister 2024); ours gives what the model says."""
    with_it = causal_peer("gpt2").sequence_score(TEXTS[:1], reduction=total, bow_correction=True)[0]
    (found,) = ours([("sentence", None, TEXTS[0])], "gpt2", tmp_path)
    assert abs(found - with_it) > 0.1
