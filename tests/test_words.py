"""Counting in messages, and which values of a file a message may show."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glosseme.errors import GlossemeError, nearest
from glosseme.runs.warn import warnings_of
from glosseme.suites import find_suites
from glosseme.words import columns_of, counted, is_name, quoted


@pytest.mark.parametrize(
    ("n", "phrase", "said"),
    [
        (0, "run", "0 runs"),
        (1, "checkpoint", "1 checkpoint"),
        (1200, "item without a value", "1,200 items without a value"),
        (2, "request whose slot changed the tokens around it", "2 requests whose slot changed the tokens around it"),
        (2, "missing checkpoint", "2 missing checkpoints"),
        (3, "finished run of a model", "3 finished runs of a model"),
        (2, "family", "2 families"),
        (2, "way", "2 ways"),
        (2, "class", "2 classes"),
    ],
)
def test_the_noun_agrees_with_its_number(n: int, phrase: str, said: str) -> None:
    """Also behind an adjective."""
    assert counted(n, phrase) == said


def test_the_verb_agrees_too() -> None:
    assert counted(1, "item of the file", ("repeats", "repeat")) == "1 item of the file repeats"
    assert counted(5, "item of the file", ("repeats", "repeat")) == "5 items of the file repeat"


NAMES = [
    "Plain Verb",
    "Let-Alone",
    "property_phrase",
    "pairID",
    "dog.n.01",
    "4.1e8",
    "-1",
    "couldn't",
    "",
    "50%",
    "a/b@c",
]
TEXTS = [
    *("The cat sleeps.", "The cat sleeps on the mat", "Is it?", "well, no", '["a b"]', '{"a": 1}', "a\tb", "a\nb"),
    *('say "a"', "x" * 41, "(a)", "friend;rival"),
]


def test_names_are_told_from_texts() -> None:
    assert [value for value in NAMES if not is_name(value)] == []
    assert [value for value in TEXTS if is_name(value)] == []


@given(st.lists(st.sampled_from(["wibbly", "nonkers", "greets", "kindly"]), min_size=4), st.sampled_from(".,;!? \t"))
def test_no_word_of_a_text_is_shown(words: list[str], joint: str) -> None:
    text = f"{joint} ".join(words) + joint.strip()
    assert not any(word in quoted(text) + columns_of([text, "wibbly"]) for word in words)
    assert "UID and 2 that are not shown" in columns_of(["wibbly", text, "UID"], ["UID"])


def test_names_of_a_file_with_a_head_are_shown() -> None:
    assert columns_of(["good", "bad one"]) == "good, bad one"
    assert columns_of(["good", "bad"], ["good"], only_known=True) == "good and 1 that is not shown"
    assert columns_of([], []) == "none"


def test_nearest_names_are_each_named_once() -> None:
    assert nearest("q", ["b", "a", "b"]) == "there are 'a', 'b'"
    with pytest.raises(GlossemeError) as caught:
        find_suites("zzzz")
    assert str(caught.value).count("'blimp'") == 1


def test_warnings_agree_with_their_number() -> None:
    """One request and two, in each of the sentences."""
    odd = {"item": ["a", "b"], "measure": "pll", "context": None, "text": ["A  cat [MASK] <s>", "A  dog [MASK] <s>"]}
    table = pl.DataFrame(odd, schema_overrides={"context": pl.String})
    for n, verb in ((1, "1 request has "), (2, "2 requests have ")):
        found = warnings_of(table.head(n), first_token_scored=True, special=["<s>"])
        assert len(found) == 3
        assert all(note.startswith(verb) for note in found)
