"""Faults that tools of this kind have had: one small input for each, and what is right.

Those of decisions and statistics, of which weights are loaded, and of run folders have their tests elsewhere.
"""

from __future__ import annotations

import json
from copy import deepcopy
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from unicodedata import combining

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken
from transformers import PreTrainedTokenizerFast

from glosseme.errors import GlossemeError
from glosseme.measures import SLOT, Kind, check_requests
from glosseme.runs.scores import scores_of
from glosseme.runs.warn import warnings_of
from glosseme.scoring.encode import frame_of
from glosseme.scoring.execute import Settings
from glosseme.scoring.hashes import keys_of
from glosseme.scoring.plan import Limits
from glosseme.scoring.reads import Lowered
from scored import Row, lowered_of, run, score, table
from small_tokenizers import CAUSAL_TOKENIZERS, MASKED_TOKENIZERS, tokenizer_of
from stub_engine import Stub
from zoo import tokenizer_for

KEEPER = f"The old {SLOT} walked down to the harbour."


def tokens_read(lowered: Lowered, tokenizer: Any, question: int = 0) -> list[str]:
    """Return the tokens whose log-probability a question asks for."""
    ids = lowered.reads.token[lowered.reads.question == question]
    return list(tokenizer.convert_ids_to_tokens(ids.tolist()))


def sequences(lowered: Lowered, tokenizer: Any) -> list[list[str]]:
    """Return all sequences that are forwarded, as tokens."""
    reads = lowered.reads
    return [tokenizer.convert_ids_to_tokens(reads.sequence_ids(i).tolist()) for i in range(len(reads.lengths))]


def kind_of_tokenizer(name: str) -> Kind:
    return "causal" if name in CAUSAL_TOKENIZERS else "masked"


# Masked models


@pytest.mark.parametrize("name", ["roberta", "modernbert", "xlm_roberta", "albert"])
def test_a_mask_stands_where_the_filler_stood_and_no_space_is_lost(name: str) -> None:
    """The tokens around the masks are those of the filled text, and of the text with the mask written in."""
    tokenizer = tokenizer_of(name)
    for filler in ("keeper", "bicyclist", "unhappy doctor"):
        lowered = lowered_of([("slot", KEEPER, filler)], tokenizer, "masked")
        filled = tokenizer(KEEPER.replace(SLOT, filler)).input_ids
        masked = lowered.reads.sequence_ids(0).tolist()
        at = lowered.reads.position.tolist()
        assert [filled[i] for i in at] == lowered.reads.token.tolist()
        assert [filled[i] if i in at else masked[i] for i in range(len(masked))] == filled
        assert {masked[i] for i in at} == {tokenizer.mask_token_id}
        written = tokenizer(KEEPER.replace(SLOT, tokenizer.mask_token)).input_ids
        assert [t for t in masked if t != tokenizer.mask_token_id] == [
            t for t in written if t != tokenizer.mask_token_id
        ]
        assert lowered.mismatch.tolist() == [False]


def test_a_mask_that_leaves_the_space_alone_is_said() -> None:
    """Written into the text it would leave a lone space token before it: ids are masked instead, and it is flagged."""
    tokenizer = deepcopy(tokenizer_of("roberta"))
    state = json.loads(tokenizer.backend_tokenizer.to_str())
    for added in state["added_tokens"]:
        added["lstrip"] = False
    backend = type(tokenizer.backend_tokenizer).from_str(json.dumps(state))
    special = {k: v for k, v in tokenizer.special_tokens_map.items() if k != "mask_token"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, mask_token="<mask>", **special)
    assert "Ġ" in tokenizer.convert_ids_to_tokens(tokenizer(KEEPER.replace(SLOT, "<mask>")).input_ids)
    lowered = lowered_of([("slot", KEEPER, "keeper")], tokenizer, "masked")
    assert lowered.mismatch.tolist() == [True]
    assert tokens_read(lowered, tokenizer) == ["Ġkeeper"]
    assert "Ġ" not in sequences(lowered, tokenizer)[0]


