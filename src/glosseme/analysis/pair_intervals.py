"""Differences between many models on the same items, as arrays: what `pairs` says of each two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import stats

from glosseme.analysis.intervals import LEVEL

__all__ = ["Differences", "differences_from", "interval_of_means", "interval_of_shares", "pairs_of"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_NOTHING: Final = 1e-12
_BLOCK: Final = 32
"""So many models at a time are compared with one."""


@dataclass(frozen=True, slots=True)
class Differences:
    """Sums over the items that two models share, an array over the pairs; undefined is NaN."""

    estimate: Floats
    square: Floats
    """The mean of the squared differences."""
    error: Floats
    """The cluster-robust standard error of the mean; NaN where clusters don't vary or there is but one."""
    n: Ints
    n_clusters: Ints
    first: Floats
    """The mean of the first model."""
    second: Floats
    only_first: Ints
    only_second: Ints


def differences_from(first: Floats, others: Floats, clusters: Ints) -> Differences:
    """Return the differences of one model from others.

    `first` has a value for each item (NaN for none), `others` a row an item and a column a model, `clusters` numbers
    the clusters; equal ones stand together. The standard error is that of `intervals.mean`.
    """
    known, known_first = ~np.isnan(others), ~np.isnan(first)[:, None]
    both = known & known_first
    difference = np.where(both, first[:, None] - others, 0.0)
    starts = np.flatnonzero(np.diff(clusters, prepend=-1))
    sizes, sums = (np.add.reduceat(of, starts, axis=0, dtype=np.float64) for of in (both, difference))
    n, k = both.sum(axis=0), (sizes > 0).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = difference.sum(axis=0) / n
        variance = k / (k - 1) * ((sums - sizes * estimate) ** 2).sum(axis=0) / n**2
        error = np.sqrt(variance)
        means = [np.where(both, of, 0.0).sum(axis=0) / n for of in (first[:, None], others)]
        square = (difference**2).sum(axis=0) / n
    varies = (k > 1) & (error > _NOTHING * np.abs(difference).max(axis=0, initial=0.0))
    error = np.where(varies, error, np.nan)
    only = [(~known & known_first).sum(axis=0), (known & ~known_first).sum(axis=0)]
    return Differences(estimate, square, error, n, k, means[0], means[1], only[0], only[1])


def interval_of_shares(found: Differences) -> tuple[Floats, Floats, Floats]:
    """Return low, high and p of the means of differences between right and wrong, see `pairs.paired_shares`."""
    n, k, estimate = found.n.astype(np.float64), found.n_clusters, found.estimate
    t_items, t_clusters = (stats.t.ppf(0.5 + LEVEL / 2, np.maximum(count - 1, 1)) for count in (n, k))
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (found.square - estimate**2) / (n - 1)
        effect = np.where(spread > _NOTHING, np.nan_to_num(found.error) ** 2 / spread, n / k)
        size = np.minimum(n, n / np.maximum(effect, _NOTHING) * (t_items / t_clusters) ** 2)
        centre = estimate * size / (size + 2)
        variance = ((found.square * size + 2) / (size + 2) - centre**2) / (size + 2)
        deviation = np.sqrt(variance)
        half = float(stats.norm.ppf(0.5 + LEVEL / 2)) * deviation
        p = np.minimum(1.0, 2 * stats.norm.sf(np.abs(centre) / deviation))
    low, high, p = (np.where(k > 1, of, np.nan) for of in (centre - half, centre + half, p))
    return np.maximum(-1.0, low), np.minimum(1.0, high), p


def interval_of_means(found: Differences) -> tuple[Floats, Floats, Floats]:
    """Return low, high and p of the means of differences without bounds: cluster-robust t intervals and tests."""
    free = np.maximum(found.n_clusters - 1, 1)
    half = stats.t.ppf(0.5 + LEVEL / 2, free) * found.error
    p = 2 * stats.t.sf(np.abs(found.estimate) / found.error, free)
    return found.estimate - half, found.estimate + half, p


def pairs_of(values: Floats, clusters: Ints) -> Iterator[tuple[int, int, Differences]]:
    """Yield the differences of each model from those after it: its place, the first other's place, the differences.

    `values` has a row an item and a column a model, `clusters` numbers the clusters in any order.
    """
    order = np.argsort(clusters, kind="stable")
    values, clusters = values[order], clusters[order]
    for place in range(values.shape[1]):
        # A block of models at a time, so that many models on many items fit into memory.
        for start in range(place + 1, values.shape[1], _BLOCK):
            yield place, start, differences_from(values[:, place], values[:, start : start + _BLOCK], clusters)
