"""Frames and their texts, against the sentences of the specification."""

from __future__ import annotations

import polars as pl
import pytest

from glosseme.suites.paired_focus.frames import (
    FRAME_COLUMNS,
    complete,
    first_sentence,
    follow_up,
    frames,
    lowered,
)
from glosseme.suites.paired_focus.syntax import form

SONG = pl.DataFrame(
    {"scale": "beauty", "verb": "sing", "gerund": "singing", "noun": "song", "x": "ugly", "y": "beautiful"}
)
ROCK = pl.DataFrame(
    {"scale": "size", "verb": "pick up", "gerund": "picking up", "noun": "rock", "x": "small", "y": "huge"}
)


def text_of(table: pl.DataFrame, expression: pl.Expr) -> str:
    return str(complete(table).head(1).select(expression).item())


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("xy", "You couldn't sing an ugly song, let alone a beautiful one."),
        ("yx", "You couldn't sing a beautiful song, let alone an ugly one."),
    ],
)
def test_first_sentences_are_those_of_the_paper(order: str, expected: str) -> None:
    assert text_of(SONG, first_sentence(pl.lit(order), pl.lit("let alone"))) == expected


@pytest.mark.parametrize(
    ("mention", "word", "expected"),
    [
        ("xy", "___", "Singing an ugly song is ___ than singing a beautiful song."),
        ("yx", "harder", "Singing a beautiful song is harder than singing an ugly song."),
    ],
)
def test_follow_ups_are_those_of_the_paper(mention: str, word: str, expected: str) -> None:
    assert text_of(SONG, follow_up(pl.lit(mention), pl.lit(word))) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("base", "You couldn't sing an ugly song, much less a beautiful one."),
        ("no-npi", "You could sing an ugly song, much less a beautiful one."),
        ("pseudocleft", "An ugly song, much less a beautiful one, you couldn't sing."),
        ("cp-conjunction", "You couldn't sing an ugly song, much less you couldn't sing a beautiful one."),
        ("vp-conjunction", "You couldn't sing an ugly song, much less sing a beautiful one."),
        ("vp-gap", "You couldn't sing an ugly song, much less me a beautiful one."),
    ],
)
def test_forms_are_those_of_the_specification(name: str, expected: str) -> None:
    assert text_of(SONG, form(name, pl.lit("much less"))) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pseudocleft", "A small rock, let alone a huge one, you couldn't pick up."),
        ("cp-conjunction", "You couldn't pick up a small rock, let alone you couldn't pick up a huge one."),
        ("vp-conjunction", "You couldn't pick up a small rock, let alone pick up a huge one."),
    ],
)
def test_phrasal_verbs_stay_whole(name: str, expected: str) -> None:
    assert text_of(ROCK, form(name, pl.lit("let alone"))) == expected


def test_the_affirmative_of_each_modal() -> None:
    texts = complete(SONG).filter(pl.col("pronoun") == "They").select(form("no-npi", pl.lit("and")))
    assert texts.to_series().to_list() == [
        f"They {can} sing an ugly song, and a beautiful one." for can in ("could", "can", "were able to")
    ]


def test_pronouns_inside_a_sentence_are_lower_case() -> None:
    made = pl.DataFrame({"p": ["You", "They", "I"]}).select(lowered(pl.col("p"))).to_series()
    assert made.to_list() == ["you", "they", "I"]


def test_a_template_gives_nine_frames_with_readable_names() -> None:
    nine = complete(ROCK)
    assert nine.columns == list(FRAME_COLUMNS)
    assert nine["template"].unique().to_list() == ["pick-up-rock-small-huge"]
    assert nine["frame"][0] == "pick-up-rock-small-huge-you-couldnt"
    assert nine["frame"][-1] == "pick-up-rock-small-huge-they-werent-able-to"
    assert nine["frame"].n_unique() == 9


@pytest.mark.parametrize("name", ["core", "extended"])
def test_names_of_frames_are_unique_and_plain(name: str) -> None:
    ids = frames(name)["frame"]
    assert ids.is_unique().all()
    assert ids.str.contains(r"^[a-z-]+$").all()


@pytest.mark.parametrize("name", ["core", "extended"])
def test_no_two_frames_make_the_same_text(name: str) -> None:
    texts = frames(name).select(
        first_sentence(pl.lit("xy"), pl.lit("or")).alias("one"),
        first_sentence(pl.lit("yx"), pl.lit("or")).alias("two"),
    )
    assert pl.concat([texts["one"], texts["two"]]).is_unique().all()
