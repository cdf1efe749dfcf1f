"""Filled sheets against their key, with models on the same groups beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import polars as pl

from glosseme.analysis.summarise import ALL, summarise
from glosseme.designs import judge
from glosseme.errors import GlossemeError
from glosseme.people.draw import TASKS
from glosseme.people.sheets import read_sheet
from glosseme.runs.folder import Run

__all__ = ["PEOPLE", "model_ranks", "ranks_of", "rater_of", "summary"]

PEOPLE: Final = "people"
"""What stands for all raters together."""

_SUITE: Final = "wdlmpro"
_AVERAGE: Final = {"template": "average"}


def rater_of(path: Path) -> str:
    """Return who filled a sheet: what its name says besides the task, or else the name of its folder.

    >>> rater_of(Path("filled/W2D_anna.csv")), rater_of(Path("ben/W2D.csv"))
    ('anna', 'ben')
    """
    name = path.stem
    for task in TASKS:
        name = name.replace(task, "")
    return name.strip(" _-.") or path.resolve().parent.name or "rater"


def ranks_of(sheets: Sequence[Path], key: pl.DataFrame) -> pl.DataFrame:
    """Return the ranks of all sheets: rater, then the columns of `read_sheet`.

    Raises `GlossemeError` for a wrong sheet, and for two sheets of one rater and task.
    """
    parts: list[pl.DataFrame] = []
    seen: dict[tuple[str, str], Path] = {}
    for path in sheets:
        rows, rater = read_sheet(path, key), rater_of(path)
        for task in rows["task"].unique(maintain_order=True):
            if (rater, task) in seen:
                what = f"{rater} has filled {task} in {seen[rater, task]} too"
                raise GlossemeError(what, where=str(path), todo="name each sheet after its rater, as W2D_anna.csv")
            seen[rater, task] = path
        parts.append(rows.select(pl.lit(rater).alias("rater"), pl.all()))
    return pl.concat(parts).sort(pl.col("task").cast(pl.Enum(TASKS)), maintain_order=True)


def model_ranks(runs: Iterable[Run], key: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Return what models say of the key's options, and sentences on runs that lack some of them.

    Columns: rater (the model, with its revision where that isn't main), the key's, value (what is ranked, higher is
    better). Only options of the key count. A run without all of a task's groups is left out of that task.
    """
    parts, notes = [], []
    for run in runs:
        identity = run.record["identity"]
        name = identity["model"] if identity["revision"] == "main" else f"{identity['model']}@{identity['revision']}"
        scores = run.scores().filter(*(pl.col(factor) == value for factor, value in _AVERAGE.items()))
        asked = scores.select("task", pl.col("item").alias("target"), "candidate", "value")
        joined = key.join(asked, on=["task", "target", "candidate"], how="left", maintain_order="left")
        for part in joined.partition_by("task", maintain_order=True):
            lacking = part.filter(pl.col("value").is_null())["group"].n_unique()
            if lacking:
                notes.append(f"{name} is left out of {part['task'][0]}: its run has not {lacking} of the groups")
            else:
                parts.append(part.select(pl.lit(name).alias("rater"), pl.all()))
    none = key.clear().select(pl.lit("").alias("rater"), pl.all(), value=pl.lit(0.0))
    return pl.concat([none, *parts]), notes


def summary(ranks: pl.DataFrame, models: pl.DataFrame) -> pl.DataFrame:
    """Return P@1 and rank score of raters, of all of them together, and of models: a summary by rater and task.

    `ranks` is what `ranks_of` returns, `models` what `model_ranks` does. The row of all raters takes their answers on
    one group as dependent.
    """
    outcomes = _judged(ranks.with_columns(value=-pl.col("rank").cast(pl.Float64)))
    several = ranks["rater"].n_unique() > 1
    table = summarise(outcomes, ["rater", "task"], cluster="group", also=[["task"]] if several else ())
    parts = [table.with_columns(pl.col("rater").replace(ALL, PEOPLE))]
    if models.height:
        parts.append(summarise(_judged(models), ["rater", "task"], cluster="group"))
    return pl.concat(parts)


def _judged(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the outcomes of rankings, higher values first: one row a rater and group."""
    gold = pl.col("candidate") == pl.col("target")
    scores = rows.select(
        pl.lit(_SUITE).alias("suite"),
        pl.col("group").alias("item"),
        pl.when(gold).then(pl.lit("gold")).otherwise(pl.lit("candidate")).alias("role"),
        "value",
        "rater",
        "task",
        "group",
    )
    return judge(scores, "rank", within=("rater", "task"))
