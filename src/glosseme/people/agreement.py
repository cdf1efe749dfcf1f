"""How far raters agree who ranked the same options."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl

__all__ = ["agreement", "krippendorff_ordinal"]


def agreement(ranks: pl.DataFrame) -> pl.DataFrame:
    """Return the agreement of raters in each task that two of them or more have ranked.

    `ranks` has rater, task, group, option, rank (Int64). Columns: task, raters, groups, spearman (the mean over
    pairs of raters and groups of the correlation of their ranks), equal_first (the share of these in which both
    put the same option first), alpha (Krippendorff's for ordinal data, over all options).
    """
    rows = []
    for part in ranks.partition_by("task", maintain_order=True):
        wide = part.pivot("rater", index=["group", "option"], values="rank", maintain_order=True)
        raters = [name for name in wide.columns if name not in ("group", "option")]
        if len(raters) < 2:
            continue
        groups = [g.select(raters).to_numpy().astype(np.float64) for g in wide.partition_by("group")]
        pairs = [(group[:, a], group[:, b]) for group in groups for a, b in combinations(range(len(raters)), 2)]
        rows.append(
            {
                "task": part["task"][0],
                "raters": len(raters),
                "groups": len(groups),
                "spearman": float(np.mean([_spearman(a, b) for a, b in pairs])),
                "equal_first": float(np.mean([np.argmin(a) == np.argmin(b) for a, b in pairs])),
                "alpha": krippendorff_ordinal(wide.select(raters).to_numpy().astype(np.float64)),
            }
        )
    numbers = {"spearman": pl.Float64, "equal_first": pl.Float64, "alpha": pl.Float64}
    return pl.DataFrame(rows, schema={"task": pl.String, "raters": pl.Int64, "groups": pl.Int64, **numbers})


def _spearman(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    """Return Spearman's correlation of two rankings without ties: 1 - 6 sum d^2 / (n (n^2 - 1))."""
    n = len(a)
    return 1 - 6 * float(((a - b) ** 2).sum()) / (n * (n**2 - 1))


def krippendorff_ordinal(ratings: npt.NDArray[np.float64]) -> float | None:
    """Return Krippendorff's alpha for ordinal data, None where it isn't defined.

    `ratings` has shape (units, raters), NaN where a rater gave none. Alpha is 1 - D_o / D_e with the squared metric
    (sum of n_g for g from c to k, minus (n_c + n_k) / 2)^2 (Krippendorff 2011, Computing Krippendorff's
    Alpha-Reliability).

    >>> krippendorff_ordinal(np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]))
    1.0
    """
    values = np.unique(ratings[~np.isnan(ratings)])
    counts = np.stack([(ratings == value).sum(axis=1) for value in values], axis=1).astype(np.float64)
    counts = counts[counts.sum(axis=1) > 1]
    sizes = counts.sum(axis=1)
    coincidences = np.einsum("uc,uk,u->ck", counts, counts, 1 / (sizes - 1))
    coincidences -= np.diag((counts / (sizes - 1)[:, None]).sum(axis=0))
    totals = counts.sum(axis=0)
    # n_c / 2 + the counts between + n_k / 2, as a difference of two places on one scale.
    place = np.cumsum(totals) - totals / 2
    distance = (place[:, None] - place[None, :]) ** 2
    expected = float((np.outer(totals, totals) * distance).sum())
    if expected == 0:
        return None
    return 1 - float(totals.sum() - 1) * float((coincidences * distance).sum()) / expected
