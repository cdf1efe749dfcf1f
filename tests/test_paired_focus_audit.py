"""The checks of a set of frames: silent on the shipped sets, each one loud on its own fault."""

from __future__ import annotations

import polars as pl
import pytest

from glosseme.suites.paired_focus.audit import CHECKS, audit, audit_sets
from glosseme.suites.paired_focus.frames import complete, frames


def faults(code: str, table: pl.DataFrame) -> list[str]:
    return audit(table, {code: CHECKS[code]})


@pytest.mark.parametrize("name", ["core", "extended"])
def test_nothing_is_wrong_with_the_shipped_sets(name: str) -> None:
    assert audit(frames(name)) == []


def test_the_sets_stand_in_their_proportion() -> None:
    assert audit_sets(frames("core"), frames("extended")) == []
    told = audit_sets(frames("core"), frames("core").tail(9))
    assert [fault.split(":")[0] for fault in told] == ["nouns", "scales", "sets"]


def test_a_repeated_frame_is_told() -> None:
    core = frames("core")
    told = faults("duplicates", pl.concat([core, core.head(1)]))
    assert set(told) == {f"duplicates: frame {core['frame'][0]!r} occurs more than once"}
    assert faults("forms", pl.concat([core, core.head(1)]))


def test_an_adjective_at_both_ends_is_told() -> None:
    one = pl.DataFrame({"scale": "size", "verb": "lift", "gerund": "lifting", "noun": "rock"})
    both = pl.concat([one.with_columns(x=pl.lit("small"), y=pl.lit("huge"))] * 2)
    turned = both.with_columns(x=pl.Series(["small", "huge"]), y=pl.Series(["huge", "small"]))
    assert faults("adjectives", complete(turned)) == [
        "adjectives: the adjective 'huge' stands in two places",
        "adjectives: the adjective 'small' stands in two places",
    ]


def test_a_wrong_gerund_is_told() -> None:
    wrong = frames("core").with_columns(gerund=pl.col("gerund").str.replace("^writing$", "writting"))
    assert faults("gerunds", wrong) == ["gerunds: 'writting' of 'write'"]


def test_an_unforeseen_article_is_told() -> None:
    odd = frames("core").head(1).with_columns(x=pl.lit("one-eyed"))
    assert faults("articles", odd) == ["articles: the article of 'a one'"]


def test_stray_letters_are_told() -> None:
    odd = frames("core").head(1).with_columns(noun=pl.lit("rock "), x=pl.lit("Small"))
    assert faults("letters", odd) == ["letters: the word 'Small'", "letters: the word 'rock '"]


def test_small_sets_are_told() -> None:
    told = faults("counts", frames("core").head(9))
    assert "counts: 1 templates, at least 198" in told
    assert "counts: 9 frames, at least 1773" in told
    assert "counts: scale 'beauty' is missing" in told


def test_frames_of_one_scale_are_balanced_by_design() -> None:
    assert faults("balance", frames("core").head(1)) == []
