"""A value does not depend on what else is scored with it, how, in what order, or in how many sittings."""

from __future__ import annotations

import subprocess
import sys
import weakref
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glosseme.errors import WORK_FAILED, GlossemeError
from glosseme.scoring.batch import Batch
from glosseme.scoring.execute import Settings, execute
from glosseme.scoring.plan import Limits
from glosseme.scoring.reads import Lowered
from glosseme.scoring.store import Store
from glosseme.scoring.ways import LADDERS, Floats, Way
from scored import Heard, Row, engine_of, kind_of_name, lowered_of, run, score
from stub_engine import Stub
from zoo import tokenizer_for

CLOSE = 1e-4

CONTEXTS = [
    "The old keeper walked down to the harbour every morning.",
    "Then the rain began again.",
    "The cat slept on.",
]
CAUSAL_ROWS: list[Row] = [
    *(
        ("conditional", context, f"{who} {what}")
        for context, who, what in product(
            CONTEXTS,
            ["He", "The unhappy doctor"],
            ["liked what he saw.", "liked bread.", "believed in lamps, let alone in ropes"],
        )
    ),
    *(("sentence", None, context) for context in CONTEXTS),
    ("sentence", None, "The old keeper"),
    ("sentence", None, " ".join(CONTEXTS * 2)),
    ("sentence", None, "a"),
]
MASKED_ROWS: list[Row] = [
    *(("pll", None, context) for context in CONTEXTS),
    ("pll", CONTEXTS[0], CONTEXTS[2]),
    *(
        ("slot", f"The {where} ___ walked.", who)
        for where in ("old", "unhappy")
        for who in ("keeper", "bicyclist", "dog")
    ),
    *(("divergence", f"He {verb} ___ ___ run.", "*let___alone") for verb in ("walked", "liked", "slept")),
    ("divergence", "He walked ___ ___ run.", "let___*alone"),
]
NAMES = ("gpt2", "gemma3", "bloom", "mamba", "bert", "modernbert")


def rows_for(name: str) -> list[Row]:
    """Return the rows that a model of the zoo can answer."""
    return CAUSAL_ROWS if kind_of_name(name) == "causal" else MASKED_ROWS


def same(found: Floats, expected: Floats) -> None:
    """Check that values are equal but for rounding."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE, equal_nan=True)


@pytest.mark.parametrize(
    "limits",
    [
        *(Limits(sequences=n) for n in (1, 7, 64)),
        *(Limits(tokens=n) for n in (1, 50, 4096)),
        Limits(logits=1),
        Limits(row_tokens=24),
    ],
    ids=lambda limits: f"{limits.sequences}-{limits.tokens}-{limits.logits}-{limits.row_tokens}",
)
@pytest.mark.parametrize("name", NAMES)
def test_batches_of_any_size(name: str, limits: Limits, tmp_path: Path) -> None:
    usual = score(rows_for(name), name, tmp_path / "usual")
    found = score(rows_for(name), name, tmp_path / "s", Settings(limits=limits))
    same(found.values, usual.values)


@pytest.mark.parametrize("name", NAMES)
def test_any_order_any_neighbours(name: str, tmp_path: Path) -> None:
    rows = rows_for(name)
    usual = score(rows, name, tmp_path / "usual").values
    order = np.random.default_rng(1).permutation(len(rows)).tolist()
    same(score([rows[i] for i in order], name, tmp_path / "order").values, usual[order])
    for start in range(3):
        part = slice(start, None, 3)
        same(score(rows[part], name, tmp_path / f"part{start}").values, usual[part])
    for i in (0, len(rows) - 1):
        same(score([rows[i]], name, tmp_path / f"alone{i}").values, usual[[i]])


def test_shared_texts_are_forwarded_once(tmp_path: Path) -> None:
    trie = score(CAUSAL_ROWS, "gpt2", tmp_path / "a")
    padded = score(CAUSAL_ROWS, "gpt2", tmp_path / "b", Settings(ways=("padded",)))
    twice = score(CAUSAL_ROWS * 2, "gpt2", tmp_path / "c")
    same(trie.values, padded.values)
    assert trie.effort.tokens_forwarded < 0.7 * padded.effort.tokens_forwarded
    assert twice.effort.tokens_forwarded == trie.effort.tokens_forwarded
    assert padded.effort.tokens_forwarded <= padded.effort.tokens_plain


# From here on without a network: a stub that answers alike in every way, so that values must agree to the last bit.

NATURAL = st.sampled_from(
    ["the cat", "the dog", "the cat slept", "a", "café", "The harbour 😀", "rain again", "again", "the"]
)
CAUSAL_ROW = st.one_of(
    st.tuples(st.just("sentence"), st.none(), NATURAL),
    st.tuples(st.just("conditional"), NATURAL, NATURAL),
)
MASKED_ROW = st.one_of(
    st.tuples(st.just("pll"), st.one_of(st.none(), NATURAL), NATURAL),
    st.tuples(st.just("slot"), st.sampled_from(["The ___ sat.", "___ is old"]), NATURAL),
    st.tuples(
        st.just("divergence"),
        st.sampled_from(["He ___ ___ run.", "___, not ___"]),
        st.sampled_from(["*let___alone", "let___*alone", "*umbrella___café", "*let___café"]),
    ),
)
LIMITS = st.builds(
    Limits,
    tokens=st.integers(1, 200),
    logits=st.integers(1, 40_000),
    sequences=st.one_of(st.none(), st.integers(1, 9)),
    row_tokens=st.integers(8, 60),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.one_of(st.lists(CAUSAL_ROW, min_size=1, max_size=25), st.lists(MASKED_ROW, min_size=1, max_size=12)),
    limits=LIMITS,
    data=st.data(),
)
def test_every_layout_gives_every_read_its_value(
    rows: list[Row], limits: Limits, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    kind = "causal" if rows[0][0] in ("conditional", "sentence") else "masked"
    lowered = lowered_of(rows, tokenizer_for("llama" if kind == "causal" else "bert"), kind)
    way = data.draw(st.sampled_from(LADDERS[kind]))
    folder = tmp_path_factory.mktemp("h")
    plain = run(lowered, partial(Stub, kind), folder / "plain", Settings(ways=("plain",)))
    stub = Stub(kind, exact=True)
    found = run(lowered, lambda: stub, folder / "s", Settings(limits=limits, ways=(way,)))
    np.testing.assert_array_equal(found.values, plain.values)
    _check_bounds(lowered, [batch for _, batch in stub.seen], limits)


def _check_bounds(lowered: Lowered, batches: list[Batch], limits: Limits) -> None:
    """Check that each read is answered once, and batches are within the limits unless they can't be taken apart."""
    reads = np.concatenate([batch.read for batch in batches] or [np.zeros(0, int)])
    assert sorted(reads.tolist()) == list(range(len(lowered.reads.token)))
    together = 3 if (lowered.reads.other_sequence >= 0).any() else 1
    for batch in batches:
        rows, width = batch.ids.shape
        if rows > 3 * together:
            assert rows * width <= limits.tokens
            assert limits.sequences is None or rows <= limits.sequences


