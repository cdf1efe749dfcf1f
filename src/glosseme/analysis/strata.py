"""Averages that give each level of a factor the same weight, with their intervals.

The macro average over H levels (strata) is the mean of the levels' means. Levels are all there are, not a sample: what
varies is which items a level has. The variance is that of a stratified sample with equal weights (Cochran 1977,
section 5.3), V = sum_h v_h / H^2, v_h the cluster-robust variance of a level's mean (`intervals.mean`). A level with
few clusters K_h tells little of its own variance, and one with a single cluster nothing: v_h is the mean of the level's
own, with weight K_h - 1, and of what it is for items without strata, s^2 / K_h, with weight 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl
from scipy import stats

from glosseme.analysis.intervals import LEVEL, mean

__all__ = ["macro_mean", "macro_proportion"]

_COLUMNS: Final = ("estimate", "low", "high", "n", "n_clusters")
_NOTHING: Final = 1e-12
_VALUE, _SPREAD, _ALL = "__value__", "__spread__", "__macro__"


def macro_proportion(
    items: pl.DataFrame, value: str, strata: str, cluster: str | None = None, by: Sequence[str] = ()
) -> pl.DataFrame:
    """Return Wilson intervals of macro averages, over the levels of `strata`, of means of values in [0, 1].

    Columns as of `intervals.proportion`. The score interval of Wilson (1927) is taken at p (1 - p) / V items, V the
    stratified variance, as Franco et al. (2019) do for complex samples; where all is right or all is wrong, at
    H^2 / sum_h (1 / K_h). Of one level with n independent items that is Wilson's interval
    at n^2 / (n + 1).

    Coverage of the 95% interval in 2,000 simulated samples (standard error .005) of 67 levels, n independent items in
    each:

        levels' probabilities          n = 1   n = 4   n = 15   n = 100
        .5                             .944    .953    .951     .951
        drawn from beta(4, 1)          .964    .953    .956     .938
        drawn from beta(49, 1)         .953    .947    .950     .951

    >>> items = {"x": [1.0, 1.0, 1.0, 0.0], "paradigm": ["a", "a", "a", "b"]}
    >>> macro_proportion(pl.DataFrame(items), "x", "paradigm")["estimate"].item()
    0.5
    """
    groups = _groups(items, value, strata, cluster, by)
    p, v = pl.col("estimate"), pl.col("variance")
    binary = p * (1 - p)
    size = pl.when((binary > _NOTHING) & (v > 0)).then(binary / v).otherwise(pl.col("size"))
    z2 = float(stats.norm.ppf(0.5 + LEVEL / 2)) ** 2
    centre = p + z2 / (2 * size)
    half = (z2 * (binary / size + z2 / (4 * size**2))).sqrt()
    low, high = ((bound / (1 + z2 / size)).clip(0, 1) for bound in (centre - half, centre + half))
    return _interval(groups, by, low, high)


def macro_mean(
    items: pl.DataFrame, value: str, strata: str, cluster: str | None = None, by: Sequence[str] = ()
) -> pl.DataFrame:
    """Return t intervals of macro averages, over the levels of `strata`, of means of values in any unit.

    Columns as of `intervals.mean`; the degrees of freedom are the clusters less the levels, at least 1.
    """
    groups = _groups(items, value, strata, cluster, by)
    free = (groups["n_clusters"] - groups["levels"]).clip(1).to_numpy()
    t = pl.Series("t", stats.t.ppf(0.5 + LEVEL / 2, free), dtype=pl.Float64)
    half = t * groups["variance"].sqrt()
    known = pl.when(half > _NOTHING * pl.col("estimate").abs())
    return _interval(groups, by, *(known.then(pl.col("estimate") + sign * half) for sign in (-1, 1)))


def _interval(groups: pl.DataFrame, by: Sequence[str], low: pl.Expr, high: pl.Expr) -> pl.DataFrame:
    known = pl.when(pl.col("n_clusters") > 1)
    return groups.with_columns(low=known.then(low), high=known.then(high)).select(*by, *_COLUMNS)


def _groups(items: pl.DataFrame, value: str, strata: str, cluster: str | None, by: Sequence[str]) -> pl.DataFrame:
    """Return one row a group, in the order of first appearance: the macro average, its variance and sizes."""
    number = pl.col(value).cast(pl.Float64)
    keyed = items.with_columns(number.alias(_VALUE), pl.lit(0).alias(_ALL))
    whole = keyed.group_by(*by, _ALL, maintain_order=True).agg(pl.col(_VALUE).var(ddof=0).alias(_SPREAD))
    levels = mean(keyed, _VALUE, cluster, [*by, _ALL, strata])
    # The variance of a level's mean, taken back from its interval, which is null where there is none.
    t = pl.Series(stats.t.ppf(0.5 + LEVEL / 2, (levels["n_clusters"] - 1).clip(1).to_numpy()), dtype=pl.Float64)
    own = ((levels["high"] - levels["estimate"]) / t).fill_null(0) ** 2
    k = pl.col("n_clusters")
    known = levels.with_columns(own=own).filter(pl.col("n") > 0)
    weighed = known.join(whole, on=[*by, _ALL], how="left", nulls_equal=True, maintain_order="left").with_columns(
        v=((k - 1) * pl.col("own") + pl.col(_SPREAD) / k) / k
    )
    h = pl.len()
    groups = weighed.group_by(*by, _ALL, maintain_order=True).agg(
        estimate=pl.col("estimate").mean(),
        variance=pl.col("v").sum() / h**2,
        size=h**2 / (1 / k).sum(),
        n=pl.col("n").sum(),
        n_clusters=k.sum(),
        levels=h.cast(pl.Int64),
    )
    joined = whole.join(groups, on=[*by, _ALL], how="left", nulls_equal=True, maintain_order="left")
    return joined.with_columns(pl.col("n", "n_clusters", "levels").fill_null(0))
