"""The linear mixed model with a random intercept: fitted by REML, with Satterthwaite's degrees of freedom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy import optimize, stats
from statsmodels.tools.numdiff import approx_fprime, approx_hess3

from glosseme.analysis.intervals import LEVEL

__all__ = ["Fit", "Term", "fit_random_intercept"]

Floats = np.ndarray[Any, np.dtype[np.float64]]

_SINGULAR: Final = 1e-4
"""The ratio of the groups' to the residual standard deviation that is none (lme4's tolerance of isSingular)."""


@dataclass(frozen=True, slots=True)
class Term:
    """A fixed effect: in units of y for one unit of its predictor."""

    term: str
    estimate: float
    se: float
    low: float
    """With `high` the 95% interval."""
    high: float
    statistic: float
    """Student's t."""
    df: float
    """Its degrees of freedom."""
    p: float


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted model."""

    terms: list[Term]
    sd_group: float
    """The standard deviation of the groups' intercepts, in units of y."""
    sd_residual: float
    n: int
    n_groups: int
    converged: bool
    """Whether a maximum of the criterion was found inside the range searched."""
    singular: bool
    """Whether the groups' standard deviation is estimated as none."""


def fit_random_intercept(y: Floats, x: Floats, groups: Sequence[str], names: Sequence[str]) -> Fit:
    """Return the fit of y ~ x + (1 | group) by restricted maximum likelihood.

    `y` has n values, `x` a column for each name (the intercept's ones too), full rank and fewer than n, `groups` a
    name for each value, at least two of them. The criterion is profiled (Bates et al. 2015, eq. 42), so that it has
    one unknown, the ratio of the standard deviations; it is searched from 0 to 10,000. t tests have Satterthwaite's
    degrees of freedom: 2 f^2 / (g' A g) for the variance f of an estimate, its gradient g in the variance components
    and their asymptotic covariance A (Kuznetsova et al. 2017, eq. 4). At a ratio of 0 the fit is ordinary least
    squares with n - p degrees of freedom, and said to be singular.

    >>> y = np.array([1.0, 2, 4, 3, 4, 5, 2, 3, 3])
    >>> fit = fit_random_intercept(y, np.array([[1.0, i % 3] for i in range(9)]), list("aaabbbccc"), ["one", "slope"])
    >>> [round(term.estimate, 3) for term in fit.terms], round(fit.sd_group, 3), round(fit.sd_residual, 3)
    ([2.0, 1.0], 0.83, 0.516)
    """
    sums = _Sums(y, x, np.unique(np.asarray(groups), return_inverse=True)[1])
    ratio, converged = _ratio(sums)
    singular = ratio < _SINGULAR
    ratio = 0.0 if singular else ratio
    beta, scale, _ = sums.solve(ratio)
    covariance = scale * np.linalg.inv(sums.information(ratio))
    freedom = np.full(len(beta), float(len(y) - len(beta))) if singular else _satterthwaite(sums, ratio, scale)
    terms = [
        _term(name, float(b), float(np.sqrt(v)), float(df))
        for name, b, v, df in zip(names, beta, np.diag(covariance), freedom, strict=True)
    ]
    sd = float(np.sqrt(scale))
    return Fit(terms, ratio * sd, sd, len(y), len(sums.sizes), converged, singular)


class _Sums:
    """The sums over groups from which the criterion and the estimates follow at every ratio."""

    def __init__(self, y: Floats, x: Floats, index: np.ndarray[Any, np.dtype[np.int64]]) -> None:
        self.n, self.k = x.shape
        self.sizes = np.bincount(index).astype(float)
        self._xx, self._xy, self._yy = x.T @ x, x.T @ y, float(y @ y)
        self._x = np.zeros((len(self.sizes), self.k))
        np.add.at(self._x, index, x)
        self._y = np.bincount(index, weights=y)

    def _weights(self, ratio: float) -> Floats:
        # The inverse of I + r^2 J of a group of m is I - r^2 / (1 + m r^2) J.
        return np.asarray(ratio**2 / (1 + self.sizes * ratio**2))

    def information(self, ratio: float) -> Floats:
        """Return X' V^-1 X times the residual variance."""
        return np.asarray(self._xx - (self._x * self._weights(ratio)[:, None]).T @ self._x)

    def solve(self, ratio: float) -> tuple[Floats, float, float]:
        """Return the fixed effects, the residual variance by REML, and the weighted residual sum of squares."""
        w = self._weights(ratio)
        xy = self._xy - self._x.T @ (w * self._y)
        yy = self._yy - float(self._y @ (w * self._y))
        beta: Floats = np.linalg.solve(self.information(ratio), xy).astype(float)
        rss = max(yy - float(beta @ xy), 1e-300)
        return beta, rss / (self.n - self.k), rss

    def deviance(self, ratio: float, variance: float | None = None) -> float:
        """Return -2 log REML but for a constant, at the best residual variance where none is given."""
        _, best, rss = self.solve(ratio)
        scale = best if variance is None else variance
        logs = float(np.log1p(self.sizes * ratio**2).sum()) + float(np.linalg.slogdet(self.information(ratio))[1])
        return float(logs + (self.n - self.k) * np.log(scale) + rss / scale)


def _ratio(sums: _Sums) -> tuple[float, bool]:
    """Return the ratio of the standard deviations at the maximum, and whether it is one inside the range searched."""
    grid = np.concatenate([[0.0], np.logspace(-4, 4, 81)])
    place = int(np.argmin([sums.deviance(ratio) for ratio in grid]))
    inside = place < len(grid) - 1
    low, high = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
    found = optimize.minimize_scalar(sums.deviance, bounds=(low, high), method="bounded", options={"xatol": 1e-10})
    best = float(found.x) if found.fun <= sums.deviance(float(grid[place])) else float(grid[place])
    return best, bool(found.success) and inside


def _satterthwaite(sums: _Sums, ratio: float, scale: float) -> Floats:
    """Return the degrees of freedom of each fixed effect; the components are taken as logarithms of variances."""

    def apart(logs: Floats) -> tuple[float, float]:
        return float(np.exp((logs[0] - logs[1]) / 2)), float(np.exp(logs[1]))

    def deviance(logs: Floats) -> float:
        return sums.deviance(*apart(logs))

    def variances(logs: Floats) -> Floats:
        at, variance = apart(logs)
        return np.asarray(variance * np.diag(np.linalg.inv(sums.information(at))))

    best = np.log(np.array([ratio**2 * scale, scale]))
    covariance = 2 * np.linalg.inv(approx_hess3(best, deviance))
    gradient = approx_fprime(best, variances, centered=True)
    spread = np.einsum("ij,jk,ik->i", gradient, covariance, gradient)
    return np.asarray(2 * variances(best) ** 2 / spread)


def _term(name: str, estimate: float, se: float, df: float) -> Term:
    t = estimate / se
    half = float(stats.t.ppf(0.5 + LEVEL / 2, df)) * se
    return Term(name, estimate, se, estimate - half, estimate + half, t, df, 2 * float(stats.t.sf(abs(t), df)))
