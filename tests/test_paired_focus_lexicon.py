"""The lexicon: counts of the paper, spelling, gerunds, articles."""

from __future__ import annotations

import polars as pl
import pytest
from spellchecker import SpellChecker

from glosseme.suites.paired_focus.articles import article, with_article
from glosseme.suites.paired_focus.frames import frames
from glosseme.suites.paired_focus.gerunds import regular_gerund
from glosseme.suites.paired_focus.lexicon import adjectives, templates

PAPER_SCALES = {"size", "quality", "beauty", "brightness"}

ARTICLES = {
    "ugly": "an",
    "awful": "an",
    "hour": "an",
    "hourly": "an",
    "honest": "an",
    "honourable": "an",
    "heir": "an",
    "umbrella": "an",
    "unusual": "an",
    "unimportant": "an",
    "uninteresting": "an",
    "utter": "an",
    "usher": "an",
    "urgent": "an",
    "orange": "an",
    "Icy": "an",
    "huge": "a",
    "hideous": "a",
    "university": "a",
    "unique": "a",
    "unit": "a",
    "united": "a",
    "useful": "a",
    "usual": "a",
    "utensil": "a",
    "European": "a",
    "eulogy": "a",
    "ewe": "a",
    "one-eyed": "a",
    "once": "a",
    "ukulele": "a",
    "yellow": "a",
}

GERUNDS = {
    "write": "writing",
    "see": "seeing",
    "dye": "dyeing",
    "tie": "tying",
    "untie": "untying",
    "carry": "carrying",
    "cut": "cutting",
    "spot": "spotting",
    "draw": "drawing",
    "fix": "fixing",
    "lift": "lifting",
    "cook": "cooking",
    "quit": "quitting",
    "cover": "covering",
    "outrun": "outrunning",
    "photograph": "photographing",
    "pick up": "picking up",
    "put out": "putting out",
}


@pytest.mark.parametrize(("word", "expected"), ARTICLES.items())
def test_the_article_goes_by_sound(word: str, expected: str) -> None:
    assert article(word) == expected


def test_the_column_of_articles_agrees_with_the_function() -> None:
    words = [*ARTICLES, *adjectives()["adjective"], *templates("extended")["noun"].unique()]
    column = pl.DataFrame({"w": words}).select(with_article(pl.col("w"))).to_series().to_list()
    assert column == [f"{article(w)} {w}" for w in words]


@pytest.mark.parametrize(("verb", "gerund"), GERUNDS.items())
def test_gerunds_follow_the_rules_of_spelling(verb: str, gerund: str) -> None:
    assert regular_gerund(verb) == gerund


def test_core_has_no_fewer_than_the_paper() -> None:
    """198 templates, 1,773 frames, 22 combinations of verb, noun and scale, four scales."""
    core = frames("core")
    assert core["template"].n_unique() >= 198
    assert core.height >= 1773
    assert core.select("verb", "noun", "scale").n_unique() >= 22
    assert set(core["scale"]) == PAPER_SCALES


def test_no_scale_of_core_has_more_than_a_third_of_its_frames() -> None:
    core = frames("core")
    shares = core.group_by("scale").len()["len"] / core.height
    assert shares.min() > 1 / 6
    assert shares.max() < 1 / 3


def test_extended_has_ten_times_the_nouns_and_four_more_scales() -> None:
    core, extended = frames("core"), frames("extended")
    assert extended["noun"].n_unique() >= 10 * core["noun"].n_unique()
    assert len(set(extended["scale"]) - PAPER_SCALES) >= 4
    new = extended.join(core, on="noun", how="anti")
    assert set(new["scale"]) >= PAPER_SCALES
    assert extended.head(core.height).equals(core)


def test_every_word_is_spelt_as_a_word_list_has_it() -> None:
    words = {
        word
        for column in ("verb", "gerund", "noun", "x", "y")
        for text in templates("extended")[column].unique()
        for word in text.split()
    }
    words |= set(adjectives()["adjective"])
    assert SpellChecker().unknown(words) == set()


def test_every_adjective_of_a_template_stands_at_its_end_of_the_scale() -> None:
    listed = set(adjectives().rows())
    used = templates("extended")
    assert {(x, s, "low") for x, s in used.select("x", "scale").rows()} <= listed
    assert {(y, s, "high") for y, s in used.select("y", "scale").rows()} <= listed
    assert adjectives()["adjective"].is_unique().all()


def test_every_adjective_of_the_lexicon_is_used() -> None:
    used = templates("extended")
    assert set(adjectives()["adjective"]) == set(used["x"]) | set(used["y"])


def test_every_template_says_why_it_is_harder() -> None:
    assert (templates("extended")["why"].str.len_chars() > 8).all()


def test_the_dim_end_is_the_hard_one_for_brightness() -> None:
    seen = templates("core").filter(pl.col("scale") == "brightness")
    assert "bright" in set(seen["x"])
    assert "dim" in set(seen["y"])
