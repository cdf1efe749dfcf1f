"""--limit: whole items, seeded, balanced."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glosseme.errors import GlossemeError
from glosseme.suites import find_suites
from glosseme.suites.sample import sample

SUITE = find_suites("paired-focus/semantics")[0]
REQUESTS = SUITE.build("causal", "core", {}).requests


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 600), st.integers(0, 5))
def test_exactly_so_many_whole_items(limit, seed):
    """A sample has as many items as asked for, each with all its requests, and is part of a larger one."""
    drawn = sample(REQUESTS, SUITE, limit, seed)
    assert drawn["item"].n_unique() == limit
    assert drawn.group_by("item").len()["len"].unique().to_list() == [4]
    assert set(drawn["item"]) <= set(sample(REQUESTS, SUITE, limit + 7, seed)["item"])


def test_balance():
    """480 items: all cells, constructions and scales alike, and no template twice."""
    items = sample(REQUESTS, SUITE, 480, 3).unique("item")
    for factors in (["construction", "cell"], ["scale"], ["entailed"], ["order"], ["mention"]):
        sizes = items.group_by(factors).len()["len"]
        assert sizes.max() - sizes.min() <= 16, factors
    assert items.group_by("construction", "cell").len()["len"].to_list() == [30] * 16
    assert items["template"].n_unique() == items["frame"].n_unique() == 30


def test_seeds_differ_and_repeat():
    """The same seed draws the same items, another one others."""
    one, again, other = (set(sample(REQUESTS, SUITE, 64, seed)["item"]) for seed in (1, 1, 2))
    assert one == again != other


def test_a_limit_above_all_items_takes_all():
    """Nothing is lost and nothing repeated."""
    assert sample(REQUESTS, SUITE, 10**9).equals(REQUESTS)


def test_a_limit_of_nothing_is_refused():
    """0 items leave nothing to score."""
    with pytest.raises(GlossemeError, match="leaves nothing"):
        sample(pl.DataFrame(), SUITE, 0)
