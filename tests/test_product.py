"""Lowering of crossed contexts and texts equals lowering of each pair."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from glosseme.errors import GlossemeError
from glosseme.measures import SLOT
from glosseme.scoring import lower as lowering
from glosseme.scoring import product
from glosseme.scoring.encode import frame_of
from glosseme.scoring.hashes import keys_of
from glosseme.scoring.lower import lower
from small_tokenizers import CAUSAL_TOKENIZERS, MASKED_TOKENIZERS, tokenizer_of

CONTEXTS = [
    f"{text} is"
    for text in ("Singing an ugly song", "a dog", "the quick brown fox that jumps over", "über the hills; it", "'Yes'")
]
WORDS = ["easier", "harder", "song", "beautiful", "lazy dog", "St. Louis", "AC/DC", "'hood", "über", "1990s", "a b c d"]


def pairs(kind: str) -> pl.DataFrame:
    """Every context with every word, some of them twice."""
    if kind == "causal":
        rows = [("conditional", c, w) for c in CONTEXTS for w in WORDS]
    else:
        rows = [("slot", f"{c} {SLOT} of {c}.", w) for c in CONTEXTS for w in WORDS]
        rows += [("slot", f"{SLOT} means {c}", w.capitalize()) for c in CONTEXTS for w in WORDS]
    rows += rows[:5]
    items = [f"i{n}" for n in range(len(rows))]
    columns = {
        "item": items,
        "role": "value",
        **dict(zip(("measure", "context", "text"), zip(*rows, strict=True), strict=True)),
    }
    return pl.DataFrame(columns)


def questions(lowered) -> list[tuple]:
    """What each question reads: sequences, positions and tokens, spelt out."""
    reads = lowered.reads
    found: list[list] = [[] for _ in range(len(lowered))]
    for q, s, p, t in zip(reads.question, reads.sequence, reads.position, reads.token, strict=True):
        found[q].append((reads.sequence_ids(s).tolist(), int(p), int(t)))
    return [tuple(map(str, reading)) for reading in found]


def both(requests, encoder, monkeypatch, **options):
    """The lowering of pairs, and that of each pair by itself."""
    plain = lower(requests, encoder, **options)
    monkeypatch.setattr(product, "WORTH_IT", 1)
    made = []

    def watched(*arguments, **named):
        made.append(product.lower_product(*arguments, **named))
        return made[-1]

    monkeypatch.setattr(lowering, "lower_product", watched)
    return plain, lower(requests, encoder, **options), made[0] is not None


NAMES = [("causal", name) for name in CAUSAL_TOKENIZERS] + [("masked", name) for name in MASKED_TOKENIZERS]


@pytest.mark.parametrize(("kind", "name"), NAMES)
def test_equal_to_each_pair_by_itself(kind, name, monkeypatch):
    """Reads, keys, numbers of tokens and flags are those of pair by pair, for every kind of tokenizer."""
    encoder = frame_of(tokenizer_of(name), kind, "always")
    plain, crossed, used = both(pairs(kind), encoder, monkeypatch)
    assert used
    assert keys_of(crossed).tolist() == keys_of(plain).tolist()
    assert questions(crossed) == questions(plain)
    for field in ("question_of_request", "n_tokens", "n_plain", "spanning", "mismatch"):
        np.testing.assert_array_equal(getattr(crossed, field), getattr(plain, field), err_msg=field)


@pytest.mark.parametrize("name", CAUSAL_TOKENIZERS)
def test_tokens_across_the_edge_are_not_missed(name, monkeypatch):
    """Without a space at the join, words may grow together, and then each pair is tokenised by itself."""
    encoder = frame_of(tokenizer_of(name), "causal", "always")
    requests = pairs("causal").with_columns(pl.col("text").str.replace("easier", "land", literal=True))
    plain, crossed, _ = both(requests, encoder, monkeypatch, join="")
    assert keys_of(crossed).tolist() == keys_of(plain).tolist()
    assert questions(crossed) == questions(plain)


def test_too_long_names_the_item(monkeypatch):
    """The length of the longest pair is checked."""
    monkeypatch.setattr(product, "WORTH_IT", 1)
    encoder = frame_of(tokenizer_of("gpt2"), "causal", "always")
    with pytest.raises(GlossemeError, match=r"item 'i\d+'.*the model takes 6"):
        lower(pairs("causal"), encoder, max_length=6)


def test_equal_hashes_of_rows_are_not_believed(monkeypatch):
    """Where the hashes of different requests are equal, their texts are compared."""
    encoder = frame_of(tokenizer_of("gpt2"), "causal", "always")
    requests = pairs("causal")
    requests = pl.concat([requests, requests[3:7]])
    usual = lower(requests, encoder)
    monkeypatch.setattr(pl.DataFrame, "hash_rows", lambda self, seed: pl.Series([7] * self.height, dtype=pl.UInt64))
    found = lower(requests, encoder)
    assert usual.question_of_request.tolist() == found.question_of_request.tolist()
    assert usual.question_of_request[-4:].tolist() == [3, 4, 5, 6]
    assert keys_of(usual).tolist() == keys_of(found).tolist()


def test_words_that_grow_together_across_a_space_are_seen(monkeypatch):
    """A tokenizer that doesn't split at spaces may have a token for one pair of words alone."""
    space = "\u0120"
    merges = [("q", "u"), ("qu", "a"), (space, "z"), (space + "z", "e"), ("qua", space + "ze")]
    pieces = ["<|endoftext|>", *sorted(pre_tokenizers.ByteLevel.alphabet()), *("".join(pair) for pair in merges)]
    backend = Tokenizer(models.BPE(vocab={piece: i for i, piece in enumerate(pieces)}, merges=merges))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token=pieces[0], eos_token=pieces[0])
    contexts = [*(f"c{i} ba" for i in range(150)), "it is qua"]
    texts = [*(f"t{i}" for i in range(99)), "ze"]
    rows = [("conditional", context, text) for context in contexts for text in texts]
    columns = dict(zip(("measure", "context", "text"), map(list, zip(*rows, strict=True)), strict=True))
    requests = pl.DataFrame({"item": [str(i) for i in range(len(rows))], **columns})
    crossed = lower(requests, frame_of(tokenizer, "causal"))
    monkeypatch.setattr(product, "WORTH_IT", 10**9)
    plain = lower(requests, frame_of(tokenizer, "causal"))
    assert keys_of(crossed).tolist() == keys_of(plain).tolist()
    assert crossed.spanning.tolist() == plain.spanning.tolist()
    assert crossed.spanning.sum() == 1
