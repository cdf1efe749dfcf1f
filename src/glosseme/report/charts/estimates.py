"""What figures of finished models rest on: one checkpoint a model, the main accuracies of a suite, facts of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import polars as pl

from glosseme.analysis.curves import curves_of_runs
from glosseme.analysis.published import is_final
from glosseme.models.steps import step_of
from glosseme.report.cells import finite
from glosseme.report.charts.names import interval, named
from glosseme.report.checkpoints import without_seeds
from glosseme.report.runs import rows_of_run
from glosseme.report.units import declared
from glosseme.runs.folder import Run

__all__ = [
    "SPLIT_BY_ALL",
    *("about", "base_of", "by_suite", "condition_of", "design_of_run", "facts", "final_runs"),
    *("group_rows", "main_curves", "main_rows", "suite_of"),
]

_PLAUSIBILITY: Final = ("plausible", "implausible")
_SPLIT: Final = {"paired-focus/semantics": _PLAUSIBILITY, "paired-focus/semantics-pll": _PLAUSIBILITY}
"""Suites of which the parts are the main accuracies, and the whole is none that means anything."""
SPLIT_BY_ALL: Final = ("wdlmpro",)
"""Suites whose finest parts are the main accuracies."""
_ROWS: Final = ("model", "revision", "suite", "name", "panel", "estimate", "low", "high", "n", "chance")


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
    best: dict[tuple[str, ...], Run] = {}
    seeds = {str(run.folder) for run in without_seeds(runs)[1]}
    for run in runs:
        # A fake with another seed is another model.
        of = str(run.record["identity"]["revision"]) if str(run.folder) in seeds else ""
        key = (str(run.record["identity"]["model"]), of, suite_of(run), condition_of(run))
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


def base_of(suite: str) -> str:
    """Return the name of a suite's curve over all of its items.

    >>> base_of("paired-focus/syntax"), base_of("blimp")
    ('syntax', 'blimp')
    """
    group, _, part = suite.partition("/")
    return part if group == "paired-focus" else suite


def main_curves(suite: str, curves: Sequence[str]) -> list[str]:
    """Return the main ones of a suite's curves: the whole, or the parts that are never averaged over.

    >>> main_curves("paired-focus/semantics", ["semantics", "semantics implausible", "semantics plausible"])
    ['semantics plausible', 'semantics implausible']
    """
    base = base_of(suite)
    if suite in SPLIT_BY_ALL:
        # From words to definitions first, as in the paper.
        parts = sorted((name for name in curves if name != base), key=lambda name: (" W2D" not in name, name))
    else:
        parts = [f"{base} {part}" for part in _SPLIT.get(suite, ()) if f"{base} {part}" in curves]
    return parts or [name for name in curves if name == base]


def main_rows(runs: Sequence[Run]) -> pl.DataFrame:
    """Return the main accuracies of runs of one suite: `_ROWS`, of which `panel` is the curve's name.

    The frame is empty for a suite that judges nothing.
    """
    curves = finite(curves_of_runs(runs))
    if not curves.height:
        return pl.DataFrame()
    suite = str(curves["suite"][0])
    chosen = main_curves(suite, curves["curve"].unique(maintain_order=True).to_list())
    # Enumerations sort in their own order.
    rows = curves.filter(pl.col("curve").is_in(chosen)).sort(pl.col("curve").cast(pl.Enum(chosen)), "model")
    names = pl.struct("model", "revision").map_elements(lambda r: named(r["model"], r["revision"]), pl.String)
    return rows.with_columns(names.alias("name"), pl.col("curve").alias("panel")).select(_ROWS)


def group_rows(runs: Sequence[Run], by: Sequence[str], metric: str = "accuracy") -> pl.DataFrame:
    """Return the accuracies of runs of one suite by factors: model, revision, name, the factors, estimates.

    The frame is empty for a suite that judges nothing or lacks a factor.
    """
    tables = []
    for run in runs:
        outcomes, identity = run.outcomes(), run.record["identity"]
        if design_of_run(run) == "value" or not set(by) <= set(outcomes.columns):
            continue
        rows = finite(rows_of_run(run, outcomes, by).filter(pl.col("metric") == metric))
        name = pl.lit(named(str(identity["model"]), str(identity["revision"])), pl.String).alias("name")
        tables.append(rows.select(*("model", "revision"), name, *by, *("estimate", "low", "high", "n", "chance")))
    return pl.concat(tables) if tables else pl.DataFrame()


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
