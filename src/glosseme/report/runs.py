"""Tables of finished runs: from folders to estimates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from glosseme.analysis.summarise import factors_of, summarise
from glosseme.errors import WORK_FAILED, GlossemeError, nearest
from glosseme.models.reference import Reference, parse_reference
from glosseme.report.cells import counted
from glosseme.report.tables import render
from glosseme.report.units import clipped, declared, unit_notes
from glosseme.runs.folder import Run, survey
from glosseme.runs.trajectory_file import read_trajectories, survey_trajectories
from glosseme.suites import group_of

__all__ = ["Chosen", "choose_runs", "left_out", "rows_of_run", "summary_of_runs", "table_of_runs"]

_USUAL = {"bos": "auto", "limit": None, "seed": None}


@dataclass(frozen=True, slots=True)
class Chosen:
    """The runs of a folder that a table is of."""

    finished: list[Run]
    unfinished: list[Run]
    broken: list[GlossemeError]
    """What is wrong with records that can't be read."""


def summary_of_runs(
    root: Path, *, by: Sequence[str] | None = None, suite: str | None = None, model: str | None = None
) -> pl.DataFrame:
    """Return one row for each run, group and metric: model, revision, suite, data, dtype, options, factors, estimates.

    `by` names factors (default: each suite's own table); a suite without them is left out, and one whose values are
    in several units keeps these apart whatever is asked for. Raises `GlossemeError` when no run is left.
    """
    return _summary(choose_runs(root, suite, model), by)[0]


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
    table, lacking = _summary(chosen, factors)
    if format_ != "text":
        return render(table, format_)
    kept = replace(chosen, finished=[run for run in chosen.finished if run not in [r for r, _ in lacking]])
    return render(
        table, format_, notes=[*_notes(kept), *_lacking(lacking), *_checkpoints(root, chosen), *left_out(chosen)]
    )


def _checkpoints(root: Path, chosen: Chosen) -> Iterator[str]:
    """Yield which checkpoints of a trajectory aren't there, and which hold another one's weights."""
    models = {run.record["identity"]["model"] for run in chosen.finished}
    steps = read_trajectories(root).filter(pl.col("model").is_in(list(models)))
    for step in steps.iter_rows(named=True):
        if step["status"] == "missing":
            yield f"{step['model']}@{step['revision']} is missing: {step['reason']}"
        elif step["same_as"] is not None:
            yield f"{step['model']}@{step['revision']} holds the weights of {step['same_as']}"


def choose_runs(root: Path | Sequence[Path], suite: str | None = None, model: str | None = None) -> Chosen:
    """Return the runs under one or several folders, those of a suite or group and a model where these are given.

    `model` is what a user types for it: a name, with or without @revision, or a path. Raises `GlossemeError` for a
    suite or model without a run, and where none is finished.
    """
    runs, broken, where = _survey([root] if isinstance(root, Path) else root)
    names = {_suite(r) for r in runs}
    if suite is not None and not any(_matches(name, suite) for name in names):
        raise GlossemeError(f"no run of suite {suite!r}", where=where, todo=nearest(suite, names))
    of_model = [r for r in runs if model is None or _is_of(r, model, _reference(model))]
    if model is not None and not of_model:
        models = {name for r in runs for name in _names(r)}
        raise GlossemeError(f"no run of model {model!r}", where=where, todo=nearest(model, models))
    kept = [r for r in of_model if suite is None or _matches(_suite(r), suite)]
    finished = [r for r in kept if r.finished]
    if not finished:
        what = f"{counted(len(kept), 'run')}, none of them finished" if kept else "no runs"
        be = "is" if len(kept) == 1 else "are"
        wrong = f", and {counted(len(broken), 'record')} can't be read ({broken[0]})" if broken else ""
        raise GlossemeError(
            f"there {be} {what}{wrong}", where=where, todo="run `glosseme run` first", exit_code=WORK_FAILED
        )
    return Chosen(finished, [r for r in kept if not r.finished], broken)


def _survey(roots: Sequence[Path]) -> tuple[list[Run], list[GlossemeError], str]:
    """Return the runs under folders, each once wherever they overlap, what is wrong with others, and where it was."""
    runs: dict[Path, Run] = {}
    broken: dict[str, GlossemeError] = {}
    for root in roots:
        found, wrong = survey(root)
        for run in found:
            runs.setdefault(run.folder.resolve(), run)
        broken |= {str(error.where): error for error in (*wrong, *survey_trajectories(root)[1])}
    return list(runs.values()), list(broken.values()), ", ".join(map(str, roots))


def left_out(chosen: Chosen) -> Iterator[str]:
    """Yield a note for each run that no table is of: not finished, or with a record that can't be read."""
    for run in chosen.unfinished:
        yield f"not finished and left out: {run.folder}"
    for error in chosen.broken:
        yield f"left out: {error}"


def _suite(run: Run) -> str:
    return str(run.record["identity"]["suite"])


def _matches(name: str, asked: str) -> bool:
    return asked in {name, group_of(name)}


def _reference(model: str) -> Reference | None:
    """Return what the name of a model stands for here, None for one that isn't here (any more)."""
    try:
        return parse_reference(model)
    except GlossemeError:
        return None


def _is_of(run: Run, asked: str, reference: Reference | None) -> bool:
    """Whether a run is of the model that a user names as in `glosseme run -m`."""
    if asked.strip() in _names(run):
        return True
    if reference is None:
        return False
    if Path(reference.name).is_absolute():
        recorded = str(run.record.get("model", {}).get("name", ""))
        # A run that isn't finished doesn't know the path yet.
        known = Path(recorded).is_absolute()
        return recorded == reference.name if known else not run.finished and recorded == reference.public_name
    identity = run.record["identity"]
    same = reference.name == identity["model"]
    return same and ("@" not in asked or reference.revision == str(identity["revision"]))