MANY: list[Row] = [
    ("sentence", None, f"{who} {what} {where}.")
    for who in ("The keeper", "A doctor", "Nobody", "The children", "The cat", "They all")
    for what in ("walked", "slept", "believed")
    for where in ("down to the harbour", "on the pier", "in storms and lamps", "again")
]


def _lowered(rows: list[Row] = MANY) -> Lowered:
    return lowered_of(rows, tokenizer_for("llama"), "causal")


SMALL = Settings(limits=Limits(tokens=60, row_tokens=40))


def test_an_engine_says_how_much_it_holds(tmp_path: Path) -> None:
    """Unless somebody asks for something else."""
    for asked, most in ((None, 60), (Limits(tokens=30), 30)):
        stub = Stub(exact=True, limits=Limits(tokens=60))
        run(_lowered(), lambda: stub, tmp_path / str(most), Settings(limits=asked, ways=("padded",)))  # noqa: B023
        assert most // 2 < max(batch.ids.size for _, batch in stub.seen) <= most


class Limited:
    """A fault: a batch of more than `most` tokens, padding included, runs out of memory."""

    def __init__(self, error: Exception, most: int) -> None:
        self.error, self.most = error, most
        self.failures = 0

    def __call__(self, batch: Batch, way: Way) -> None:
        if batch.ids.size > self.most and way != "plain":
            self.failures += 1
            raise self.error


OUT_OF_MEMORY = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
    RuntimeError(
        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried ..."
    ),
    RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 4503599627370496 bytes."),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    MemoryError(),
]


@pytest.mark.parametrize("way", ["trie", "padded", "equal"])
@pytest.mark.parametrize("error", OUT_OF_MEMORY, ids=lambda e: f"{type(e).__name__}-{str(e)[:12]}")
def test_batches_are_halved_when_memory_runs_out(error: Exception, way: Way, tmp_path: Path) -> None:
    lowered = _lowered()
    usual = run(lowered, partial(Stub, exact=True), tmp_path / "usual", Settings(ways=("plain",)))
    fault = Limited(error, 2 * int(lowered.reads.lengths.max()))
    stub = Stub(before=fault, exact=True)
    found = run(lowered, lambda: stub, tmp_path / "s", Settings(limits=Limits(tokens=2000), ways=(way,)))
    np.testing.assert_array_equal(found.values, usual.values)
    assert fault.failures > 0
    assert found.effort.batches_halved == fault.failures
    assert found.effort.way == way


