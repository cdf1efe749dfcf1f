"""Mixed models of accuracy over runs, in a format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import polars as pl

from glosseme.analysis.facts import read_facts, unmatched
from glosseme.analysis.finals import final_runs, of_same_items
from glosseme.analysis.logistic import LogisticFit, fit_items, items_of_models
from glosseme.analysis.mixed import MixedFit, mixed_fits, observations
from glosseme.errors import GlossemeError
from glosseme.report.cells import INTERVAL, counted, plain
from glosseme.report.runs import choose_runs, left_out
from glosseme.report.statistics import as_json, block, check_format, flat
from glosseme.runs.folder import Run

__all__ = ["mixed_of_runs"]

_LINEAR: Final = ("term", "estimate", "se", INTERVAL, "statistic", "df", "p")
_LOGISTIC: Final = ("term", "estimate", "sd", INTERVAL)


def mixed_of_runs(
    root: Path,
    *,
    suite: str,
    predictors: str,
    by: str,
    facts: Path | None,
    items: bool,
    format_: str,
) -> str:
    """Return the mixed models of the finished runs of a suite, one run a model.

    `predictors` are of tokens, parameters, objective, with commas; `by` is the factor whose levels are a model's
    observations, `facts` a CSV of the user's own (see `analysis.facts.read_facts`), `items` asks for the logistic model
    of items. Raises `GlossemeError` for an unknown format, suite, factor or predictor, and for too few models.
    """
    check_format(format_)
    names = [name.strip() for name in predictors.split(",") if name.strip()]
    own = None if facts is None else read_facts(facts)
    chosen = choose_runs(root, suite)
    suites = sorted({str(run.record["identity"]["suite"]) for run in chosen.finished})
    if len(suites) > 1:
        raise GlossemeError(f"{suite!r} is several suites", todo=f"choose one of {', '.join(suites)}")
    same, notes = of_same_items(chosen.finished)
    runs, said = final_runs(same)
    notes += said
    missing = unmatched(own or {}, chosen.finished)
    notes += [f"--facts: no run here is of {', '.join(missing)}"] if missing else []
    if items:
        observations(runs[:1], by, own)
        fit = fit_items(items_of_models(runs, own), names)
        return _logistic(fit, suites[0], format_, [*notes, *left_out(chosen)])
    fits = mixed_fits(observations(runs, by, own), names)
    return _linear(fits, suites[0], by, format_, [*notes, *left_out(chosen)], runs)


def _linear(
    fits: Sequence[MixedFit], suite: str, by: str, format_: str, notes: Sequence[str], runs: Sequence[Run]
) -> str:
    if format_ == "json":
        return as_json([_object(fit, suite, by, notes) for fit in fits])
    rows = [
        {"formula": found.formula, **asdict(term)}
        for found in fits
        if found.fit is not None
        for term in found.fit.terms
    ]
    if format_ != "text":
        table = pl.DataFrame(rows)
        if format_ == "csv":
            table = table.join(pl.DataFrame([_components(found) for found in fits if found.fit]), on="formula")
        return flat(table, format_, ["formula", *_LINEAR])
    blocks = [_block(found) for found in fits]
    below = [
        f"{suite}: accuracy in percentage points, one observation for each of {counted(len(runs), 'model')} and {by}.",
        "Estimates are percentage points for a factor of ten of tokens or parameters, or for the other objective.",
        "[low, high] is a 95% interval; t tests with Satterthwaite's degrees of freedom; fitted by REML.",
        "model and residual are the standard deviations of the models' intercepts and of what is left, in points.",
        *notes,
    ]
    return "\n\n".join([*blocks, "\n".join(map(plain, below))])


def _block(found: MixedFit) -> str:
    if found.fit is None:
        return "\n".join([plain(found.formula), *(f"  not fitted: {plain(note)}" for note in found.notes)])
    fit = found.fit
    shown = block(found.formula, pl.DataFrame([asdict(term) for term in fit.terms]), _LINEAR)
    of = f"{counted(fit.n, 'observation')}, {counted(fit.n_groups, 'model')}"
    sizes = f"  sd: model {fit.sd_group:.3f}, residual {fit.sd_residual:.3f}; {of}"
    state = f"  {'converged' if fit.converged else 'NOT CONVERGED'}{'; SINGULAR' if fit.singular else ''}"
    return "\n".join([shown, sizes, state, *(f"  {plain(note)}" for note in _said(found))])


def _said(found: MixedFit | LogisticFit) -> Iterator[str]:
    yield from found.notes
    if found.left_out:
        yield f"left out, a predictor isn't known: {len(found.left_out)} ({', '.join(found.left_out)})"


def _components(found: MixedFit) -> dict[str, Any]:
    fit = found.fit
    return {
        "formula": found.formula,
        "sd_model": None if fit is None else fit.sd_group,
        "sd_residual": None if fit is None else fit.sd_residual,
        "n": 0 if fit is None else fit.n,
        "n_models": 0 if fit is None else fit.n_groups,
        "converged": None if fit is None else fit.converged,
        "singular": None if fit is None else fit.singular,
    }


def _object(found: MixedFit, suite: str, by: str, notes: Sequence[str]) -> dict[str, Any]:
    return {
        "formula": found.formula,
        "suite": suite,
        "by": by,
        "predictors": list(found.predictors),
        "method": "REML",
        "unit": "percentage points",
        "terms": [] if found.fit is None else [asdict(term) for term in found.fit.terms],
        **{key: value for key, value in _components(found).items() if key != "formula"},
        "left_out": list(found.left_out),
        "notes": [*found.notes, *notes],
    }


def _logistic(fit: LogisticFit, suite: str, format_: str, notes: Sequence[str]) -> str:
    approximate = "a Bayesian approximation: posterior means and standard deviations, not a test"
    if format_ == "json":
        found = {"suite": suite, "method": "variational Bayes", "unit": "log odds", **asdict(fit)}
        return as_json([found | {"notes": [*fit.notes, approximate, *notes]}])
    table = pl.DataFrame([{"formula": fit.formula, **asdict(term)} for term in fit.terms])
    if format_ != "text":
        return flat(table, format_, ["formula", *_LOGISTIC])
    sd = ", ".join(f"{name} {value:.3f}" for name, value in fit.sd.items())
    below = [
        f"sd: {sd}; {counted(fit.n, 'item')} of {counted(fit.n_models, 'model')} and {counted(fit.n_frames, 'frame')}",
        *([f"{counted(fit.ties, 'item')} with a tie left out"] if fit.ties else []),
        "converged" if fit.converged else "NOT CONVERGED",
        *_said(fit),
    ]
    after = [
        f"{suite}: log odds of a right answer, one observation an item, for a factor of ten of tokens or parameters;",
        f"{approximate}. The predictors are centred.",
        "With few models its intervals are too narrow; those of the linear model are not.",
        *notes,
    ]
    shown = [block(fit.formula, table, _LOGISTIC), *(f"  {plain(line)}" for line in below)]
    return "\n\n".join(["\n".join(shown), "\n".join(map(plain, after))])
