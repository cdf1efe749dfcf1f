"""What was run and how: a table of runs, what is the same in all of them, and their notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from glosseme.errors import GlossemeError
from glosseme.report.page.blocks import UNDEFINED, Cell, Column, Keys, Note, Row, Table, number, said_once, text_cell
from glosseme.report.page.choose import about
from glosseme.report.page.text import Anchors, visible
from glosseme.report.runs import Chosen
from glosseme.runs.folder import Run
from glosseme.runs.trajectory_file import read_trajectories

__all__ = ["facts_of_all", "missing_checkpoints", "notes_of_runs", "runs_table", "totals", "without_results"]

_ALWAYS: Final = ("model", "revision", "suite", "items", "dropped", "ties", "time", "tokens forwarded", "tokens saved")
"""Columns of every page; the others are said once where they are the same in all runs."""
_HASH: Final = 12


def _facts(run: Run) -> dict[str, Cell]:
    """Return what is known of a run, by the heads of the table."""
    record, identity = run.record, run.record["identity"]
    model, counts = record.get("model", {}), record.get("counts", {})
    of, effort = about(run), record.get("execution", {})
    parameters = model.get("parameters")
    texts = {
        "model": of.model,
        "revision": of.revision,
        "commit": _short(identity.get("commit")),
        "weights": _short(identity.get("weights_sha256")),
        "kind": model.get("kind"),
        "suite": of.suite,
        "suite version": identity.get("suite_version"),
        "data": identity["data"],
        "data hash": _short(identity.get("data_sha256")),
        "options": _pairs(identity.get("options", {})) or "as the suite has them",
        "sample": _sample(identity),
    }
    numbers = {
        "parameters": parameters,
        "items": counts.get("items"),
        "dropped": counts.get("items_dropped"),
        "ties": counts.get("ties"),
        "requests": counts.get("requests"),
        # Only where there are any: these are warnings.
        "tokens across a boundary": counts.get("requests_spanning") or None,
        "slots that change tokens": counts.get("requests_mismatch") or None,
    }
    ways = {
        "dtype": identity.get("dtype", "float32"),
        "device": model.get("device"),
        "attention": model.get("attention"),
        "BOS": identity.get("bos", "auto"),
        "batching": effort.get("way"),
        "glosseme": record.get("glosseme"),
        "libraries": _pairs({k: v for k, v in model.get("versions", {}).items() if k != "glosseme"}, " "),
    }
    said = {name: text_cell(value) for name, value in texts.items()}
    said |= {name: number(value) for name, value in numbers.items()}
    said |= {name: text_cell(value or None) for name, value in ways.items()}
    return said | _effort(record)


def _effort(record: dict[str, Any]) -> dict[str, Cell]:
    effort = record.get("execution", {})
    plain, forwarded = effort.get("tokens_plain"), effort.get("tokens_forwarded")
    saved = None if plain is None or forwarded is None else max(0, plain - forwarded)
    share = f" ({100 * saved / plain:.0f}%)" if saved is not None and plain else ""
    seconds = sum(record.get("seconds", {}).values())
    return {
        "started": text_cell((record.get("started") or UNDEFINED)[:16].replace("T", " ")),
        "time": number(round(seconds, 3), _duration(seconds)),
        "tokens forwarded": number(forwarded),
        "tokens saved": number(saved, None if saved is None else f"{saved:,}{share}"),
    }


def _short(value: str | None) -> str | None:
    return None if value is None else str(value)[:_HASH]


def _pairs(values: dict[str, Any], sign: str = "=") -> str:
    return ", ".join(f"{key}{sign}{value}" for key, value in values.items())


def _sample(identity: dict[str, Any]) -> str:
    limit = identity.get("limit")
    return "all" if limit is None else f"limit {limit:,}, seed {identity.get('seed')}"


def _duration(seconds: float) -> str:
    """Return a time as people say it.

    >>> _duration(0.345), _duration(75), _duration(7325)
    ('0.3 s', '1 min 15 s', '2 h 2 min')
    """
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, left = divmod(round(seconds), 60)
    return f"{minutes} min {left} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def facts_of_all(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """Return what is the same in all runs, which the table then leaves out."""
    rows = [_facts(run) for run in runs]
    return [(name, rows[0][name].text) for name in _common(rows) if rows[0][name].text != UNDEFINED]


def _common(rows: Sequence[dict[str, Cell]]) -> list[str]:
    free = (name for name in rows[0] if name not in _ALWAYS)
    return [name for name in free if all(row[name] == rows[0][name] for row in rows)]


def runs_table(runs: Sequence[Run], keys: Keys, anchors: Anchors) -> Table:
    """Return one row a run."""
    rows = [_facts(run) for run in runs]
    same = set(_common(rows))
    names = [name for name in rows[0] if name not in same]
    columns = [Column(name, "number" if _is_number(rows, name) else "text") for name in names]
    body = []
    for run, row in zip(runs, rows, strict=True):
        of = about(run)
        body.append(Row([row[n] for n in names], keys.of_suites([of.suite]), keys.of_models([of.model])))
    return said_once(Table(anchors("table-runs"), "Runs", columns, body, level=3), _ALWAYS)


def _is_number(rows: Sequence[dict[str, Cell]], name: str) -> bool:
    return any(row[name].value for row in rows) or name in {"tokens forwarded", "tokens saved"}


def notes_of_runs(runs: Sequence[Run], keys: Keys) -> list[Note]:
    """Return the notes of runs, each once, with the runs that have it."""
    by_text: dict[str, list[Run]] = {}
    for run in runs:
        for text in run.record.get("notes", ()):
            by_text.setdefault(visible(text), []).append(run)
    return [_note(text, of, keys) for text, of in by_text.items()]


def _note(text: str, of: Sequence[Run], keys: Keys) -> Note:
    abouts = [about(run) for run in of]
    names = tuple(dict.fromkeys(visible(f"{a.model}@{a.revision}, {a.suite}") for a in abouts))
    return Note(text, keys.of_suites(a.suite for a in abouts), keys.of_models(a.model for a in abouts), names)


def without_results(chosen: Chosen, roots: Sequence[Path]) -> Iterator[str]:
    """Yield a sentence for each run that isn't finished or has a record that can't be read."""
    for run in chosen.unfinished:
        of = about(run)
        yield visible(f"Not finished: {of.model}@{of.revision} on {of.suite}.")
    for error in chosen.broken:
        yield visible(f"Left out: {_within(str(error.where), roots)}: {error.what}.")


def missing_checkpoints(keys: Keys, roots: Sequence[Path]) -> Iterator[str]:
    """Yield a sentence for each checkpoint that isn't there, and for each that holds another one's weights."""
    for root in roots:
        try:
            steps = read_trajectories(root)
        except GlossemeError as error:
            yield visible(f"Left out: {_within(str(error.where), roots)}: {error.what}.")
            continue
        for step in steps.filter(pl.col("model").is_in(list(keys.models))).to_dicts():
            name = f"{step['model']}@{step['revision']}"
            if step["status"] == "missing":
                yield visible(f"Missing: {name}{': ' * bool(step['reason'])}{step['reason'] or ''}.")
            elif step["same_as"]:
                yield visible(f"{name} holds the weights of {step['same_as']}.")


def _within(where: str, roots: Sequence[Path]) -> str:
    """Return a path below the folder of runs: where that lies is nobody's business."""
    for root in roots:
        if Path(where).is_relative_to(root):
            return str(Path(where).relative_to(root.parent))
    return Path(where).name


def totals(runs: Sequence[Run]) -> dict[str, int]:
    """Return how many models, checkpoints, suites, runs and items there are."""
    abouts = [about(run) for run in runs]
    return {
        "model": len({a.model for a in abouts}),
        "checkpoint": len({(a.model, a.revision) for a in abouts}),
        "suite": len({a.suite for a in abouts}),
        "run": len(runs),
        "item": sum(run.record.get("counts", {}).get("items", 0) for run in runs),
    }
