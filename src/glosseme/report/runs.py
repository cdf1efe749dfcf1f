"""Tables of finished runs: from folders to estimates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from glosseme.analysis.summarise import factors_of, summarise
from glosseme.errors import WORK_FAILED, GlossemeError, nearest
from glosseme.report.tables import render
from glosseme.runs.folder import Run, find_runs
from glosseme.suites import group_of

__all__ = ["Chosen", "choose_runs", "rows_of_run", "summary_of_runs", "table_of_runs"]

_USUAL = {"bos": "auto", "limit": None, "seed": None}


@dataclass(frozen=True, slots=True)
class Chosen:
    """The runs of a folder that a table is of."""

    finished: list[Run]
    unfinished: list[Run]


def summary_of_runs(
    root: Path, *, by: Sequence[str] | None = None, suite: str | None = None, model: str | None = None
) -> pl.DataFrame:
    """Return one row for each run, group and metric: model, revision, suite, data, dtype, options, factors, estimates.

    `by` names factors (default: each suite's own table); a suite without them is left out. Raises `GlossemeError`
    when no run is left.
    """
    return _summary(choose_runs(root, suite, model), by)


def table_of_runs(
    root: Path,
    *,
    by: str | None = None,
    suite: str | None = None,
    model: str | None = None,
    format_: str = "text",
) -> str:
    """Return the table of `summary_of_runs` in a format, as text with notes on what the numbers rest on.

    `by` is a list of factors with commas, `none` for one row a run.
    """
    chosen = choose_runs(root, suite, model)
    factors = None if by is None else [f.strip() for f in by.split(",") if f.strip() not in {"", "none"}]
    table = _summary(chosen, factors)
    return render(table, format_, notes=list(_notes(chosen)) if format_ == "text" else ())


def choose_runs(root: Path, suite: str | None = None, model: str | None = None) -> Chosen:
    """Return the runs under a folder, those of a suite or group and a model where these are given.

    Raises `GlossemeError` for a suite or model without a run, and where none is finished.
    """
    runs = list(find_runs(root))
    names = {_suite(r) for r in runs}
    if suite is not None and not any(_matches(name, suite) for name in names):
        raise GlossemeError(f"no run of suite {suite!r}", where=str(root), todo=nearest(suite, names))
    models = {name for r in runs for name in _names(r)}
    if model is not None and model not in models:
        raise GlossemeError(f"no run of model {model!r}", where=str(root), todo=nearest(model, models))
    kept = [r for r in runs if (suite is None or _matches(_suite(r), suite)) and (model is None or model in _names(r))]
    finished = [r for r in kept if r.finished]
    if not finished:
        what = f"{len(kept)} runs, none of them finished" if kept else "no runs"
        raise GlossemeError(
            f"there are {what}", where=str(root), todo="run `glosseme run` first", exit_code=WORK_FAILED
        )
    return Chosen(finished, [r for r in kept if not r.finished])


def _suite(run: Run) -> str:
    return str(run.record["identity"]["suite"])


def _matches(name: str, asked: str) -> bool:
    return asked in {name, group_of(name)}


def _names(run: Run) -> set[str]:
    identity = run.record["identity"]
    return {
        str(identity["model"]),
        f"{identity['model']}@{identity['revision']}",
        run.record["model"]["name"],
    }


def _summary(chosen: Chosen, by: Sequence[str] | None) -> pl.DataFrame:
    parts, missing = [], []
    known: set[str] = set()
    for run in chosen.finished:
        outcomes = run.outcomes()
        factors = factors_of(outcomes)
        known |= set(factors)
        lacking = [name for name in by or () if name not in factors]
        if lacking:
            missing += lacking
            continue
        parts.append(rows_of_run(run, outcomes, by))
    if not parts:
        raise GlossemeError(f"no suite here has a factor {missing[0]!r}", todo=nearest(missing[0], known))
    return pl.concat(parts, how="diagonal")


def rows_of_run(run: Run, outcomes: pl.DataFrame, by: Sequence[str] | None) -> pl.DataFrame:
    """Return the summary of a run's outcomes with what it is of: model, revision, suite, data, dtype, options."""
    suite, identity = run.record["suite"], run.record["identity"]
    for factor, value in suite["where"].items():
        if factor not in (by or ()):
            outcomes = outcomes.filter(pl.col(factor) == value)
    table = summarise(
        outcomes,
        suite["by"] if by is None else by,
        cluster=suite["cluster"],
        also=suite["also"] if by is None else (),
    )
    unusual = {k: v for k, v in identity["options"].items() if suite["options"].get(k) != v}
    unusual |= {k: identity[k] for k, usual in _USUAL.items() if identity[k] != usual}
    facts = {
        "model": identity["model"],
        "revision": identity["revision"],
        "suite": identity["suite"],
        "data": identity["data"],
        "dtype": identity["dtype"],
        "options": ", ".join(f"{k}={v}" for k, v in unusual.items()),
    }
    return table.select(*(pl.lit(value, pl.String).alias(name) for name, value in facts.items()), pl.all())


def _notes(chosen: Chosen) -> Iterator[str]:
    for run in chosen.finished:
        identity, counts = run.record["identity"], run.record["counts"]
        of = f"{identity['model']}@{identity['revision']}, {identity['suite']}"
        facts = [f"{counts['items']:,} items of {identity['data']}"]
        if identity["limit"] is not None:
            facts[0] += f" (a sample: limit {identity['limit']:,}, seed {identity['seed']})"
        if identity["data_sha256"]:
            facts.append(f"sha256 {identity['data_sha256'][:12]}")
        if identity["dtype"] != "float32":
            facts.append(f"{identity['dtype']}, which is not exact")
        for key, words in (
            ("items_dropped", "items without a value"),
            ("requests_spanning", "requests with a token across a boundary"),
            ("requests_mismatch", "requests whose slot changed the tokens around it"),
        ):
            if counts[key]:
                facts.append(f"{counts[key]:,} {words}")
        yield f"{of}: {'; '.join(facts)}"
        yield from (f"{of}: {note}" for note in run.record["notes"])
    for run in chosen.unfinished:
        yield f"not finished and left out: {run.folder}"
