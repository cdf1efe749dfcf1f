"""Models that answer without a network."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glosseme.errors import GlossemeError
from glosseme.models import Fake, open_model

sequences = st.lists(st.lists(st.integers(0, 300_000), min_size=1, max_size=12), min_size=1, max_size=8)


def arrays(texts: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    starts = np.cumsum([0, *map(len, texts)])
    return np.concatenate([np.asarray(t, np.int32) for t in texts]), starts.astype(np.int64)


def ask(fake: Fake, texts: list[list[int]], reads: list[tuple[int, int, int]]) -> np.ndarray:
    ids, starts = arrays(texts)
    sequence, position, token = np.asarray(reads, np.int64).reshape(-1, 3).T
    return fake.logprobs(ids, starts, sequence, position, token)


def all_reads(texts: list[list[int]]) -> list[tuple[int, int, int]]:
    return [(s, p, (p * 7 + s) % 50) for s, text in enumerate(texts) for p in range(len(text))]


@given(sequences, st.sampled_from(["causal", "masked"]), st.integers(0, 2**64 - 1))
def test_an_answer_depends_on_neither_order_nor_neighbours(texts: list[list[int]], kind: str, seed: int) -> None:
    fake = Fake(kind, seed)  # type: ignore[arg-type]
    reads = all_reads(texts)
    together = ask(fake, texts, reads)
    assert together.dtype == np.float32
    assert ((together > -15) & (together <= 0)).all()
    backwards = ask(fake, texts[::-1], [(len(texts) - 1 - s, p, t) for s, p, t in reads])
    assert np.array_equal(together, backwards)
    alone = [ask(fake, [texts[s]], [(0, p, t)])[0] for s, p, t in reads]
    assert np.array_equal(together, alone)


def test_a_causal_answer_sees_what_stands_before_and_a_masked_one_everything() -> None:
    texts = [[5, 6, 7, 8], [5, 6, 7, 9], [6, 5, 7, 8]]
    reads = [(s, 1, 3) for s in range(3)]
    causal, masked = ask(Fake("causal", 1), texts, reads), ask(Fake("masked", 1), texts, reads)
    assert causal[0] == causal[1] != causal[2]
    assert len(set(masked.tolist())) == 3


def test_seed_token_and_position_matter() -> None:
    texts = [[5, 5, 5, 5]]
    base = ask(Fake("masked", 1), texts, [(0, 1, 3)])
    assert ask(Fake("masked", 2), texts, [(0, 1, 3)]) != base
    assert ask(Fake("masked", 1), texts, [(0, 1, 4)]) != base
    assert ask(Fake("masked", 1), texts, [(0, 2, 3)]) != base


def test_random_answers_are_spread_evenly() -> None:
    values = ask(Fake("causal", 3), [[1, 2, 3]], [(0, 1, t) for t in range(20_000)])
    # mean and variance of the uniform distribution on (-15, 0], within five standard errors
    assert abs(values.mean() + 7.5) < 5 * 15 / math.sqrt(12 * 20_000)
    assert abs(values.var() - 15**2 / 12) < 5 * 15**2 / math.sqrt(180 * 20_000)
    assert len(np.unique(values)) > 19_900


@given(sequences, st.integers(0, 100))
def test_divergences_are_symmetric_and_between_zero_and_ln_2(texts: list[list[int]], seed: int) -> None:
    ids, starts = arrays(texts)
    one = np.arange(len(texts))
    other, at = one[::-1].copy(), np.zeros(len(texts), np.int64)
    fake = Fake("masked", seed)
    there = fake.divergences(ids, starts, one, at, other, at)
    assert np.array_equal(there, fake.divergences(ids, starts, other, at, one, at))
    assert ((there >= 0) & (there <= math.log(2))).all()
    assert (fake.divergences(ids, starts, one, at, one, at) == 0).all()


def test_the_constant_fake_answers_zero() -> None:
    fake = Fake("causal", None)
    assert ask(fake, [[1, 2]], [(0, 0, 1), (0, 1, 9)]).tolist() == [0, 0]
    ids, starts = arrays([[1], [2]])
    zero, one = np.zeros(1, np.int64), np.ones(1, np.int64)
    assert fake.divergences(ids, starts, zero, zero, one, zero).tolist() == [0]


def test_no_reads_are_no_answers() -> None:
    for fake in (Fake("causal", None), Fake("causal", 1)):
        assert ask(fake, [[1]], []).shape == (0,)


@pytest.mark.parametrize("name", ["fake:constant", "fake:random@7", "fake:constant-masked", "fake:random-masked@7"])
def test_a_fake_is_opened_like_a_model(name: str) -> None:
    model = open_model(name)
    assert model.fake is not None
    assert model.kind == model.fake.kind == ("masked" if "masked" in name else "causal")
    assert (model.max_length, model.device, model.commit) == (None, "cpu", None)
    assert model.record()["weights_sha256"] == open_model(name).identity.weights
    with pytest.raises(GlossemeError, match="a fake has no network"):
        model.network()


def test_fakes_of_other_seeds_are_other_models() -> None:
    names = ["fake:constant", "fake:random", "fake:random@1", "fake:random-masked@1", "fake:constant-masked"]
    assert len({open_model(n).identity.weights for n in names}) == len(names)
    assert open_model("fake:random").identity == open_model("fake:random@0").identity


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=30))
def test_the_tokenizer_covers_any_text_byte_by_byte(text: str) -> None:
    tokenizer = TOKENIZERS["causal"]
    [encoding] = tokenizer([text], add_special_tokens=False).encodings
    assert len(encoding.ids) == len(text.encode())
    assert tokenizer.decode(encoding.ids) == text
    assert all(0 <= start < end <= len(text) for start, end in encoding.offsets)


TOKENIZERS = {
    kind: open_model(name).tokenizer for kind, name in (("causal", "fake:random"), ("masked", "fake:random-masked"))
}


def test_the_masked_tokenizer_frames_a_text_and_has_a_mask() -> None:
    tokenizer = TOKENIZERS["masked"]
    ids = tokenizer("a b").input_ids
    assert (ids[0], ids[-1]) == (tokenizer.cls_token_id, tokenizer.sep_token_id)
    assert tokenizer.mask_token_id is not None
    assert tokenizer(["a b"], add_special_tokens=False).encodings[0].word_ids == [0, 1, 1]


def test_the_causal_tokenizer_adds_nothing_and_has_a_beginning_of_text() -> None:
    tokenizer = TOKENIZERS["causal"]
    assert len(tokenizer("ab").input_ids) == 2
    assert tokenizer.bos_token_id == tokenizer.eos_token_id is not None
    assert tokenizer.mask_token_id is None