def test_a_filler_is_scored_whole_and_with_its_space() -> None:
    """Not by its first piece, nor as a word in the middle of another."""
    for name, pieces in (("roberta", ["Ġkeeper"]), ("modernbert", ["Ġkeeper"]), ("bert", ["keeper"])):
        assert (
            tokens_read(lowered_of([("slot", KEEPER, "keeper")], tokenizer_of(name), "masked"), tokenizer_of(name))
            == pieces
        )
    lowered = lowered_of([("slot", KEEPER, "pizza")], tokenizer_of("roberta"), "masked")
    assert "".join(tokens_read(lowered, tokenizer_of("roberta"))) == "Ġpizza"
    assert lowered.n_tokens[0] > 1
    assert (lowered.reads.sequence_ids(0) == tokenizer_of("roberta").mask_token_id).sum() == lowered.n_tokens[0]


def test_a_space_that_the_mask_takes_in_belongs_to_the_filler() -> None:
    """Before an emoji it is a token of its own in byte-level BPE."""
    tokenizer = tokenizer_of("roberta")
    lowered = lowered_of([("slot", KEEPER, "😀")], tokenizer, "masked")
    assert tokens_read(lowered, tokenizer)[0] == "Ġ"
    assert tokenizer.decode(lowered.reads.token.tolist()) == " 😀"
    assert lowered.mismatch.tolist() == [False]


def test_a_filler_beside_punctuation_keeps_to_itself() -> None:
    for name in MASKED_TOKENIZERS:
        tokenizer = tokenizer_of(name)
        for context in (f"He said: '{SLOT}'.", f"({SLOT})", f"{SLOT}, he said", f"the {SLOT}!"):
            lowered = lowered_of([("slot", context, "boats")], tokenizer, "masked")
            text = tokenizer.decode(lowered.reads.token.tolist()).strip()
            if not lowered.spanning[0]:
                assert text == "boats", (name, context)
            else:
                assert "boats" in text, (name, context)


def test_the_number_of_tokens_of_a_filler_is_told() -> None:
    rows: list[Row] = [("slot", KEEPER, filler) for filler in ("keeper", "unbelievable")]
    lowered = lowered_of(rows, tokenizer_of("bert"), "masked")
    one, several = lowered.n_tokens.tolist()
    assert (one, several) == (1, len(tokenizer_of("bert")("unbelievable", add_special_tokens=False).input_ids))
    values = np.full(1 + several, -2, np.float32)
    scores = scores_of(table(rows), lowered, values, "suite", "sum")
    assert scores["n_tokens"].to_list() == [1, several]
    assert scores["value"].to_list() == [-2.0, -2.0 * several]
    assert scores_of(table(rows), lowered, values, "suite", "mean")["value"].to_list() == [-2.0, -2.0]


@pytest.mark.parametrize("measure", ["slot", "pll"])
def test_a_mask_token_in_a_text_is_refused(measure: str) -> None:
    for name in MASKED_TOKENIZERS:
        tokenizer = tokenizer_of(name)
        text = f"The {tokenizer.mask_token} walked"
        row: Row = ("slot", text + f" {SLOT}", "down") if measure == "slot" else ("pll", None, text)
        with pytest.raises(GlossemeError, match=r"suite, item 'i1': the mask token .* is written in the text"):
            lowered_of([("pll", None, "The keeper walked"), row], tokenizer, "masked")


def test_another_models_mask_token_is_warned_of() -> None:
    """To GPT-2 `[MASK]` is six characters, and so is `<mask>` to BERT."""
    rows: list[Row] = [("sentence", None, "The keeper"), ("sentence", None, "The [MASK] walked")]
    (note,) = warnings_of(table(rows), first_token_scored=True)
    assert "[MASK]" in note
    assert "'i1'" in note
    assert warnings_of(table(rows[:1]), first_token_scored=True) == []


