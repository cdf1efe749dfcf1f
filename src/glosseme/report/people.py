"""What `glosseme rate` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from glosseme.people.agreement import agreement
from glosseme.people.ratings import PEOPLE, model_ranks, ranks_of, summary
from glosseme.people.sheets import read_key
from glosseme.report.cells import cells, finite
from glosseme.report.tables import render
from glosseme.runs.folder import survey

__all__ = ["rate_sheets"]


def rate_sheets(key: Path, sheets: Sequence[Path], runs: Path | None = None, *, format_: str = "text") -> str:
    """Return P@1 and rank score of the raters of sheets and of the models of runs, and how far the raters agree.

    Text and JSON have the agreement, the other formats the table alone. Raises `GlossemeError` for a wrong key, sheet
    or format, and for a folder without runs.
    """
    options = read_key(key)
    ranks = ranks_of(sheets, options)
    found, broken = ([], []) if runs is None else survey(runs)
    suite = [run for run in found if run.finished and run.record["identity"]["suite"] == "wdlmpro"]
    models, notes = model_ranks(suite, options)
    if runs is not None and not suite:
        notes.append(f"{runs} has no finished run of wdlmpro")
    notes += [f"left out: {error.where}: {error.what}" for error in broken]
    table, agreed = summary(ranks, models), agreement(ranks)
    if format_ == "json":
        results = json.loads(render(table, "json"))
        return json.dumps({"results": results, "agreement": finite(agreed).to_dicts()}, indent=1, ensure_ascii=False)
    return render(table, format_, notes=[*_said(ranks), *_agreed(agreed), *notes])


def _said(ranks: pl.DataFrame) -> Iterator[str]:
    yield "accuracy is P@1."
    if ranks["rater"].n_unique() > 1:
        yield f"{PEOPLE}: all raters together, answers to one group taken as dependent."


def _agreed(table: pl.DataFrame) -> Iterator[str]:
    for row, (spearman, equal, alpha) in zip(
        table.iter_rows(named=True), cells(table, ["spearman", "equal_first", "alpha"]), strict=True
    ):
        yield (
            f"agreement of {row['raters']} raters, {row['task']}, {row['groups']} groups: mean Spearman correlation"
            f" {spearman}, equal first choices {equal}, Krippendorff's alpha (ordinal) {alpha}"
        )
