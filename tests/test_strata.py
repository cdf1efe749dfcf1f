"""Macro averages: each level counts the same, and the interval is that of a stratified sample."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glosseme.analysis.intervals import mean, proportion
from glosseme.analysis.strata import macro_mean, macro_proportion
from glosseme.analysis.summarise import summarise

ENDS = ("estimate", "low", "high", "n", "n_clusters")


def items(*levels: list[float | None]) -> pl.DataFrame:
    rows = [(f"level {h}", x) for h, values in enumerate(levels) for x in values]
    return pl.DataFrame(rows, schema={"level": pl.String, "x": pl.Float64}, orient="row")


def wilson(p: float, size: float) -> tuple[float, float]:
    z = 1.959963984540054
    half = z * math.sqrt(p * (1 - p) / size + z**2 / (4 * size**2)) / (1 + z**2 / size)
    centre = (p + z**2 / (2 * size)) / (1 + z**2 / size)
    return centre - half, centre + half


def test_of_one_level_it_is_wilsons_interval() -> None:
    """As of n items, but for one in n + 1."""
    one = items([1.0, 0, 1, 1, 0, 1, 1, 1])
    found = macro_proportion(one, "x", "level").select(ENDS).row(0)
    assert found == pytest.approx((0.75, *wilson(0.75, 8**2 / 9), 8, 8))


def test_the_variance_is_that_of_a_stratified_sample() -> None:
    """By hand: levels 3/4 right and 1/2 right, s^2 = 2/9 of all; v = ((K - 1) v_own + s^2 / K) / K."""
    two = items([1.0, 1, 1, 0], [1.0, 0])
    s2 = 4 / 6 * 2 / 6
    own = [0.75 * 0.25 / 3, 0.25 / 1]
    v = [(3 * own[0] + s2 / 4) / 4, (1 * own[1] + s2 / 2) / 2]
    p, variance = 0.625, sum(v) / 4
    found = macro_proportion(two, "x", "level").select(ENDS).row(0)
    assert found == pytest.approx((p, *wilson(p, p * (1 - p) / variance), 6, 6))


def test_levels_without_a_judged_item_count_for_nothing() -> None:
    found = macro_proportion(items([1.0, 0, 1], [None]), "x", "level").row(0, named=True)
    assert (found["estimate"], found["n"]) == (pytest.approx(2 / 3), 3)
    nothing = macro_proportion(items([None], [None]), "x", "level").row(0, named=True)
    assert (nothing["estimate"], nothing["low"], nothing["n"]) == (None, None, 0)


def test_all_right_has_an_interval_with_a_width() -> None:
    found = macro_proportion(items([1.0] * 5, [1.0] * 5), "x", "level").row(0, named=True)
    assert found["low"] == pytest.approx(proportion(items([1.0] * 10), "x")["low"].item())
    assert found["high"] == pytest.approx(1)


def test_means_of_any_unit() -> None:
    """Equal numbers: the estimate is the mean; levels far apart don't widen the interval."""
    apart = items([100.0, 101, 102, 103], [0.0, 1, 2, 3])
    found, plain = macro_mean(apart, "x", "level"), mean(apart, "x")
    assert found["estimate"].item() == plain["estimate"].item() == 51.5
    assert found["high"].item() - found["low"].item() < plain["high"].item() - plain["low"].item()
    assert macro_mean(items([2.0, 2], [2.0, 2]), "x", "level")["low"].item() is None


VALUES = st.lists(st.sampled_from([0.0, 0.5, 1.0, None]), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(levels=st.lists(VALUES, min_size=1, max_size=5))
def test_the_estimate_lies_in_its_interval(levels: list[list[float | None]]) -> None:
    found = macro_proportion(items(*levels), "x", "level").row(0, named=True)
    judged = [[x for x in level if x is not None] for level in levels]
    means = [sum(level) / len(level) for level in judged if level]
    assert found["n"] == sum(map(len, judged))
    if not means:
        assert found["estimate"] is None
        return
    assert found["estimate"] == pytest.approx(sum(means) / len(means))
    if found["n"] > 1:
        assert 0 <= found["low"] <= found["estimate"] + 1e-12
        assert found["estimate"] - 1e-12 <= found["high"] <= 1
    else:
        assert found["low"] is None


def test_summaries_average_over_levels_where_they_leave_them_out() -> None:
    outcomes = (
        items([1.0, 1, 1, 1], [0.0, 1])
        .rename({"x": "correct"})
        .with_columns(suite=pl.lit("s"), item=pl.int_range(pl.len()).cast(pl.String), delta=1.0, tie=False, chance=0.5)
    )
    table = summarise(outcomes, ["level"], also=[[]], metrics=["accuracy"], macro="level")
    assert table.select("level", "estimate").rows() == [("level 0", 1.0), ("level 1", 0.5), ("all", 0.75)]
    assert summarise(outcomes, [], metrics=["accuracy"])["estimate"].item() == pytest.approx(5 / 6)