def test_a_causal_model_asked_for_a_slot_is_one_clear_line() -> None:
    rows: list[Row] = [("slot", KEEPER, "keeper")]
    with pytest.raises(
        GlossemeError, match=r"^suite, item 'i0': measure 'slot' needs a masked model and this one is causal"
    ):
        check_requests(table(rows), "causal", "suite")
    for measure, text in (("slot", "keeper"), ("pll", "keeper"), ("divergence", f"*let{SLOT}alone")):
        context = KEEPER + f" {SLOT}" if measure == "divergence" else None if measure == "pll" else KEEPER
        with pytest.raises(GlossemeError, match="suite, item 'i0': the tokenizer has no mask token"):
            lowered_of([(measure, context, text)], tokenizer_of("gpt2"), "masked")


def test_the_copies_of_a_long_sentence_are_streamed(tmp_path: Path) -> None:
    """350 words, masked one by one: no batch holds more tokens or rows of the vocabulary than it may."""
    text = " ".join(["the keeper counted boats and lamps again"] * 50)
    lowered = lowered_of([("pll", None, text)], tokenizer_of("bert"), "masked")
    longest = int(lowered.reads.lengths.max())
    assert longest > 350
    for n, limits in ((4, Limits(tokens=4 * longest)), (9, Limits(tokens=12 * longest, logits=9 * 1000))):
        stub = Stub("masked", vocabulary=1000, exact=True, limits=limits)
        run(lowered, lambda: stub, tmp_path / str(n))  # noqa: B023
        assert {batch.ids.shape[0] for _, batch in stub.seen[:-1]} == {n}
        assert {len(batch.places) for _, batch in stub.seen[:-1]} == {n}


def test_words_are_told_apart_across_added_tokens() -> None:
    """Later tokens of the same word are masked, never those of another."""
    for name in MASKED_TOKENIZERS:
        tokenizer = deepcopy(tokenizer_of(name))
        tokenizer.add_tokens([AddedToken("<new>", normalized=False)])
        row: Row = ("pll", None, "unbelievable <new> unbelievable umbrellas")
        lowered = lowered_of([row], tokenizer, "masked")
        encoding = tokenizer([row[2]]).encodings[0]
        for sequence, position in zip(lowered.reads.sequence, lowered.reads.position, strict=True):
            masked = np.flatnonzero(lowered.reads.sequence_ids(sequence) == tokenizer.mask_token_id)
            assert masked[0] == position
            words = {encoding.word_ids[i] for i in masked}
            assert words == {encoding.word_ids[position]}
            assert (np.diff(masked) == 1).all()
        assert len(lowered.reads.lengths) == len(encoding.ids) - 2


# Beginning and end of text


def test_bos_is_never_there_twice() -> None:
    tokenizer = tokenizer_of("llama2")
    bos = tokenizer.bos_token_id
    for choice in ("auto", "always"):
        for text in ("The keeper", "<s>The keeper"):
            lowered = lowered_of([("sentence", None, text)], tokenizer, "causal", bos=choice)
            ids = lowered.reads.sequence_ids(0).tolist()
            assert ids[0] == bos
            assert ids.count(bos) == 1
            assert bos not in lowered.reads.token
    gpt2 = tokenizer_of("gpt2")
    lowered = lowered_of([("sentence", None, "<|endoftext|>The keeper")], gpt2, "causal", bos="always")
    assert lowered.reads.sequence_ids(0).tolist().count(gpt2.bos_token_id) == 1


def test_bos_is_there_where_the_tokenizer_adds_one() -> None:
    for name in ("llama3", "llama2", "gemma"):
        tokenizer = tokenizer_of(name)
        lowered = lowered_of([("sentence", None, "The keeper")], tokenizer, "causal")
        assert lowered.reads.sequence_ids(0)[0] == tokenizer.bos_token_id
        assert lowered.n_tokens[0] == len(tokenizer("The keeper", add_special_tokens=False).input_ids)


