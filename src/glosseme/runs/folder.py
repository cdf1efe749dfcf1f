"""The files of a run: `run.json`, `scores.parquet`, `outcomes.parquet`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from glosseme.errors import GlossemeError

__all__ = [
    *("FORMAT", "OUTCOMES", "RUN", "SCORES"),
    *("Run", "find_runs", "read_run", "replacing", "survey", "write_json", "write_table"),
]

FORMAT = 1
"""Grows when a column or a key changes its meaning."""
RUN, SCORES, OUTCOMES = "run.json", "scores.parquet", "outcomes.parquet"

_REQUIRED = {"identity": ("model", "revision", "suite", "data"), "suite": ("by", "cluster")}
"""What a record has to say for anything to be done with it."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run's folder and what `run.json` says of it."""

    folder: Path
    record: dict[str, Any]

    @property
    def finished(self) -> bool:
        """Whether its tables are whole."""
        return self.record.get("status") == "finished" and all(
            (self.folder / name).is_file() for name in (SCORES, OUTCOMES)
        )

    def check(self) -> None:
        """Raise `GlossemeError` if one of its tables can't be read; only their ends are looked at."""
        for name in (SCORES, OUTCOMES):
            with _told(self.folder / name):
                pl.read_parquet_schema(self.folder / name)

    def scores(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return one row a request, with all columns or those named."""
        return _read_table(self.folder / SCORES, columns)

    def outcomes(self) -> pl.DataFrame:
        """Return one row an item."""
        return _read_table(self.folder / OUTCOMES)


def _read_table(path: Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    with _told(path):
        return pl.read_parquet(path, columns=None if columns is None else list(columns))


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        raise GlossemeError(
            f"the table can't be read ({(str(error).splitlines() or ['no reason given'])[0]})",
            where=str(path),
            todo="run the suite again",
        ) from None


def read_run(folder: Path) -> Run | None:
    """Return the run in a folder, None if there is none; raise `GlossemeError` if its record is broken."""
    path = folder / RUN
    if not path.is_file():
        return None
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise GlossemeError(
            f"the record of the run can't be read ({error})", where=str(path), todo="move the folder away"
        ) from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        found = record.get("format") if isinstance(record, dict) else None
        raise GlossemeError(
            f"the run has format {found!r}, and this version reads {FORMAT}",
            where=str(path),
            todo="run the suite again into another folder",
        )
    missing = _missing(record)
    if missing:
        raise GlossemeError(
            f"the record of the run lacks {', '.join(missing)}", where=str(path), todo="move the folder away"
        )
    return Run(folder, record)


def _missing(record: dict[str, Any]) -> list[str]:
    """Return the required keys that a record lacks."""
    missing = [] if isinstance(record.get("status"), str) else ["status"]
    for part, keys in _REQUIRED.items():
        known = record.get(part)
        if isinstance(known, dict):
            missing += [f"{part}.{key}" for key in keys if key not in known]
        else:
            missing.append(part)
    return missing


def find_runs(root: Path) -> Iterator[Run]:
    """Yield every run under `root`, in the order of folder names (step2 before step10); a broken record is skipped.

    Raises `GlossemeError` when the folder isn't there.
    """
    yield from survey(root)[0]


def survey(root: Path) -> tuple[list[Run], list[GlossemeError]]:
    """Return every run under `root`, in the order of their folders' names, and what is wrong with other records.

    Raises `GlossemeError` when the folder isn't there.
    """
    if not root.is_dir():
        raise GlossemeError("there is no such folder", where=str(root), todo="give the folder of `glosseme run -o`")
    runs: list[Run] = []
    broken: list[GlossemeError] = []
    for path in sorted(root.rglob(RUN), key=_natural):
        try:
            run = read_run(path.parent)
            if run is not None and run.finished:
                run.check()
        except GlossemeError as error:
            broken.append(error)
        else:
            runs += [] if run is None else [run]
    return runs, broken


def _natural(path: Path) -> list[list[tuple[bool, int, str]]]:
    """Return what sorts step2 before step10."""
    return [
        [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in re.split(r"([0-9]+)", name)]
        for name in path.parts
    ]


def write_json(path: Path, record: dict[str, Any]) -> None:
    """Write strict JSON, whole or not at all."""
    text = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False)
    with replacing(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def write_table(path: Path, table: pl.DataFrame) -> None:
    """Write a Parquet file, whole or not at all."""
    with replacing(path) as temporary:
        table.write_parquet(temporary)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary sibling that takes the place of a file when all went well; a link stays, its target is replaced.

    Raises `GlossemeError` for what is no file: a device or a pipe would be lost.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise GlossemeError("this is no file", where=str(path), todo="name another one")
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        yield temporary
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
