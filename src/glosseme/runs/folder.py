"""The files of a run: `run.json`, `scores.parquet`, `outcomes.parquet`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from glosseme.errors import GlossemeError

__all__ = ["FORMAT", "OUTCOMES", "RUN", "SCORES", "Run", "find_runs", "read_run", "write_json", "write_table"]

FORMAT = 1
"""Grows when a column or a key changes its meaning."""
RUN, SCORES, OUTCOMES = "run.json", "scores.parquet", "outcomes.parquet"


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

    def scores(self) -> pl.DataFrame:
        """Return one row a request."""
        return _read_table(self.folder / SCORES)

    def outcomes(self) -> pl.DataFrame:
        """Return one row an item."""
        return _read_table(self.folder / OUTCOMES)


def _read_table(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise GlossemeError(
            f"the table can't be read ({str(error).splitlines()[0]})",
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
    return Run(folder, record)


def find_runs(root: Path) -> Iterator[Run]:
    """Yield every run under `root`, in the order of their folders' names.

    Raises `GlossemeError` when the folder isn't there.
    """
    if not root.is_dir():
        raise GlossemeError("there is no such folder", where=str(root), todo="give the folder of `glosseme run -o`")
    for path in sorted(root.rglob(RUN)):
        run = read_run(path.parent)
        if run is not None:
            yield run


def write_json(path: Path, record: dict[str, Any]) -> None:
    """Write strict JSON, whole or not at all."""
    text = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False)
    with _replacing(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def write_table(path: Path, table: pl.DataFrame) -> None:
    """Write a Parquet file, whole or not at all."""
    with _replacing(path) as temporary:
        table.write_parquet(temporary)


class _replacing:  # noqa: N801  # reads as a verb where it is used
    """A temporary sibling that takes the place of a file when all went well."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}")

    def __enter__(self) -> Path:
        return self._temporary

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._temporary.replace(self._path)
        else:
            self._temporary.unlink(missing_ok=True)