def test_bos_always_takes_the_end_of_text_where_there_is_no_bos() -> None:
    tokenizer = deepcopy(tokenizer_of("gpt2"))
    tokenizer.bos_token = None
    assert frame_of(tokenizer, "causal", "always").prefix == (tokenizer.eos_token_id,)
    assert frame_of(tokenizer, "causal", "auto").prefix == ()
    tokenizer.eos_token = None
    with pytest.raises(GlossemeError, match="neither a BOS nor an EOS"):
        frame_of(tokenizer, "causal", "always")


@pytest.mark.parametrize("name", ["llama", "opt", "gemma3"])
def test_conditional_values_are_finite_where_the_tokenizer_adds_bos(name: str, tmp_path: Path) -> None:
    found = score([("conditional", "a", "b"), ("sentence", None, "a")], name, tmp_path / "s")
    assert np.isfinite(found.values).all()


def test_a_first_token_without_bos_is_null_and_not_zero(tmp_path: Path) -> None:
    rows: list[Row] = [("sentence", None, "a"), ("sentence", None, "a a")]
    found = score(rows, "gpt2", tmp_path / "s")
    for reduction in ("sum", "mean", "probability"):
        scores = scores_of(table(rows), found.lowered, found.of_reads, "suite", reduction)
        assert scores["logprob"].to_list()[0] is None
        assert scores["value"].to_list()[0] is None
        assert scores["value"].to_list()[1] is not None
        assert scores["n_tokens"].to_list() == [0, 1]


def test_pairs_that_differ_in_an_unseen_first_word_are_warned_of() -> None:
    pair = pl.concat([table([("sentence", None, text)]) for text in ("Keepers walked", "Boats walked")])
    (note,) = warnings_of(pair, first_token_scored=False)
    assert "first word" in note
    assert "--bos always" in note
    assert warnings_of(pair, first_token_scored=True) == []


def test_special_tokens_are_never_in_the_sum() -> None:
    for name in (*CAUSAL_TOKENIZERS, *MASKED_TOKENIZERS):
        tokenizer, kind = tokenizer_of(name), kind_of_tokenizer(name)
        special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
        end = tokenizer.eos_token or tokenizer.sep_token
        measure = "sentence" if kind == "causal" else "pll"
        for text in ("The keeper walked.", f"The keeper{end} walked."):
            lowered = lowered_of([(measure, None, text)], tokenizer, kind)
            assert not special & set(lowered.reads.token.tolist()), name


def test_an_unknown_word_is_scored_as_the_unknown_token() -> None:
    """It stands for text; left out, the strangest words would cost nothing."""
    lowered = lowered_of([("pll", None, "the 😀 walked")], tokenizer_of("bert"), "masked")
    assert "[UNK]" in tokens_read(lowered, tokenizer_of("bert"))


# Batches


@pytest.mark.parametrize("name", ["gpt2", "llama3", "bert"])
def test_settings_of_a_tokenizer_for_batches_change_nothing(name: str) -> None:
    """Left padding, a stored cut, a stored padding: a tokenizer may come with any of them."""
    kind = kind_of_tokenizer(name)
    measure = "sentence" if kind == "causal" else "pll"
    rows: list[Row] = [(measure, None, text) for text in ("The keeper", "Then the rain began again, softly at first")]
    usual = lowered_of(rows, tokenizer_of(name), kind)
    tokenizer = deepcopy(tokenizer_of(name))
    tokenizer.padding_side = "left"
    tokenizer.truncation_side = "left"
    tokenizer.model_max_length = 4
    tokenizer.backend_tokenizer.enable_truncation(4)
    tokenizer.backend_tokenizer.enable_padding(length=30)
    found = lowered_of(rows, tokenizer, kind)
    assert keys_of(found).tolist() == keys_of(usual).tolist()


