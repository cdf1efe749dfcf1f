"""Runs beside the published figures of the same model and suite."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import polars as pl

from glosseme.analysis.published import SUITES, Published, is_final, published, published_name
from glosseme.analysis.summarise import ALL
from glosseme.errors import GlossemeError, nearest
from glosseme.report.cells import INTERVAL, cells, finite, plain
from glosseme.report.grid import latex_grid, markdown_grid, text_grid
from glosseme.report.runs import choose_runs, left_out, rows_of_run
from glosseme.runs.folder import Run

__all__ = ["compare_runs", "comparison_of_runs"]

_KEYS: Final = ("model", "revision", "suite", "data", "dtype", "options")
_NUMBERS: Final = ("published", "estimate", "low", "high", "n", "difference", "within", "source")
_TYPES: Final = {**dict.fromkeys(_NUMBERS, pl.Float64), "n": pl.Int64, "within": pl.Boolean, "source": pl.String}
_HEADERS: Final = {"published": "theirs", "estimate": "ours", INTERVAL: "95%"}
_RIGHT: Final = ("published", "estimate", INTERVAL, "n", "difference")


def compare_runs(root: Path, *, by: str | None = None, format_: str = "text") -> str:
    """Return the comparison of runs with published figures in a format.

    `by` names finer factors of the published figures, with commas (`band`). Raises `GlossemeError` for an unknown
    format or factor, and where no run is finished.
    """
    if format_ not in _FORMATS:
        raise GlossemeError(f"there is no format {format_!r}", todo=nearest(format_, _FORMATS))
    finer = [name.strip() for name in (by or "").split(",") if name.strip() not in {"", "none"}]
    chosen = choose_runs(root)
    shown = _FORMATS[format_](comparison_of_runs(chosen.finished, finer), chosen.finished)
    return "\n".join([shown, *map(plain, left_out(chosen))]) if format_ == "text" else shown


def comparison_of_runs(runs: Sequence[Run], finer: Sequence[str] = ()) -> pl.DataFrame:
    """Return one row for each published figure of a run's model and suite, factors and metric.

    Columns: model, revision, suite, data, dtype, options, the factors, metric, published, estimate, low, high, n,
    difference (ours minus theirs), within (whether our 95% interval contains theirs, null without an interval),
    source. All figures are shares. Raises `GlossemeError` for a finer factor that no figures here have.
    """
    known = [found for run in runs if (found := published(_suite(run))) is not None]
    for name in finer:
        if not any(name in found.finer for found in known):
            todo = nearest(name, {factor for found in known for factor in found.finer})
            raise GlossemeError(f"no figures were published by {name!r}", todo=todo)
    parts = [part for run in runs if (part := _beside(run, finer)).height]
    if not parts:
        return pl.DataFrame(schema={**dict.fromkeys([*_KEYS, "metric"], pl.String), **_TYPES})
    table = pl.concat(parts, how="diagonal")
    factors = [name for name in table.columns if name not in (*_KEYS, "metric", *_NUMBERS)]
    return table.select(*_KEYS, *factors, "metric", *_NUMBERS)


def _beside(run: Run, finer: Sequence[str]) -> pl.DataFrame:
    figures = published(_suite(run))
    theirs = None if figures is None else _theirs(run, figures, finer)
    if figures is None or theirs is None or not theirs.height:
        return pl.DataFrame()
    by = [*figures.by, *(name for name in figures.finer if name in finer)]
    ours = rows_of_run(run, run.outcomes(), by)
    joined = ours.join(theirs, on=[*by, "metric"], how="inner", maintain_order="left")
    within = (pl.col("low") <= pl.col("published")) & (pl.col("published") <= pl.col("high"))
    difference = pl.col("estimate") - pl.col("published")
    return joined.with_columns(difference=difference, within=within).select(*_KEYS, *by, "metric", *_NUMBERS)


def _theirs(run: Run, figures: Published, finer: Sequence[str]) -> pl.DataFrame | None:
    """Return the figures of a run's model, averaged over the finer factors that aren't asked for."""
    identity = run.record["identity"]
    if not is_final(identity["revision"]) and published_name(identity["model"]) != "random":
        return None
    table = figures.figures.filter(pl.col("model") == published_name(identity["model"])).drop("model")
    for name in figures.finer:
        table = table.filter((pl.col(name) == ALL) != (name in finer))
    return table.rename({"value": "published"})


def _suite(run: Run) -> str:
    return str(run.record["identity"]["suite"])


def _as_text(table: pl.DataFrame, runs: Sequence[Run]) -> str:
    blocks = [_block(part) for part in table.partition_by("model", "revision", "suite", maintain_order=True)]
    if table.height:
        blocks.append("\n".join(_notes(table)))
    return "\n\n".join([*blocks, "\n".join(_left_out(table, runs))]).rstrip()


def _block(table: pl.DataFrame) -> str:
    first = table.row(0, named=True)
    facts = [f"data {first['data']}"] + [first["options"]] * bool(first["options"])
    facts += [] if first["dtype"] == "float32" else [first["dtype"]]
    head = f"{first['model']}@{first['revision']}  {first['suite']}  ({'; '.join(map(plain, facts))})"
    return "\n".join([head, *text_grid(*_grid(table.drop(_KEYS)))])


def _notes(table: pl.DataFrame) -> Iterator[str]:
    yield "theirs is what was published, ours this run; within says whether our 95% interval contains theirs."
    yield "accuracy (P@1 in wdlmpro) and rank_score are shares; a difference is ours minus theirs."
    if "band" in table.columns:
        yield "bands: theirs by counts in the Westbury Wikipedia corpus, ours as the run's notes say."
    if any(suite.startswith("paired-focus") for suite in table["suite"]):
        yield "paired-focus: theirs is of the authors' items (--data FILE runs them), core follows their design."
    for suite, source in table.select("suite", "source").unique(maintain_order=True).iter_rows():
        yield f"{suite}: {source}"


def _left_out(table: pl.DataFrame, runs: Sequence[Run]) -> Iterator[str]:
    """Yield which runs have no published figures, and of which models there are some."""
    have = set(table.select("model", "revision", "suite").rows()) if table.height else set()
    without = []
    for run in runs:
        key = tuple(str(run.record["identity"][name]) for name in ("model", "revision", "suite"))
        if key not in have:
            without.append(key)
            yield f"nothing published of {key[0]}@{key[1]} on {key[2]}"
    for suite in SUITES if without else ():
        figures = published(suite)
        if figures is not None:
            yield f"published on {suite}: {', '.join(figures.models)}"


def _grid(table: pl.DataFrame) -> tuple[list[str], list[list[str]], list[bool]]:
    """Return heads, cells and which columns are numbers, without the source and without factors of other suites."""
    said = {True: "yes", False: "no"}
    shown = table.with_columns(within=pl.col("within").replace_strict(said, return_dtype=pl.String))
    numbers = ("published", "estimate", INTERVAL, "n", "difference", "within")
    factors = [name for name in table.columns if name not in _NUMBERS and table[name].count()]
    columns = [*factors, *numbers]
    return [_HEADERS.get(c, c) for c in columns], cells(shown, columns), [c in _RIGHT for c in columns]


def _as_json(table: pl.DataFrame, runs: Sequence[Run]) -> str:
    rows = finite(table).to_dicts()
    # A factor that a suite doesn't have is left out, a number that isn't defined is null.
    kept = [{k: v for k, v in row.items() if v is not None or k in _NUMBERS} for row in rows]
    lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in kept)
    return "[\n  " + ",\n  ".join(lines) + "\n]" if rows else "[]"


def _readable(table: pl.DataFrame) -> tuple[list[str], list[list[str]], list[bool]]:
    usual = {"dtype": "float32", "options": ""}
    return _grid(table.drop(name for name, value in usual.items() if (table[name] == value).all()))


_FORMATS: Final[dict[str, Callable[[pl.DataFrame, Sequence[Run]], str]]] = {
    "text": _as_text,
    "json": _as_json,
    "csv": lambda table, runs: finite(table).write_csv(),
    "markdown": lambda table, runs: markdown_grid(*_readable(table)),
    "latex": lambda table, runs: latex_grid(*_readable(table)),
}
