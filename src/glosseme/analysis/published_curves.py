"""Curves from published tables of accuracies by revision, as released with Scivetti et al. (2026)."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from glosseme.errors import GlossemeError, nearest
from glosseme.models.steps import step_of
from glosseme.words import counted, quoted

__all__ = ["CURVE_COLUMNS", "read_published_curves"]

CURVE_COLUMNS: Final = {
    **dict.fromkeys(("curve", "suite", "model", "revision"), pl.String),
    "step": pl.Int64,
    **dict.fromkeys(("estimate", "low", "high"), pl.Float64),
    "n": pl.Int64,
    "chance": pl.Float64,
}
"""The columns of curves and their types; accuracies and chance are shares."""

_CONSTRUCTIONS: Final = {
    f"{first}{gap}{second}": f"{' '.join((first, *second.split('_')))}"
    for first, second in (("let", "alone"), ("much", "less"), ("never", "mind"))
    for gap in ("", " ")
} | {"nottomention": "not to mention", "not to mention": "not to mention"}
_BENCHMARKS: Final = {"blimp": 0.5, "comps": 0.5, "ewok": 0.25}
"""Benchmarks and chance in them."""
_FILTERS: Final = {"all": "semantics", "aligned": "semantics plausible", "misaligned": "semantics implausible"}
_FINER: Final = ("aligned1", "aligned2", "misaligned1", "misaligned2")
_TESTS: Final = ("Avg_Control", "NPI", "Pseudocleft", "CP Conjunction", "VP Conjunction", "VP Gap Conjunction")
_ENDINGS: Final = ("-semantics-and-benchmarks", "-semantics", "-syntax")
_KINDS: Final = ("world_knowledge_filter", "test_type")
_SUITES: Final = {"semantics": "paired-focus/semantics", "syntax": "paired-focus/syntax"}


@dataclass(frozen=True, slots=True)
class _Row:
    where: str
    revision: str
    construction: str
    kind: str
    accuracy: float


def read_published_curves(paths: Sequence[Path]) -> pl.DataFrame:
    """Return the curves in tables of published accuracies, with the columns of `curves_of_runs`.

    A table has its values between tabs, and the columns revision, construction, accuracy (a share), and
    `world_knowledge_filter` (semantics and benchmarks) or `test_type` (syntax); others are not read. `semantics
    plausible` is the mean of the constructions' `aligned`, `semantics implausible` of their `misaligned`, `semantics`
    of `all`; `syntax` is the mean of their `Avg_Test`. The model is the file's name without what follows it; low, high
    and n are null. Raises `GlossemeError` with file and line for anything else.
    """
    points: dict[tuple[str, str, str], list[_Row]] = {}
    for path in paths:
        model = _model(path)
        for row in _rows(path):
            for curve in _curves(row):
                points.setdefault((model, curve, row.revision), []).append(row)
    _check(points)
    table = [
        {
            "curve": curve,
            "suite": _SUITES.get(curve.split(" ")[0], curve.split(" ")[0]),
            "model": model,
            "revision": revision,
            "step": step_of(revision),
            "estimate": sum(row.accuracy for row in rows) / len(rows),
            "chance": _BENCHMARKS.get(curve.split(" ")[0], 0.5),
        }
        for (model, curve, revision), rows in points.items()
    ]
    frame = pl.DataFrame(table, schema={name: CURVE_COLUMNS[name] for name in table[0]} if table else CURVE_COLUMNS)
    missing = [pl.lit(None, type_).alias(name) for name, type_ in CURVE_COLUMNS.items() if name not in frame.columns]
    return frame.with_columns(*missing).select(*CURVE_COLUMNS).sort("model", "curve", "step", maintain_order=True)


def _model(path: Path) -> str:
    for ending in _ENDINGS:
        if path.stem.endswith(ending):
            return path.stem.removesuffix(ending)
    return path.stem


def _rows(path: Path) -> list[_Row]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise GlossemeError(f"the table can't be read ({error})", where=str(path)) from None
    reader = csv.reader(lines, delimiter="\t")
    head = next(reader, [])
    kinds = [name for name in _KINDS if name in head]
    missing = [name for name in ("revision", "construction", "accuracy") if name not in head]
    if missing or len(kinds) != 1:
        lacking = repr(missing[0]) if missing else " or ".join(map(repr, _KINDS))
        raise GlossemeError(
            f"the table has no column {lacking}",
            where=f"{path}:1",
            todo="give a table of accuracies by revision, with tabs between its values",
        )
    found: dict[tuple[str, str, str], _Row] = {}
    for cells in reader:
        if not cells:
            continue
        row = _row(cells, head, kinds[0], f"{path}:{reader.line_num}")
        key = (row.revision, row.construction, row.kind)
        if key in found:
            raise GlossemeError(f"{' '.join(key)} stands in {found[key].where} already", where=row.where)
        found[key] = row
    if not found:
        raise GlossemeError("the table has no rows", where=str(path))
    return list(found.values())


def _row(cells: Sequence[str], head: Sequence[str], kind: str, where: str) -> _Row:
    if len(cells) != len(head):
        what = f"the row has {counted(len(cells), 'value')} for {counted(len(head), 'column')}"
        raise GlossemeError(what, where=where)
    row = dict(zip(head, (cell.strip() for cell in cells), strict=True))
    try:
        accuracy = float(row["accuracy"])
    except ValueError:
        raise GlossemeError(f"the accuracy {quoted(row['accuracy'])} is no number", where=where) from None
    if not 0 <= accuracy <= 1:
        raise GlossemeError(f"the accuracy {quoted(row['accuracy'])} is no share between 0 and 1", where=where)
    if step_of(row["revision"]) is None:
        raise GlossemeError(f"the revision {quoted(row['revision'])} tells no step", where=where)
    found = _Row(where, row["revision"], row["construction"], row[kind], accuracy)
    _check_names(found, kind)
    return found


def _check_names(row: _Row, kind: str) -> None:
    syntax = kind == "test_type"
    constructions = [*_CONSTRUCTIONS, *(() if syntax else _BENCHMARKS)]
    if row.construction not in constructions:
        todo = nearest(row.construction, constructions)
        raise GlossemeError(f"there is no construction {quoted(row.construction)}", where=row.where, todo=todo)
    known: list[str]
    prefixes: tuple[str, ...]
    if row.construction in _BENCHMARKS:
        known, prefixes = ["all"], ("domain_",)
    elif syntax:
        known, prefixes = ["Avg_Test", *_TESTS], ()
    else:
        known, prefixes = [*_FILTERS, *_FINER], ("verb_",)
    if row.kind not in known and not any(row.kind.startswith(p) and row.kind != p for p in prefixes):
        raise GlossemeError(f"there is no {kind} {quoted(row.kind)}", where=row.where, todo=nearest(row.kind, known))


def _curves(row: _Row) -> list[str]:
    """Return the curves to whose point at its revision a row belongs."""
    if row.construction in _BENCHMARKS:
        domain = row.kind.removeprefix("domain_")
        return [row.construction if row.kind == "all" else f"{row.construction} {domain}"]
    construction = _CONSTRUCTIONS[row.construction]
    if row.kind == "Avg_Test":
        return ["syntax", f"syntax {construction}"]
    whole = [f"semantics {construction}"] if row.kind == "all" else []
    return [_FILTERS[row.kind], *whole] if row.kind in _FILTERS else []


def _check(points: dict[tuple[str, str, str], list[_Row]]) -> None:
    """Raise `GlossemeError` where an average lacks a construction that it has at other revisions, or has one twice."""
    most: dict[tuple[str, str], set[str]] = {}
    for (model, curve, _), rows in points.items():
        most.setdefault((model, curve), set()).update(_CONSTRUCTIONS.get(r.construction, r.construction) for r in rows)
    for (model, curve, revision), rows in points.items():
        names = [_CONSTRUCTIONS.get(row.construction, row.construction) for row in rows]
        if len(names) > len(set(names)):
            raise GlossemeError(f"{curve} has two values at {revision}", where=rows[-1].where, todo="give one table")
        lacking = sorted(most[model, curve] - set(names))
        if lacking:
            raise GlossemeError(f"{revision} has no {rows[0].kind} of {lacking[0]}", where=rows[0].where)