def test_padding_stands_to_the_right(tmp_path: Path) -> None:
    rows: list[Row] = [
        ("sentence", None, text) for text in ("The keeper", "Then the rain began again, softly at first")
    ]
    stub = Stub(exact=True)
    run(lowered_of(rows, tokenizer_of("llama2"), "causal"), lambda: stub, tmp_path / "s", Settings(ways=("padded",)))
    ((_, batch),) = stub.seen
    assert batch.lengths.min() < batch.ids.shape[1]
    for ids, length in zip(batch.ids, batch.lengths, strict=True):
        assert (ids[length:] == stub.pad_id).all()
        assert (ids[:length] != stub.pad_id).all()


# Joins and spaces


@pytest.mark.parametrize("name", CAUSAL_TOKENIZERS)
def test_a_token_across_the_join_is_counted_with_the_continuation_and_told(name: str) -> None:
    tokenizer = tokenizer_of(name)
    rows: list[Row] = [("conditional", "The kee", "per walked"), ("conditional", "The ", "keeper walked")]
    lowered = lowered_of(rows, tokenizer, "causal", join="")
    assert lowered.spanning.tolist() == [True, False]
    assert "".join(tokens_read(lowered, tokenizer)).replace("Ġ", " ").replace("▁", " ") == " keeper walked"
    assert len(set(keys_of(lowered).tolist())) == 1


def test_a_continuation_inside_the_very_first_token_is_refused() -> None:
    """Nothing precedes it without a BOS: half a continuation is not scored in silence."""
    rows: list[Row] = [("conditional", "The", "cat"), ("conditional", "Th", "e cat")]
    with pytest.raises(GlossemeError, match=r"suite, item 'i1': the continuation begins within the first token.*--bos"):
        lowered_of(rows, tokenizer_of("gpt2"), "causal", join="")
    lowered = lowered_of(rows, tokenizer_of("gpt2"), "causal", join="", bos="always")
    assert tokens_read(lowered, tokenizer_of("gpt2"), 1)[0] == "The"


def test_a_continuation_without_a_token_is_named() -> None:
    """BERT's normaliser takes control characters out."""
    rows: list[Row] = [("pll", "The keeper", "walked"), ("pll", "The keeper", "\u200b")]
    with pytest.raises(GlossemeError, match=r"suite, item 'i1': .* has no token of its own"):
        lowered_of(rows, tokenizer_of("bert"), "masked")
    with pytest.raises(GlossemeError, match=r"suite, item 'i1': .* has no token of its own"):
        lowered_of([("slot", KEEPER, "keeper"), ("slot", KEEPER, "\u200b")], tokenizer_of("bert"), "masked")


@pytest.mark.parametrize("text", ["\u200b", "[SEP]", "[CLS] [SEP]"])
def test_a_text_without_a_token_that_could_be_scored_is_named(text: str) -> None:
    with pytest.raises(GlossemeError, match="suite, item 'i1': there is no token to score"):
        lowered_of([("pll", None, "The keeper"), ("pll", None, text)], tokenizer_of("bert"), "masked")
    with pytest.raises(GlossemeError, match="suite, item 'i0': there is no token to score"):
        lowered_of([("sentence", None, "</s>")], tokenizer_of("llama2"), "causal")


def test_stray_spaces_are_warned_of_and_never_stripped() -> None:
    tidy: Row = ("conditional", "The keeper", "walked down")
    strays: list[Row] = [
        ("conditional", "The keeper ", "walked down"),
        ("conditional", "The keeper", " walked down"),
        ("conditional", "The keeper", "walked  down"),
    ]
    lowered = lowered_of([tidy, *strays], tokenizer_of("gpt2"), "causal")
    keys = keys_of(lowered).tolist()
    assert len(set(keys)) == 3  # a space more before the join or behind it is the same text
    assert keys[1] == keys[2]
    assert warnings_of(table([tidy]), first_token_scored=True) == []
    for stray in strays:
        (note,) = warnings_of(table([tidy, stray]), first_token_scored=True)
        assert "stray spaces" in note
        assert "'i1'" in note


