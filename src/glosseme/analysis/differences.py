"""Do two abilities grow at the same steps? Rank correlations of the first differences of learning curves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations, product
from typing import Any, Final

import numpy as np
import polars as pl
from scipy import stats

from glosseme.analysis.intervals import LEVEL
from glosseme.analysis.multiple import holm
from glosseme.errors import GlossemeError, nearest

__all__ = ["CONVENTIONS", "DIFFERENCE_COLUMNS", "FEWEST", "correlation", "differences", "steps_apart"]

CONVENTIONS: Final = ("exact", "scivetti2026")
FEWEST: Final = 4
"""Differences and checkpoints below which nothing is said."""
DIFFERENCE_COLUMNS: Final = {
    **dict.fromkeys(("model", "a", "b"), pl.String),
    **dict.fromkeys(("rho", "low", "high", "p"), pl.Float64),
    "n": pl.Int64,
    **dict.fromkeys(("p_holm", "rho_ties"), pl.Float64),
    "left_out": pl.Int64,
    "reason": pl.String,
}

_MAIN: Final = ("semantics plausible", "semantics implausible", "syntax", "blimp", "comps", "ewok")
_MEANINGS: Final = ("semantics", "semantics plausible", "semantics implausible")
_CONSTRUCTIONS: Final = ("let alone", "much less", "never mind", "not to mention")
_EQUAL: Final = 1e-9
"""Differences of shares that are closer than this differ by rounding only."""
_MOST_ENUMERATED: Final = 7

Floats = np.ndarray[Any, np.dtype[np.float64]]


def differences(curves: pl.DataFrame, convention: str = "exact") -> pl.DataFrame:
    """Return the correlation of the first differences of two curves for each pair of a model's curves.

    `curves` is what `curves_of_runs` returns, each checkpoint once; those without a step are not used. Pairs are of
    the main curves with each other, of EWoK's domains with the curves of meaning, and of constructions with each
    other and with their own syntax; `a` comes before `b` in this order. The columns are `DIFFERENCE_COLUMNS`: `rho`
    with its 95% interval `low` and `high` and its `p` over `n` differences (see `correlation`), `p_holm` adjusted for
    all pairs of the model (Holm 1979), `left_out` the checkpoints that one of the curves lacks, and the `reason` for
    what is null.

    Shares of one set of items often differ by exactly the same, and floating point tells such differences apart. In
    curves with counts (`n`) differences that are equal to 1e-9 are ties; published figures, which have none, are taken
    as they stand, as the authors did, and `rho_ties` is their correlation with ties.

    Raises `GlossemeError` for an unknown convention.
    """
    if convention not in CONVENTIONS:
        raise GlossemeError(f"there is no convention {convention!r}", todo=nearest(convention, CONVENTIONS))
    rows: list[dict[str, Any]] = []
    for part in curves.filter(pl.col("step").is_not_null()).partition_by("model", maintain_order=True):
        points = {
            str(curve): dict(table.select("step", "estimate").drop_nulls().rows())
            for (curve,), table in part.partition_by("curve", as_dict=True, maintain_order=True).items()
        }
        counted = part["n"].null_count() == 0
        found = [_pair(points, a, b, convention, counted) for a, b in _pairs(list(points))]
        adjusted = holm([row["p"] for row in found])
        rows += [{"model": part["model"][0], **row, "p_holm": p} for row, p in zip(found, adjusted, strict=True)]
    return pl.DataFrame(rows, schema=DIFFERENCE_COLUMNS)


def steps_apart(a: Sequence[float], b: Sequence[float], convention: str = "exact") -> tuple[Floats, Floats]:
    """Return the first differences of two curves of shares, n - 1 of n checkpoints.

    Under `scivetti2026` they are in percentage points and the first checkpoint keeps a row: Scivetti et al. (2026)
    standardise the differences and set the first, which has none, to z = 0. That is the mean difference, and since
    ranks do not change by standardising, it stands here as the mean.

    >>> [list(map(float, d)) for d in steps_apart([0.5, 0.75, 1.0], [0.5, 0.5, 0.75])]
    [[0.25, 0.25], [0.0, 0.25]]
    """
    if convention == "exact":
        return np.diff(np.asarray(a, dtype=float)), np.diff(np.asarray(b, dtype=float))
    in_points = (np.diff(100 * np.asarray(curve, dtype=float)) for curve in (a, b))
    first, second = (np.concatenate([[d.mean()], d]) if d.size else d for d in in_points)
    return first, second


def correlation(x: Floats, y: Floats) -> tuple[float, float | None, float | None, float]:
    """Return Spearman's rho of two samples with its 95% interval and the p value of no correlation.

    The interval is Fisher's z with the variance (1 + rho^2 / 2) / (n - 3) of Bonett and Wright (2000), null where the
    ranks agree wholly. The p value is two-sided: of all permutations up to 7 values, of Student's t with n - 2 degrees
    of freedom above (Kendall and Stuart), never less than 2 / n!, what the most extreme of the permutations has. All of
    them take the values as exchangeable. At least four values, not all alike.

    >>> rho, low, high, p = correlation(np.array([1.0, 2, 3, 4, 5]), np.array([1.0, 3, 2, 5, 4]))
    >>> round(rho, 3), round(p, 3)
    (0.8, 0.133)
    """
    ranks_x, ranks_y = (stats.rankdata(v) - (len(v) + 1) / 2 for v in (x, y))
    n, scale = len(x), math.sqrt(float(ranks_x @ ranks_x) * float(ranks_y @ ranks_y))
    rho = max(-1.0, min(1.0, float(ranks_x @ ranks_y) / scale))
    if n <= _MOST_ENUMERATED:
        every = np.array(list(permutations(ranks_y))) @ ranks_x / scale
        p = float((np.abs(every) >= abs(rho) - _EQUAL).mean())
    else:
        t = abs(rho) * math.sqrt((n - 2) / max(1 - rho**2, _EQUAL))
        p = max(2 * float(stats.t.sf(t, n - 2)), 2 / math.factorial(n))
    if abs(rho) > 1 - _EQUAL:
        return rho, None, None, p
    half = float(stats.norm.ppf(0.5 + LEVEL / 2)) * math.sqrt((1 + rho**2 / 2) / (n - 3))
    return rho, math.tanh(math.atanh(rho) - half), math.tanh(math.atanh(rho) + half), p


def _pair(points: Mapping[str, dict[int, float]], a: str, b: str, convention: str, counted: bool) -> dict[str, Any]:
    first, second = points[a], points[b]
    steps = sorted(first.keys() & second.keys())
    x, y = steps_apart([first[s] for s in steps], [second[s] for s in steps], convention)
    row: dict[str, Any] = {"a": a, "b": b, **dict.fromkeys(("rho", "low", "high", "p", "rho_ties"))}
    row |= {"n": len(x), "left_out": len(first.keys() | second.keys()) - len(steps), "reason": None}
    constant = [name for name, values in ((a, x), (b, y)) if values.size and np.ptp(values) < _EQUAL]
    if len(x) < FEWEST:
        return row | {"reason": f"fewer than {FEWEST} differences"}
    if constant:
        return row | {"reason": f"the differences of {constant[0]} are all equal"}
    tied_x, tied_y = _tied(x), _tied(y)
    ties = correlation(tied_x, tied_y)
    rho, low, high, p = ties if counted else correlation(x, y)
    reason = "the ranks agree wholly, which has no interval" if low is None else None
    return row | {"rho": rho, "low": low, "high": high, "p": p, "rho_ties": ties[0], "reason": reason}


def _tied(values: Floats) -> Floats:
    """Return values of which those that differ by rounding only are equal."""
    order = np.argsort(values)
    gaps = np.diff(values[order]) > _EQUAL
    tied = np.empty_like(values)
    tied[order] = np.concatenate([[0], np.cumsum(gaps)])
    return tied


def _pairs(curves: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of curves that are asked about, in their order."""
    domains = [name for name in curves if name.startswith("ewok ")]
    # The whole of a suite that isn't in the papers is a main curve too.
    others = [name for name in curves if " " not in name and name not in (*_MAIN, *_MEANINGS)]
    main = [*_MAIN, *others]
    wanted = [("semantics", name) for name in main[2:]]
    wanted += list(combinations(main, 2))
    wanted += list(product(_MEANINGS, domains))
    for of in ("semantics", "syntax"):
        wanted += list(combinations((f"{of} {name}" for name in _CONSTRUCTIONS), 2))
    wanted += [(f"semantics {name}", f"syntax {name}") for name in _CONSTRUCTIONS]
    yield from ((a, b) for a, b in wanted if a in curves and b in curves)
