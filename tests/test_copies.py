"""Masked copies: kept as what they hide, equal ones once, as if each were written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glosseme.measures import SLOT
from glosseme.scoring import copies
from glosseme.scoring.copies import Copies, Text
from glosseme.scoring.encode import frame_of
from glosseme.scoring.hashes import keys_of
from glosseme.scoring.lower import lower
from zoo import tokenizer_for

MASK = 9


@st.composite
def texts(draw: Any) -> list[Text]:
    """Texts of few different tokens, so that copies meet."""
    made = []
    for _ in range(draw(st.integers(1, 6))):
        ids = np.asarray(draw(st.lists(st.integers(0, 2), min_size=1, max_size=5)), np.int32)
        targets = np.arange(len(ids), dtype=np.int32)
        if draw(st.booleans()):
            hidden = [targets[i : i + 1] for i in range(len(ids))]
        else:
            hidden = [targets[i:] for i in range(len(ids))]
        made.append(Text(ids, targets, hidden))
    return made


def written_out(all_texts: list[Text]) -> list[tuple[int, ...]]:
    """Return every copy, token by token."""
    out = []
    for text in all_texts:
        for hidden in text.hidden:
            ids = text.ids.copy()
            ids[hidden] = MASK
            out.append(tuple(ids.tolist()))
    return out


@given(texts(), st.integers(1, 3))
@settings(max_examples=150, deadline=None)
def test_each_distinct_copy_is_one_sequence(all_texts: list[Text], portion: int) -> None:
    """In the order of their first appearance, whatever portions the texts come in."""
    collected = Copies(MASK)
    for start in range(0, len(all_texts), portion):
        collected.add(all_texts[start : start + portion])
    lowered = collected.lowered()
    reads, wanted = lowered.reads, written_out(all_texts)
    distinct = list(dict.fromkeys(wanted))
    assert [tuple(reads.sequence_ids(i).tolist()) for i in range(len(reads.lengths))] == distinct
    assert [distinct[i] for i in reads.sequence.tolist()] == wanted
    assert reads.token.tolist() == [int(t.ids[p]) for t in all_texts for p in t.targets]
    assert lowered.n_tokens.tolist() == [len(t.targets) for t in all_texts]
    width = int(reads.lengths.max())
    padded = reads.padded(np.arange(len(distinct)), width, 7)
    assert [tuple(row[:n]) for row, n in zip(padded.tolist(), reads.lengths, strict=True)] == distinct
    assert all(set(row[n:]) <= {7} for row, n in zip(padded.tolist(), reads.lengths, strict=True))


def test_one_hash_alone_never_makes_two_copies_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one of the hashes is the same for all, the other tells them apart."""
    real = copies._hashes
    monkeypatch.setattr(copies, "_hashes", lambda *a: (real(*a)[0] * np.uint64(0), real(*a)[1]))
    one = np.asarray([0, 1, 2], np.int32)
    text = Text(one, one, [one[i : i + 1] for i in range(3)])
    collected = Copies(MASK)
    collected.add([text])
    assert len(collected.lowered().reads.lengths) == 3


def test_measures_side_by_side() -> None:
    """A table of slots and pseudo-log-likelihoods answers each question as it would alone."""
    encoder = frame_of(tokenizer_for("bert"), "masked")
    rows = [
        ("a", "pll", None, "the boats came in."),
        ("b", "slot", f"the {SLOT} came in.", "boats"),
        ("c", "pll", None, "the nets came in."),
        ("b", "slot", f"the {SLOT} came in.", "nets"),
    ]
    requests = pl.DataFrame(rows, schema=["item", "measure", "context", "text"], orient="row")
    both = lower(requests, encoder)
    for row, question in enumerate(both.question_of_request.tolist()):
        alone = lower(requests[row], encoder)
        mine = np.flatnonzero(both.reads.question == question)
        assert keys_of(both)[question] == keys_of(alone)[0]
        assert both.reads.token[mine].tolist() == alone.reads.token.tolist()
        assert both.reads.position[mine].tolist() == alone.reads.position.tolist()
        for here, there in zip(both.reads.sequence[mine].tolist(), alone.reads.sequence.tolist(), strict=True):
            assert both.reads.sequence_ids(here).tolist() == alone.reads.sequence_ids(there).tolist()
