"""The checkpoints of a model in a table: which there are, and what each suite says of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import polars as pl

from glosseme.errors import GlossemeError, nearest
from glosseme.report.cells import finite, plain
from glosseme.report.grid import text_grid
from glosseme.report.runs import summary_of_runs
from glosseme.report.tables import FORMATS, render
from glosseme.runs.many import RunArguments
from glosseme.runs.trajectory import run_trajectory
from glosseme.runs.trajectory_file import read_trajectories

__all__ = ["run_and_render", "table_of_trajectory"]

_STEP: Final = ("model", "revision", "step", "status", "reason", "same_as")
_COLUMN: Final = ("suite", "data", "dtype", "options", "metric")
_NUMBERS: Final = ("estimate", "low", "high", "n", "dropped", "ties", "chance", "n_clusters")


def run_and_render(arguments: RunArguments, revisions: str, *, quiet: bool = False, format_: str = "text") -> str:
    """Run a trajectory and return its table in a format."""
    if format_ not in FORMATS:
        raise GlossemeError(f"there is no format {format_!r}", todo=nearest(format_, FORMATS))
    folders = [path.parent for path in run_trajectory(arguments, revisions, quiet=quiet)]
    tables = [table_of_trajectory(folder) for folder in folders]
    if format_ != "text":
        return render(pl.concat(tables, how="diagonal"), format_)
    shown = [block for folder, table in zip(folders, tables, strict=True) for block in _as_text(folder, table)]
    return "\n".join(
        [
            *shown,
            f"Statistics: glosseme analyse differences {arguments.out}",
            f"A page:     glosseme report {arguments.out}",
        ]
    )


def table_of_trajectory(folder: Path) -> pl.DataFrame:
    """Return one row for each checkpoint and metric of each suite, over all items; a missing one has a row of nulls.

    Columns: model, revision, step, status, reason, same_as, suite, data, dtype, options, metric, estimate, low, high,
    n, dropped, ties, chance, n_clusters. `folder` is that of a model, with its `trajectory.json`.
    """
    steps = read_trajectories(folder)
    if not steps.height:
        raise GlossemeError("there is no trajectory", where=str(folder), todo="run `glosseme trajectory`")
    found = summary_of_runs(folder, by=[])
    asked = ("suite", "data", "dtype", "options")
    apart = [name for name in found.columns if name not in ("model", "revision", *asked, "metric", *_NUMBERS)]
    rows = steps.join(found, on=["model", "revision"], how="left", maintain_order="left")
    return rows.select(*_STEP, *asked, *apart, "metric", *_NUMBERS)


def _as_text(folder: Path, table: pl.DataFrame) -> Iterator[str]:
    """Yield a grid with one row a checkpoint and one column a suite, and what is to be said of it."""
    first = table.filter(pl.col("metric").is_null() | pl.col("metric").is_in(["accuracy", "mean"]))
    columns = first.select(_COLUMN).drop_nulls("suite").unique(maintain_order=True).rows()
    heads = [_head(columns, column) for column in columns]
    steps = first.unique("revision", maintain_order=True).select(*_STEP)
    body = [_row(first, step, columns) for step in steps.iter_rows(named=True)]
    yield plain(table["model"][0])
    yield from text_grid(["step", "revision", *heads, ""], body, [True, False, *[True] * len(heads), False])
    chances = first.select("suite", "chance").drop_nulls().unique(maintain_order=True)
    yield f"accuracy over all items; chance: {', '.join(f'{s} {c:.3f}'.replace('0.', '.') for s, c in chances.rows())}"
    yield f"Every item's scores are in {folder}."
    yield ""


def _head(columns: Sequence[tuple[str, ...]], column: tuple[str, ...]) -> str:
    """Return a suite's name, with what tells it from its other columns: data, sample, options."""
    suite, data, dtype, options, metric = column
    others = [c for c in columns if c[0] == suite and c[-1] == metric]
    told = [
        value
        for place, value in ((1, data), (2, dtype), (3, options))
        if value and len({other[place] for other in others}) > 1
    ]
    return f"{suite}{' (' + ', '.join(told) + ')' if told else ''}{'' if metric == 'accuracy' else f' {metric}'}"


def _row(table: pl.DataFrame, step: dict[str, object], columns: Sequence[tuple[str, ...]]) -> list[str]:
    rows = finite(table.filter(pl.col("revision") == step["revision"]))
    estimates = {row[:-1]: row[-1] for row in rows.select(*_COLUMN, "estimate").iter_rows()}
    values = [estimates.get(column) for column in columns]
    cells = ["-" if value is None else f"{value:.3f}".replace("0.", ".", 1) for value in values]
    note = f"the weights of {step['same_as']}" if step["same_as"] else ""
    note = f"missing: {step['reason']}" if step["status"] == "missing" else note
    number = "-" if step["step"] is None else f"{step['step']:,}"
    return [number, plain(step["revision"]), *cells, plain(note)]
