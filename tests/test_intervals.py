"""Intervals against closed forms, sums by hand, and their coverage in simulated clusters."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from glosseme.analysis.intervals import mean, proportion

Z = stats.norm.ppf(0.975)


def wilson(p: float, n: float) -> list[float]:
    """The two x at which (p - x)^2 = z^2 x (1 - x) / n."""
    return sorted(np.roots([1 + Z**2 / n, -2 * p - Z**2 / n, p**2]).real)


def frame(x: list[float | None], cluster: list[object] | None = None) -> pl.DataFrame:
    return pl.DataFrame({"x": pl.Series(x, dtype=pl.Float64), "c": cluster or list(range(len(x)))}, strict=False)


@pytest.mark.parametrize(("right", "n"), [(1, 2), (9, 20), (19, 20), (20, 20), (0, 7), (990, 1000), (1773, 3546)])
def test_items_on_their_own_get_wilsons_interval(right, n):
    exact = stats.binomtest(right, n).proportion_ci(method="wilson")
    for cluster in (None, "c"):
        row = proportion(frame([1.0] * right + [0.0] * (n - right)), "x", cluster).row(0, named=True)
        assert row["estimate"] == right / n
        assert (row["low"], row["high"]) == pytest.approx((exact.low, exact.high), abs=1e-12)
        assert (row["n"], row["n_clusters"]) == (n, n)


def test_clustered_proportion_by_hand():
    row = proportion(frame([1, 1, 0, 1, 0, 0, 1, 1], list("aabbccdd")), "x", "c").row(0, named=True)
    # Residuals of the clusters .75, -.25, -1.25, .75; K / (K - 1) = 4 / 3; of independent items p (1 - p) / (n - 1).
    robust = (4 / 3) * 2.75 / 64 / ((5 / 8) * (3 / 8) / 7)
    # The wrong answers are 0, 1, 2, 0: they come from (1 + 2)^2 / (1 + 4) clusters. Complete dependence is 16 / 8.
    deff = (robust * 1.8 + 2 * 0.5) / 2.3
    size = 8 / deff * (2.3646243 / 3.1824463) ** 2
    assert (row["low"], row["high"]) == pytest.approx(wilson(5 / 8, size), abs=1e-7)
    assert (row["estimate"], row["n"], row["n_clusters"]) == (0.625, 8, 4)


def test_clustered_mean_by_hand():
    row = mean(frame([1, 2, 3, 6], list("aabc")), "x", "c").row(0, named=True)
    # Residuals of the clusters -3, 0, 3; variance 3 / 2 * 18 / 16; t with 2 degrees of freedom.
    half = 4.3026527 * (1.5 * 18 / 16) ** 0.5
    assert (row["estimate"], row["low"], row["high"]) == pytest.approx((3, 3 - half, 3 + half))
    assert (row["n"], row["n_clusters"]) == (4, 3)


def test_items_on_their_own_get_students_interval():
    x = np.random.default_rng(3).normal(size=30)
    exact = stats.ttest_1samp(x, 0).confidence_interval()
    row = mean(frame(list(x)), "x").row(0, named=True)
    assert (row["low"], row["high"]) == pytest.approx((exact.low, exact.high))


@pytest.mark.parametrize("right", [0.0, 1.0])
@pytest.mark.parametrize("graded", [False, True])
def test_all_alike_counts_each_cluster_once_and_has_a_width(right, graded):
    row = proportion(frame([right] * 40, [i // 4 for i in range(40)]), "x", "c", graded=graded).row(0, named=True)
    low, high = wilson(right, 10 * (stats.t.ppf(0.975, 39) / stats.t.ppf(0.975, 9)) ** 2)
    assert (row["low"], row["high"]) == pytest.approx((low, high), abs=1e-9)
    assert row["high"] - row["low"] > 0.2


def test_halves_alone_have_the_width_of_right_or_wrong_answers():
    row = proportion(frame([0.5] * 100), "x").row(0, named=True)
    assert (row["estimate"], row["low"], row["high"]) == pytest.approx((0.5, *wilson(0.5, 100)))


def test_answers_that_cancel_within_clusters_are_never_narrower_than_independent_ones():
    x, cluster = [1.0, 0.0] * 200, [i // 2 for i in range(400)]
    row = proportion(frame(x, cluster), "x", "c").row(0, named=True)
    assert (row["low"], row["high"]) == pytest.approx(wilson(0.5, 400))


def test_graded_values_use_their_own_variance():
    x = list(np.random.default_rng(2).beta(20, 10, size=500))
    graded = proportion(frame(x), "x", graded=True).row(0, named=True)
    plain = proportion(frame(x), "x").row(0, named=True)
    student = stats.ttest_1samp(x, 0).confidence_interval()
    assert graded["high"] - graded["low"] == pytest.approx(student.high - student.low, rel=0.05)
    assert plain["high"] - plain["low"] > 3 * (graded["high"] - graded["low"])


@pytest.mark.parametrize("interval", [proportion, mean])
@pytest.mark.parametrize(
    ("x", "cluster", "estimate"),
    [([1.0], ["a"], 1.0), ([1.0, 0.0, 0.5], ["a", "a", "a"], 0.5), ([None, None], ["a", "b"], None)],
)
def test_without_two_clusters_there_is_no_interval(interval, x, cluster, estimate):
    row = interval(frame(x, cluster), "x", "c").row(0, named=True)
    assert (row["estimate"], row["low"], row["high"]) == (estimate, None, None)
    assert row["n"] == sum(v is not None for v in x)


@pytest.mark.parametrize("x", [[0.1] * 9, [0.0] * 9])
def test_a_mean_without_variance_has_no_interval(x):
    row = mean(frame(x), "x").row(0, named=True)
    assert row["estimate"] == pytest.approx(x[0])
    assert (row["low"], row["high"]) == (None, None)


@pytest.mark.parametrize("interval", [proportion, mean])
def test_values_that_are_null_do_not_count(interval):
    with_nulls = frame([1.0, None, 0.0, 1.0, None], list("aabcd"))
    without = frame([1.0, 0.0, 1.0], list("abc"))
    assert interval(with_nulls, "x", "c").equals(interval(without, "x", "c"))


@pytest.mark.parametrize("interval", [proportion, mean])
def test_groups_are_what_they_are_alone_and_come_as_they_appear(interval):
    items = pl.DataFrame(
        {
            "g": ["z", None, "z", "a", "a", None, "z", "a"],
            "x": [1.0, 1, 0, 0, 1, 0, 1, 0],
            "c": [1, 1, 2, 1, 2, 2, 2, 3],
        }
    )
    table = interval(items, "x", "c", ["g"])
    assert table.columns == ["g", "estimate", "low", "high", "n", "n_clusters"]
    assert table["g"].to_list() == ["z", None, "a"]
    for row in table.iter_rows(named=True):
        alone = items.filter(pl.col("g").eq_missing(pl.lit(row.pop("g"))))
        assert interval(alone, "x", "c").row(0, named=True) == row


def simulate(seed: int, clusters: int, size: int, p: float, icc: float, draws: int) -> pl.DataFrame:
    """Beta-binomial samples: the chance of a right answer varies between clusters."""
    rng = np.random.default_rng(seed)
    concentration = (1 - icc) / icc
    chance = rng.beta(p * concentration, (1 - p) * concentration, size=(draws, clusters))
    right = rng.binomial(size, chance)
    x = (np.arange(size) < right[..., None]).astype(np.float64)
    return pl.DataFrame(
        {
            "draw": np.repeat(np.arange(draws, dtype=np.int32), clusters * size),
            "c": np.tile(np.repeat(np.arange(clusters, dtype=np.int32), size), draws),
            "x": x.ravel(),
        }
    )


@pytest.mark.parametrize("p", [0.5, 0.9, 0.99])
@pytest.mark.parametrize(("clusters", "size", "draws"), [(10, 2, 4000), (40, 5, 3000), (200, 10, 1500)])
@pytest.mark.parametrize("icc", [0.1, 0.3])
def test_coverage_of_a_clustered_proportion(clusters, size, draws, p, icc):
    table = proportion(simulate(11, clusters, size, p, icc, draws), "x", "c", ["draw"])
    covered = ((table["low"] <= p) & (table["high"] >= p)).mean()
    # Few possible outcomes make it impossible to come nearer to .95 with 20 items, or near 1.
    most = 0.97 if p < 0.99 and clusters > 10 else 0.985
    assert 0.93 <= covered <= most


@pytest.mark.parametrize("clusters", [10, 60])
def test_coverage_of_a_clustered_mean(clusters):
    rng = np.random.default_rng(4)
    draws, size = 2000, 6
    x = rng.normal(size=(draws, clusters, 1)) + rng.normal(size=(draws, clusters, size))
    index = np.indices(x.shape).reshape(3, -1)
    table = mean(pl.DataFrame({"draw": index[0], "c": index[1], "x": x.ravel()}), "x", "c", ["draw"])
    assert 0.935 <= ((table["low"] <= 0) & (table["high"] >= 0)).mean() <= 0.965