def _names(run: Run) -> set[str]:
    identity = run.record["identity"]
    name = str(identity["model"])
    return {name, f"{name}@{identity['revision']}", str(run.record.get("model", {}).get("name", name))}


def _summary(chosen: Chosen, by: Sequence[str] | None) -> tuple[pl.DataFrame, list[tuple[Run, list[str]]]]:
    """Return the table and the runs that aren't in it, with the factors that they lack."""
    parts: list[pl.DataFrame] = []
    without: list[tuple[Run, list[str]]] = []
    known: set[str] = set()
    for run in chosen.finished:
        outcomes = run.outcomes()
        factors = factors_of(outcomes)
        known |= set(factors)
        lacking = [name for name in dict.fromkeys(by or ()) if name not in factors]
        if lacking:
            without.append((run, lacking))
        else:
            parts.append(rows_of_run(run, outcomes, by))
    if parts:
        return pl.concat(parts, how="diagonal"), without
    missing = [name for _, names in without for name in names]
    unknown = [name for name in missing if name not in known]
    if unknown:
        raise GlossemeError(f"no suite here has a factor {unknown[0]!r}", todo=nearest(unknown[0], known))
    every = ", ".join(dict.fromkeys(by or ()))
    raise GlossemeError(f"no suite here has all of the factors {every}", todo="choose one of them, or a suite with -s")


def _lacking(without: Sequence[tuple[Run, list[str]]]) -> Iterator[str]:
    suites: dict[str, list[str]] = {}
    for run, names in without:
        factors = f"factor{'s' * (len(names) > 1)} {', '.join(map(repr, names))}"
        suites.setdefault(factors, []).append(_suite(run))
    for factors, named in suites.items():
        yield f"left out, without the {factors}: {', '.join(dict.fromkeys(named))}"


def rows_of_run(run: Run, outcomes: pl.DataFrame, by: Sequence[str] | None) -> pl.DataFrame:
    """Return the summary of a run's outcomes with what it is of: model, revision, suite, data, dtype, options."""
    suite, identity = run.record["suite"], run.record["identity"]
    for factor, value in declared(run, "where", {}).items():
        if factor not in (by or ()):
            outcomes = outcomes.filter(pl.col(factor) == value)
    apart = [name for name in declared(run, "apart", ()) if name in outcomes.columns]
    groupings = [suite["by"], *declared(run, "also", ())] if by is None else [by]
    first, *also = ([*(name for name in apart if name not in grouping), *grouping] for grouping in groupings)
    macro = declared(run, "macro", "") or None
    table = clipped(summarise(outcomes, first, cluster=suite["cluster"], also=also, macro=macro), run)
    usual = declared(run, "options", {})
    unusual = {k: v for k, v in identity.get("options", {}).items() if usual.get(k) != v}
    unusual |= {k: identity[k] for k, value in _USUAL.items() if identity.get(k, value) != value}
    facts = {
        "model": identity["model"],
        "revision": identity["revision"],
        "suite": identity["suite"],
        "data": identity["data"],
        "dtype": identity.get("dtype", "float32"),
        "options": ", ".join(f"{k}={v}" for k, v in unusual.items()),
    }
    return table.select(*(pl.lit(value, pl.String).alias(name) for name, value in facts.items()), pl.all())


def _notes(chosen: Chosen) -> Iterator[str]:
    yield from unit_notes(chosen.finished)
    yield from _macro_notes(chosen.finished)
    # What is the same for several revisions of a model is said once.
    said: dict[tuple[str, str, str], list[str]] = {}
    for run in chosen.finished:
        identity = run.record["identity"]
        for line in ("; ".join(_facts(run)), *run.record.get("notes", ())):
            of = (str(identity["model"]), str(identity["suite"]), line)
            said.setdefault(of, []).append(str(identity["revision"]))
    for (model, suite, line), revisions in said.items():
        several = f" and {len(revisions) - 1:,} more" if len(revisions) > 1 else ""
        yield f"{model}@{revisions[0]}{several}, {suite}: {line}"


def _macro_notes(runs: Sequence[Run]) -> Iterator[str]:
    factors = {_suite(run): declared(run, "macro", "") for run in runs}
    for suite, factor in factors.items():
        if factor:
            yield f"{suite}: an average over several levels of {factor} gives each the same weight."


def _facts(run: Run) -> Iterator[str]:
    identity, counts = run.record["identity"], run.record.get("counts", {})
    n_items, limit = counts.get("items", run.outcomes().height), identity.get("limit")
    items = f"{counted(n_items, 'item')} of {identity['data']}"
    # Fewer items than the limit are all that there are.
    is_sample = limit is not None and n_items >= limit
    yield f"{items} (a sample: limit {limit:,}, seed {identity.get('seed')})" if is_sample else items
    if identity.get("data_sha256"):
        yield f"sha256 {identity['data_sha256'][:12]}"
    if identity.get("dtype", "float32") != "float32":
        yield f"{identity['dtype']}, which is not exact"
    for key, words in (
        ("items_dropped", "item without a value"),
        ("requests_spanning", "request with a token across a boundary"),
        ("requests_mismatch", "request whose slot changed the tokens around it"),
    ):
        if counts.get(key):
            yield counted(counts[key], words)