@pytest.mark.parametrize("name", CAUSAL_TOKENIZERS)
def test_a_space_belongs_to_neither_side(name: str) -> None:
    """On the context or on the continuation, it makes no difference."""
    rows: list[Row] = [("conditional", "The keeper ", "walked"), ("conditional", "The keeper", " walked")]
    lowered = lowered_of(rows, tokenizer_of(name), "causal", join="")
    assert len(set(keys_of(lowered).tolist())) == 1
    assert not lowered.spanning.any()


# Too long, empty, slots


def test_a_text_too_long_is_named_with_both_lengths() -> None:
    text = "the keeper walked down"
    n = len(tokenizer_of("bert")(text).input_ids)
    rows: list[Row] = [("pll", None, "the"), ("pll", None, text)]
    lowered_of(rows, tokenizer_of("bert"), "masked", max_length=n)
    with pytest.raises(GlossemeError, match=f"suite, item 'i1': the text has {n} tokens and the model takes {n - 1}"):
        lowered_of(rows, tokenizer_of("bert"), "masked", max_length=n - 1)
    causal: list[Row] = [("conditional", "the keeper", "walked down")]
    n = len(tokenizer_of("llama2")(text).input_ids)
    with pytest.raises(GlossemeError, match=f"has {n} tokens and the model takes {n - 1}"):
        lowered_of(causal, tokenizer_of("llama2"), "causal", max_length=n - 1)


@pytest.mark.parametrize("blank", ["", " ", "\t\n", "\u00a0"])
def test_blank_texts_are_named(blank: str) -> None:
    for row in (("sentence", None, blank), ("conditional", "The", blank), ("conditional", blank, "cat")):
        with pytest.raises(GlossemeError, match=r"suite, item 'i1': the (text|context) is empty"):
            check_requests(table([("sentence", None, "The keeper"), row]), "causal", "suite")


@pytest.mark.parametrize(
    ("measure", "context", "text"),
    [
        ("slot", "The old keeper", "keeper"),
        ("slot", f"{SLOT} and {SLOT}", "keeper"),
        ("divergence", f"He {SLOT} run", f"*let{SLOT}alone"),
        ("divergence", f"{SLOT} {SLOT} {SLOT}", f"*let{SLOT}alone"),
    ],
)
def test_slots_missing_or_too_many_are_named(measure: str, context: str, text: str) -> None:
    rows: list[Row] = [("slot", KEEPER, "keeper"), (measure, context, text)]
    with pytest.raises(GlossemeError, match=r"suite, item 'i1': measure .* needs [12] '___'"):
        check_requests(table(rows), "masked", "suite")
    with pytest.raises(GlossemeError, match=r"suite, item 'i1': a (slot|divergence) needs"):
        lowered_of(rows, tokenizer_of("bert"), "masked")


@pytest.mark.parametrize("text", ["let", f"let{SLOT}alone", f"*let{SLOT}*alone", f"*let{SLOT}alone{SLOT}much"])
def test_fillers_of_a_divergence_are_two_with_one_mark(text: str) -> None:
    with pytest.raises(GlossemeError, match="suite, item 'i0': a divergence needs two slots and two fillers"):
        lowered_of([("divergence", f"He {SLOT} {SLOT} run.", text)], tokenizer_of("bert"), "masked")


# Unicode

