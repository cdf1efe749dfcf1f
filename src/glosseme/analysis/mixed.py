"""Accuracy as a function of models' size, data and objective: linear mixed models with an intercept for each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from glosseme.analysis.curves import judged_items
from glosseme.analysis.facts import Facts, facts_of_run
from glosseme.analysis.random_intercept import Fit, fit_random_intercept
from glosseme.errors import WORK_FAILED, GlossemeError, nearest
from glosseme.runs.folder import Run
from glosseme.words import counted

__all__ = ["PREDICTORS", "MixedFit", "coded", "formula", "mixed_fits", "observations", "usable"]

PREDICTORS: Final = ("tokens", "parameters", "objective")
"""Facts of models by which accuracy may be predicted, the first two on a scale of log10."""

_NAMES: Final = {"tokens": "log10 tokens", "parameters": "log10 parameters", "objective": "objective"}
_FEWEST: Final = 3
"""Models without which nothing is fitted."""
_NONE: Final = 1e-6
"""Percentage points that are no difference: accuracies are shares of counts, whose differences are larger by far."""

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class MixedFit:
    """A model that was fitted, or why it was not."""

    formula: str
    predictors: tuple[str, ...]
    fit: Fit | None
    """Estimates in percentage points, for a factor of ten of tokens and parameters."""
    left_out: tuple[str, ...]
    """Models of which a predictor is not known."""
    notes: tuple[str, ...]
    """What a reader should know of the fit, or the reason why there is none."""


def observations(runs: Sequence[Run], by: str, own: Mapping[str, Facts] | None = None) -> pl.DataFrame:
    """Return one row for each run and level of the factor `by`: model, level, accuracy, n, and facts.

    The facts are tokens, parameters and objective, null where unknown. `accuracy` is in percentage points over `n`
    items. Raises `GlossemeError` for a factor that the items don't have and for a suite without accuracy.
    """
    rows = []
    for run in runs:
        items = judged_items(run)
        suite = str(run.record["identity"]["suite"])
        if "correct" not in items.columns:
            raise GlossemeError(f"items of {suite} have no accuracy", todo="choose another suite with -s")
        if by not in run.record["suite"].get("factors", items.columns) or by not in items.columns:
            factors = run.record["suite"].get("factors", [])
            raise GlossemeError(f"{suite} has no factor {by!r}", todo=nearest(by, factors))
        facts = facts_of_run(run, own)
        cells = items.group_by(pl.col(by).cast(pl.String).alias("level"), maintain_order=True).agg(
            accuracy=100 * pl.col("correct").mean(), n=pl.col("correct").count().cast(pl.Int64)
        )
        rows.append(
            cells.filter(pl.col("n") > 0).select(
                pl.lit(str(run.record["identity"]["model"])).alias("model"),
                pl.all(),
                pl.lit(facts.tokens, pl.Float64).alias("tokens"),
                pl.lit(facts.parameters, pl.Float64).alias("parameters"),
                pl.lit(facts.objective, pl.String).alias("objective"),
            )
        )
    return pl.concat(rows) if rows else pl.DataFrame()


def mixed_fits(table: pl.DataFrame, predictors: Sequence[str] = PREDICTORS) -> list[MixedFit]:
    """Return the fit of all predictors together and of each alone: accuracy ~ predictors + (1 | model), by REML.

    `table` is what `observations` returns. Models of which a predictor isn't known are left out of the fits that need
    it; a predictor without a difference between the models is left out with a note. Raises `GlossemeError` for an
    unknown predictor, and with the number of models needed where none of the fits has enough.
    """
    unknown = [name for name in predictors if name not in PREDICTORS]
    if unknown or not predictors:
        name = unknown[0] if unknown else ""
        raise GlossemeError(f"there is no predictor {name!r}", todo=nearest(name, PREDICTORS))
    wanted = tuple(dict.fromkeys(predictors))
    sets = [wanted] if len(wanted) == 1 else [wanted, *((name,) for name in wanted)]
    fits = [_fit(table, names) for names in sets]
    if not any(found.fit for found in fits):
        todo = "run more models, or give what is known of them with --facts"
        raise GlossemeError(f"not fitted: {fits[0].notes[-1]}", todo=todo, exit_code=WORK_FAILED)
    return fits


def formula(predictors: Sequence[str], effects: Sequence[str] = ("model",)) -> str:
    """Return a formula as lme4 writes it.

    >>> formula(["tokens", "objective"])
    'accuracy ~ log10 tokens + objective + (1 | model)'
    """
    return "accuracy ~ " + " + ".join([*(_NAMES[name] for name in predictors), *(f"(1 | {e})" for e in effects)])


def usable(table: pl.DataFrame, predictors: Sequence[str]) -> tuple[pl.DataFrame, tuple[str, ...], list[str], str]:
    """Return the rows with all predictors known, the models left out, the predictors that differ, and what is wrong.

    What is wrong is empty where enough models are left: three, and two more than predictors.
    """
    known = table.drop_nulls(list(predictors))
    left_out = tuple(sorted(set(table["model"]) - set(known["model"])))
    varied = [name for name in predictors if known[name].n_unique() > 1]
    need = max(_FEWEST, len(predictors) + 2)
    models = known["model"].n_unique()
    wrong = ""
    if models < need:
        wrong = f"{', '.join(predictors)}: known of {counted(models, 'model')}, and a fit needs {need}"
    elif not varied:
        wrong = f"the models don't differ in {' or '.join(predictors)}"
    return known, left_out, varied, wrong


def coded(table: pl.DataFrame, predictors: Sequence[str], *, centred: bool = False) -> tuple[Floats, list[str]]:
    """Return the columns of the fixed effects with their names: intercept, log10 of numbers, levels against the first.

    The first objective is `causal` where there is one, else the first by name.
    """
    columns, names = [np.ones(table.height)], ["intercept"]
    for name in predictors:
        if name == "objective":
            levels = sorted(set(table[name]), key=lambda level: (level != "causal", level))
            columns += [(table[name] == level).cast(pl.Float64).to_numpy() for level in levels[1:]]
            names += [f"objective {level} (not {levels[0]})" for level in levels[1:]]
        else:
            column = np.log10(table[name].to_numpy())
            columns.append(column - column.mean() if centred else column)
            names.append(_NAMES[name])
    return np.column_stack(columns), names


def _fit(table: pl.DataFrame, predictors: tuple[str, ...]) -> MixedFit:
    known, left_out, varied, wrong = usable(table, predictors)
    notes = [f"{name} does not differ between the models and is left out" for name in predictors if name not in varied]
    found = None
    if not wrong:
        x, names = coded(known, varied)
        y = known["accuracy"].to_numpy()
        if np.ptp(y) < _NONE:
            wrong = "all accuracies are equal"
        elif np.linalg.matrix_rank(x / np.abs(x).max(axis=0)) < x.shape[1] or known["model"].n_unique() <= x.shape[1]:
            wrong = f"the models don't tell {' and '.join(varied)} apart"
        elif known.height == known["model"].n_unique():
            wrong = "a model needs more than one observation"
        elif _spread_within(known) < _NONE:
            wrong = "a model's accuracies don't differ from each other: without a residual nothing can be judged"
        else:
            found, wrong = _judged(fit_random_intercept(y, x, known["model"].to_list(), names))
    if wrong:
        notes = [wrong]
    if found and found.singular:
        notes.append("singular: the models differ no more than their observations do, and the fit is least squares")
    if found and not found.converged:
        notes.append("not converged: the criterion has no maximum in the range searched")
    return MixedFit(formula(varied or predictors), predictors, found, left_out, tuple(notes))


def _spread_within(table: pl.DataFrame) -> float:
    """Return the largest difference between two accuracies of one model."""
    ranges = table.group_by("model").agg(spread=pl.col("accuracy").max() - pl.col("accuracy").min())
    return float(ranges.select(pl.col("spread").max()).item())


def _judged(fit: Fit) -> tuple[Fit | None, str]:
    """Return a fit whose errors and degrees of freedom mean something, or why there is none."""
    if fit.sd_residual < _NONE:
        return None, "predictors and intercepts tell every accuracy: without a residual nothing can be judged"
    if not all(np.isfinite([term.se, term.df]).all() and term.se > 0 and term.df > 0 for term in fit.terms):
        return None, "the criterion is too flat at its maximum for standard errors and degrees of freedom"
    return fit, ""