def test_memory_is_free_again_before_the_halves_are_tried(tmp_path: Path) -> None:
    """An error that is still being handled keeps all that the failed pass had made."""

    class Activations:
        pass

    made: list[weakref.ref[Activations]] = []

    def fail(batch: Batch, way: Way) -> None:
        assert all(reference() is None for reference in made)
        activations = Activations()
        made.append(weakref.ref(activations))
        if batch.ids.size > 100:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    found = run(_lowered(), partial(Stub, before=fail, exact=True), tmp_path / "s", Settings(ways=("padded",)))
    assert found.effort.batches_halved > 1


@pytest.mark.parametrize("way", ["trie", "padded", "plain"])
def test_memory_that_runs_out_on_one_text_names_it(way: Way, tmp_path: Path) -> None:
    def fail(batch: Batch, now: Way) -> None:
        if batch.lengths.max() > 30 and now == way:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    rows: list[Row] = [*MANY[:9], ("sentence", None, " ".join(CONTEXTS * 2)), *MANY[9:]]
    with pytest.raises(GlossemeError, match=r"item 'i9'.*memory ran out") as caught:
        run(_lowered(rows), partial(Stub, before=fail, exact=True), tmp_path / "s", Settings(ways=(way,)))
    assert caught.value.exit_code == WORK_FAILED


def test_memory_that_runs_out_in_a_spot_check_drops_nothing(tmp_path: Path) -> None:
    probed = False

    def fail(batch: Batch, way: Way) -> None:
        nonlocal probed
        probed = probed or bool(batch.ids.min() == 1)
        if way == "plain" and probed:
            raise RuntimeError("DefaultCPUAllocator: not enough memory")

    found = run(_lowered(), partial(Stub, before=fail), tmp_path / "s")
    assert found.effort.way == "trie"
    assert found.effort.spot_checks == 0
    assert any("spot check was left out" in line for line in found.said)


class Killed:
    """A fault: the run is interrupted after so many batches of the data, whose sequences begin with id 1."""

    def __init__(self, after: int) -> None:
        self.left = after

    def __call__(self, batch: Batch, way: Way) -> None:
        if batch.ids.min() == 1 and way != "plain":
            if self.left == 0:
                raise KeyboardInterrupt
            self.left -= 1


@pytest.mark.parametrize("way", ["trie", "padded", "equal"])
@pytest.mark.parametrize("after", [0, 1, 3, 5])
def test_a_run_goes_on_where_it_stopped(after: int, way: Way, tmp_path: Path) -> None:
    lowered = _lowered()
    chosen = Settings(limits=SMALL.limits, ways=(way,))
    whole_stub, rest_stub = Stub(exact=True), Stub(exact=True)
    whole = run(lowered, lambda: whole_stub, tmp_path / "whole", chosen)
    with pytest.raises(KeyboardInterrupt):
        run(lowered, lambda: Stub(before=Killed(after), exact=True), tmp_path / "s", chosen)
    rest = run(lowered, lambda: rest_stub, tmp_path / "s", chosen)
    np.testing.assert_array_equal(rest.values, whole.values)
    # The batches left are the very ones of the whole run, after those that were done.
    assert [batch.ids.tolist() for _, batch in rest_stub.seen] == [
        batch.ids.tolist() for _, batch in whole_stub.seen[after:]
    ]