ODD = ["é", "e\u0301", "İ", "ﬁ", "ß", "😀", "👩‍🚀", "中文", "ا", "…", "’", "ａ", "½", "\u00ad", "\u200d", "Å", "̈", "ŉ"]
WORD = st.lists(st.sampled_from([*ODD, "a", "the", "keeper", "un", ".", ",", "'"]), min_size=1, max_size=4).map("".join)
WORDS = st.lists(WORD, min_size=1, max_size=4).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(context=WORDS, text=WORDS, join=st.sampled_from([" ", "", "  ", " - "]))
@pytest.mark.parametrize("name", [*CAUSAL_TOKENIZERS, *MASKED_TOKENIZERS])
def test_a_continuation_is_what_covers_its_characters(name: str, context: str, text: str, join: str) -> None:
    """All scripts, normalisers that change lengths, tokens of part of a character: by brute force over characters."""
    assume(not combining(text[0]))  # NFC makes one character of it and the last of the context
    tokenizer, kind = tokenizer_of(name), kind_of_tokenizer(name)
    joined = context + join + text
    encoding = tokenizer([joined], add_special_tokens=False).encodings[0]
    asked = {i for i in range(len(context) + len(join), len(joined)) if not joined[i].isspace()}
    covering = [i for i, (a, b) in enumerate(encoding.offsets) if asked & set(range(a, b))]
    measure = "conditional" if kind == "causal" else "pll"
    row: Row = (measure, context, text)
    if not covering:
        with pytest.raises(GlossemeError, match="has no token of its own"):
            lowered_of([row], tokenizer, kind, join=join, bos="always")
        return
    lowered = lowered_of([row], tokenizer, kind, join=join, bos="always")
    expected = encoding.ids[covering[0] :]
    assert lowered.reads.token.tolist() == expected
    first, before = encoding.offsets[covering[0]], joined[: len(context) + len(join)]
    assert lowered.spanning[0] == bool(before[first[0] :].strip())


@settings(max_examples=60, deadline=None)
@given(left=WORDS, filler=WORDS, right=WORDS, gap=st.sampled_from(["", " "]))
@pytest.mark.parametrize("name", MASKED_TOKENIZERS)
def test_a_filler_is_what_covers_its_characters(name: str, left: str, filler: str, right: str, gap: str) -> None:
    """And a space token before it only where the mask token swallows that."""
    tokenizer = tokenizer_of(name)
    right = gap + right
    filled = f"{left} {filler}{right}"
    encoding = tokenizer([filled]).encodings[0]
    asked = {i for i in range(len(left) + 1, len(left) + 1 + len(filler)) if not filled[i].isspace()}
    covering = [i for i, (a, b) in enumerate(encoding.offsets) if asked & set(range(a, b))]
    row: Row = ("slot", f"{left} {SLOT}{right}", filler)
    if not covering:
        with pytest.raises(GlossemeError, match="has no token of its own"):
            lowered_of([row], tokenizer, "masked")
        return
    lowered = lowered_of([row], tokenizer, "masked")
    places = lowered.reads.position.tolist()
    assert all(b - a == 1 for a, b in pairwise(places))
    assert places[-1] == covering[-1]
    assert places[0] in (covering[0], covering[0] - 1)
    if places[0] < covering[0]:
        assert not filled[slice(*encoding.offsets[places[0]])].strip()
    written = tokenizer(f"{left} {tokenizer.mask_token}{right}").input_ids
    rest = [t for i, t in enumerate(encoding.ids) if i not in places]
    assert lowered.mismatch[0] == (rest != [t for t in written if t != tokenizer.mask_token_id])


# Stores


def test_values_are_found_again_only_under_the_same_model(tmp_path: Path) -> None:
    lowered = lowered_of([("sentence", None, "The keeper walked")], tokenizer_for("llama"), "causal")
    one = run(lowered, Stub, tmp_path / "s", identity="a")
    other = run(lowered, partial(Stub, after=lambda batch, way, values: values * 2), tmp_path / "s", identity="b")
    assert other.values[0] == 2 * one.values[0]
    again = run(lowered, Stub, tmp_path / "s", identity="a")
    assert (again.values[0], again.effort.questions_stored) == (one.values[0], 1)


def test_a_store_that_is_no_store_is_named(tmp_path: Path) -> None:
    path = tmp_path / "values.sqlite"
    path.write_bytes(b"not a database, but long enough to be read as one" * 20)
    lowered = lowered_of([("sentence", None, "The keeper walked")], tokenizer_for("llama"), "causal")
    with pytest.raises(GlossemeError, match=r"values\.sqlite: the store of values is damaged"):
        run(lowered, Stub, path)
