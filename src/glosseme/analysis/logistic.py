"""The same at the level of items: a logistic model with crossed random effects of model and frame."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl
from scipy import sparse, stats
from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM

from glosseme.analysis.curves import judged_items
from glosseme.analysis.facts import Facts, facts_of_run
from glosseme.analysis.intervals import LEVEL
from glosseme.analysis.mixed import coded, formula, usable
from glosseme.errors import WORK_FAILED, GlossemeError
from glosseme.runs.folder import Run

__all__ = ["LogisticFit", "LogisticTerm", "fit_items", "items_of_models"]

Floats = np.ndarray[Any, np.dtype[np.float64]]
Codes = np.ndarray[Any, np.dtype[np.int64]]

_FIXED_PRIOR_SD: Final = 2.0
_COMPONENT_PRIOR_SD: Final = 1.0


@dataclass(frozen=True, slots=True)
class LogisticTerm:
    """A fixed effect on the scale of log odds."""

    term: str
    estimate: float
    """The mean of the posterior's normal approximation."""
    sd: float
    """Its standard deviation."""
    low: float
    """With `high` the interval that holds 95% of it."""
    high: float


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """An approximate posterior."""

    formula: str
    predictors: tuple[str, ...]
    terms: list[LogisticTerm]
    sd: dict[str, float]
    """The standard deviations of the random effects, in log odds, at the posterior mean of their logarithms."""
    n: int
    """Items of all models."""
    n_models: int
    n_frames: int
    ties: int
    """Items with a tie, which have neither a right nor a wrong answer and are left out."""
    left_out: tuple[str, ...]
    converged: bool
    notes: tuple[str, ...]


def items_of_models(runs: Sequence[Run], own: Mapping[str, Facts] | None = None) -> pl.DataFrame:
    """Return one row for each run and judged item: model, frame, correct, and what is known of the model.

    `frame` is the suite's factor of this name, or else the one whose items aren't independent.
    """
    rows = []
    for run in runs:
        items = judged_items(run)
        frame = "frame" if "frame" in items.columns else str(run.record["suite"]["cluster"])
        facts = facts_of_run(run, own)
        rows.append(
            items.filter(pl.col("correct").is_not_null()).select(
                pl.lit(str(run.record["identity"]["model"])).alias("model"),
                pl.col(frame).cast(pl.String).alias("frame"),
                "correct",
                pl.lit(facts.tokens, pl.Float64).alias("tokens"),
                pl.lit(facts.parameters, pl.Float64).alias("parameters"),
                pl.lit(facts.objective, pl.String).alias("objective"),
            )
        )
    return pl.concat(rows) if rows else pl.DataFrame()


def fit_items(table: pl.DataFrame, predictors: Sequence[str]) -> LogisticFit:
    """Return a logistic fit of correct ~ predictors + (1 | model) + (1 | frame), one observation an item.

    It is Bayesian and approximate: the posterior means are variational ones of statsmodels' BinomialBayesMixedGLM, with
    normal priors, of sd 2 on fixed effects (of centred predictors) and of sd 1 on the logarithms of the random effects'
    standard deviations. Variational standard deviations leave out that fixed and random effects are correlated, and are
    far too small for what differs between models; those given are of the posterior's curvature at the means (Laplace),
    with the random effects' standard deviations as estimated. `table` is what `items_of_models` returns. Raises
    `GlossemeError` where the models are too few or don't differ.
    """
    decided, left_out, varied, wrong = usable(table.filter(pl.col("correct").is_in([0.0, 1.0])), predictors)
    if wrong:
        raise GlossemeError(
            wrong, todo="run more models, or give what is known of them with --facts", exit_code=WORK_FAILED
        )
    x, names = coded(decided, varied, centred=True)
    y = decided["correct"].to_numpy()
    if not decided.height or np.ptp(y) == 0 or np.linalg.matrix_rank(x) < x.shape[1]:
        raise GlossemeError("the items are all alike, or don't tell the predictors apart", exit_code=WORK_FAILED)
    random = [decided[name].cast(pl.Categorical).to_physical().to_numpy() for name in ("model", "frame")]
    random = [np.unique(codes, return_inverse=True)[1] for codes in random]
    mean, sds, components, converged = _posterior(y, x, random)
    half = float(stats.norm.ppf(0.5 + LEVEL / 2))
    terms = [
        LogisticTerm(name, m, sd, m - half * sd, m + half * sd)
        for name, m, sd in zip(names, map(float, mean), map(float, sds), strict=True)
    ]
    notes = [f"{name} does not differ between the models and is left out" for name in predictors if name not in varied]
    notes += [] if converged else ["not converged: the optimiser stopped before the mode"]
    return LogisticFit(
        formula(varied, ("model", "frame")).replace("accuracy", "logit P(correct)"),
        tuple(predictors),
        terms,
        dict(zip(("model", "frame"), map(float, components), strict=True)),
        decided.height,
        decided["model"].n_unique(),
        decided["frame"].n_unique(),
        int(table.drop_nulls(list(predictors)).height) - decided.height,
        left_out,
        converged,
        tuple(notes),
    )


def _posterior(y: Floats, x: Floats, random: Sequence[Codes]) -> tuple[Floats, Floats, Floats, bool]:
    """Return the fixed effects' means and standard deviations, the components, and whether the optimiser converged."""
    n, k = x.shape
    effects = [sparse.csr_matrix((np.ones(n), (np.arange(n), codes))) for codes in random]
    z = sparse.hstack(effects).tocsr()
    ident = np.repeat(np.arange(len(effects)), [e.shape[1] for e in effects])
    model = BinomialBayesMixedGLM(y, x, z, ident, vcp_p=_COMPONENT_PRIOR_SD, fe_p=_FIXED_PRIOR_SD)
    size = k + len(effects) + z.shape[1]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        # Without a start of its own, statsmodels draws one at random.
        found = model.fit_vb(mean=np.zeros(size), sd=np.full(size, 0.3))
    components = np.exp(np.asarray(found.vcp_mean))
    chance = 1 / (1 + np.exp(-(x @ found.fe_mean + z @ found.vc_mean)))
    design = sparse.hstack([sparse.csr_matrix(x), z]).tocsr()
    weighted = design.multiply((chance * (1 - chance))[:, None]).tocsr()
    prior = np.concatenate([np.full(k, _FIXED_PRIOR_SD**-2), components[ident] ** -2.0])
    covariance = np.linalg.inv((design.T @ weighted).toarray() + np.diag(prior))
    converged = not any("converge" in str(w.message).lower() for w in said)
    return np.asarray(found.fe_mean), np.sqrt(np.diag(covariance)[:k]), components, converged
