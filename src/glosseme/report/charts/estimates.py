"""What figures of finished models rest on: one checkpoint a model, the main accuracies of a suite, facts of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import polars as pl

from glosseme.analysis.published import is_final
from glosseme.models.steps import step_of
from glosseme.report.cells import finite
from glosseme.report.charts.names import interval, named
from glosseme.report.runs import rows_of_run
from glosseme.report.units import declared
from glosseme.runs.folder import Run

__all__ = ["about", "by_suite", "condition_of", "design_of_run", "facts", "final_runs", "main_rows", "suite_of"]

_MAIN: Final[dict[str, tuple[str, ...]]] = {
    "paired-focus/semantics": ("plausibility",),
    "paired-focus/syntax": ("group",),
    "wdlmpro": ("task", "pos"),
}
"""The factors of a suite whose levels are never averaged; other suites have one accuracy."""

_ROWS: Final = ("model", "revision", "suite", "estimate", "low", "high", "n", "chance")


def suite_of(run: Run) -> str:
    """Return the suite of a run."""
    return str(run.record["identity"]["suite"])


def design_of_run(run: Run) -> str:
    """Return the design of a run's suite."""
    return str(declared(run, "design", "pair"))


def condition_of(run: Run) -> str:
    """Return what, besides the model, a run's numbers depend on: its data, sample and unusual options."""
    identity = run.record["identity"]
    usual = declared(run, "options", {})
    options = [f"{k}={v}" for k, v in identity.get("options", {}).items() if usual.get(k) != v]
    limit = identity.get("limit")
    sample = [] if limit is None else [f"a sample of {limit:,}, seed {identity.get('seed')}"]
    # A file of the user's is told from another of the same name by its hash.
    hashed = [f"sha256 {str(identity['data_sha256'])[:12]}"] if identity.get("data_sha256") else []
    return "; ".join([str(identity["data"]), *hashed, *options, *sample])


def final_runs(runs: Sequence[Run]) -> list[Run]:
    """Return of each model, suite and condition one run: of the finished model, else of the last checkpoint."""
    best: dict[tuple[str, str, str], Run] = {}
    for run in runs:
        key = (str(run.record["identity"]["model"]), suite_of(run), condition_of(run))
        if key not in best or _rank(run) > _rank(best[key]):
            best[key] = run
    return list(best.values())


def _rank(run: Run) -> tuple[bool, bool, int, str]:
    identity = run.record["identity"]
    revision = str(identity["revision"])
    step = step_of(revision)
    # float32 is what other precisions are compared with.
    exact = identity.get("dtype", "float32") == "float32"
    return is_final(revision), exact, -1 if step is None else step, revision


def by_suite(runs: Sequence[Run]) -> list[tuple[str, str, list[Run]]]:
    """Return the finished models' runs in groups of the same suite and condition: suite, condition, runs.

    Suites come in the order of their names, a suite's conditions by their number of models.
    """
    chosen = final_runs(runs)
    groups = Counter((suite_of(run), condition_of(run)) for run in chosen)
    ordered = sorted(groups, key=lambda key: (key[0], -groups[key], key[1]))
    return [(s, c, [r for r in chosen if (suite_of(r), condition_of(r)) == (s, c)]) for s, c in ordered]


def main_rows(run: Run, by: Sequence[str] | None = None, metric: str = "accuracy") -> pl.DataFrame:
    """Return the accuracies of a run by factors: `_ROWS`, the factors, and `panel`, the factors' levels as one text.

    `by` names the factors (default: those that a suite never averages over). The frame is empty for a suite that
    judges nothing, or lacks a factor.
    """
    outcomes = run.outcomes()
    factors = list(_MAIN.get(suite_of(run), ()) if by is None else by)
    if design_of_run(run) == "value" or not set(factors) <= set(outcomes.columns):
        return pl.DataFrame()
    rows = finite(rows_of_run(run, outcomes, factors).filter(pl.col("metric") == metric))
    levels = [pl.col(name).fill_null("(none)") for name in factors]
    panel = pl.concat_str(levels, separator=" ") if factors else pl.lit("all items")
    name = named(str(run.record["identity"]["model"]), str(run.record["identity"]["revision"]))
    return rows.select(*_ROWS, *factors, panel.alias("panel"), pl.lit(name).alias("name"))


def about(rows: pl.DataFrame, *names: str) -> pl.DataFrame:
    """Return rows with a column `about`: what a reader hears or sees of a point, its names and numbers."""
    texts = []
    for row in rows.iter_rows(named=True):
        what = ", ".join(str(row[name]) for name in names if row[name] not in (None, ""))
        n = "" if row.get("n") is None else f", n = {row['n']:,}"
        texts.append(f"{what}: {interval(row['estimate'], row['low'], row['high'])}{n}")
    return rows.with_columns(pl.Series("about", texts, pl.String))


def facts(run: Run) -> dict[str, Any]:
    """Return parameters, tokens (numbers or None) and objective (causal, masked or None) of a run's model."""
    from glosseme.models.catalogue import facts_of

    recorded = run.record.get("model", {})
    known = facts_of(str(run.record["identity"]["model"])) or {}
    return {
        "parameters": known.get("parameters") or recorded.get("parameters"),
        "tokens": known.get("tokens"),
        "objective": known.get("kind") or recorded.get("kind"),
    }