class Breaking:
    """A model of the zoo that is interrupted after so many batches, those of the check among them."""

    def __init__(self, name: str, after: int) -> None:
        self._engine, self.left = engine_of(name), after

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._engine, attribute)

    def answer(self, batch: Batch, way: Way) -> Floats:
        if self.left == 0:
            raise KeyboardInterrupt
        self.left -= 1
        return self._engine.answer(batch, way)


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_a_resumed_run_is_bit_identical(name: str, tmp_path: Path) -> None:
    lowered = lowered_of(rows_for(name), tokenizer_for(name), kind_of_name(name))
    never = Breaking(name, -1)
    whole = run(lowered, lambda: never, tmp_path / "whole", SMALL)
    with pytest.raises(KeyboardInterrupt):
        run(lowered, partial(Breaking, name, (-1 - never.left) * 3 // 4), tmp_path / "s", SMALL)
    rest = run(lowered, partial(engine_of, name), tmp_path / "s", SMALL)
    assert 0 < rest.effort.questions_stored < rest.effort.questions
    np.testing.assert_array_equal(rest.values, whole.values)


def test_a_finished_store_needs_no_engine(tmp_path: Path) -> None:
    first = run(_lowered(), Stub, tmp_path / "s")
    again = run(_lowered(), _never, tmp_path / "s", Settings(limits=Limits(tokens=7)))
    np.testing.assert_array_equal(again.values, first.values)
    assert again.effort.questions_stored == again.effort.questions
    part = run(_lowered(MANY[5:2:-1]), _never, tmp_path / "s")
    np.testing.assert_array_equal(part.values, first.values[5:2:-1])


def test_nothing_to_score_needs_no_engine(tmp_path: Path) -> None:
    found = run(_lowered([]), _never, tmp_path / "s")
    assert found.values.shape == (0,)


def test_two_identities_never_share_values(tmp_path: Path) -> None:
    one = run(_lowered(), Stub, tmp_path / "s", identity="one")
    shifted = partial(Stub, after=lambda batch, way, values: values - 1)
    other = run(_lowered(), shifted, tmp_path / "s", identity="other")
    assert other.effort.questions_stored == 0
    assert (other.values < one.values).all()
    np.testing.assert_array_equal(run(_lowered(), _never, tmp_path / "s", identity="one").values, one.values)


def test_the_variants_of_a_question_never_share_values(tmp_path: Path) -> None:
    """One store, one model: other tokens, another BOS, another variant are other questions."""
    rows: list[Row] = [("pll", None, "unbelievable umbrellas")]
    found = [score(rows, "bert", tmp_path / "s", pll=pll) for pll in ("original", "within_word_l2r")]
    assert [one.effort.questions_stored for one in found] == [0, 0]
    text: list[Row] = [("sentence", None, "The old keeper")]
    chosen = [score(text, "llama", tmp_path / "t", bos=bos) for bos in ("auto", "never", "always")]
    assert [one.effort.questions_stored for one in chosen] == [0, 0, 1]
    assert chosen[0].values[0] == chosen[2].values[0] != chosen[1].values[0]


POISONED: list[Row] = [("sentence", None, "The old keeper"), ("sentence", None, "a")]


def _poison(value: float) -> Callable[[Batch, Way, Floats], Floats]:
    """Return a fault that gives `value` for the one token of `a`."""
    lowered = _lowered(POISONED)
    (token,) = lowered.reads.token[lowered.reads.question == 1]

    def spoil(batch: Batch, way: Way, values: Floats) -> Floats:
        return np.where(batch.token == token, np.float32(value), values)

    return spoil


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_stops_the_run(value: float, tmp_path: Path) -> None:
    stub = partial(Stub, exact=True, after=_poison(value))
    with pytest.raises(GlossemeError, match=r"item 'i1'.*(nan|inf)") as caught:
        run(_lowered(POISONED), stub, tmp_path / "s", Settings(ways=("padded",)))
    assert caught.value.exit_code == WORK_FAILED
    assert "--allow-nonfinite" in str(caught.value)


def test_values_that_are_not_finite_are_counted_when_allowed(tmp_path: Path) -> None:
    stub = partial(Stub, exact=True, after=_poison(-np.inf))
    allowed = Settings(ways=("padded",), allow_nonfinite=True)
    found = run(_lowered(POISONED), stub, tmp_path / "s", allowed)
    assert found.effort.nonfinite == 1
    assert found.values[1] == -np.inf
    assert np.isfinite(found.values[0])
    # Out of the store they are counted again, and a run that doesn't allow them scores them anew.
    assert run(_lowered(POISONED), _never, tmp_path / "s", allowed).effort.nonfinite == 1
    healed = run(_lowered(POISONED), Stub, tmp_path / "s")
    assert np.isfinite(healed.values).all()
    assert healed.effort.nonfinite == 0


def test_a_token_that_the_model_does_not_know_is_named(tmp_path: Path) -> None:
    reads = _lowered(POISONED).reads
    for highest, item in ((int(reads.token.max()), int(reads.question[reads.token.argmax()])), (1, 0)):
        with pytest.raises(GlossemeError, match=f"item 'i{item}'.*vocabulary of {highest}"):
            run(_lowered(POISONED), partial(Stub, vocabulary=highest), tmp_path / "s")


def test_progress_counts_every_question_and_token_once(tmp_path: Path) -> None:
    heard = Heard()
    with Store(tmp_path / "s", "m") as store:
        _, effort = execute(_lowered(), partial(Stub, exact=True), store, SMALL, heard, str)
    assert (heard.tokens, heard.questions) == (heard.total_tokens, heard.total_questions)
    assert (heard.tokens, heard.questions) == (effort.tokens_forwarded, len(MANY))


def test_a_table_of_requests_gives_equal_rows_one_question() -> None:
    lowered = _lowered([MANY[0], MANY[1], MANY[0]])
    assert lowered.question_of_request.tolist() == [0, 1, 0]
    assert len(lowered) == 2


def _never() -> Stub:
    raise AssertionError("no engine is needed")


def test_a_run_without_a_network_needs_no_torch() -> None:
    """Fakes try a suite in a second or two, half of what loading torch takes."""
    code = "import sys; from glosseme.scoring import execute, memory; memory.give_back(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"
