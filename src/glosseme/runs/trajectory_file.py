"""`trajectory.json`: every checkpoint that was asked for, also those that aren't there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

import polars as pl

from glosseme.errors import GlossemeError
from glosseme.models.steps import step_of
from glosseme.runs.folder import write_json

__all__ = [
    "SCHEMA",
    "TRAJECTORY",
    "Step",
    "check_series",
    "marked",
    "read_trajectories",
    "read_trajectory",
    "survey_trajectories",
    "write_trajectory",
]

TRAJECTORY: Final = "trajectory.json"
FORMAT: Final = 1

SCHEMA: Final[dict[str, Any]] = {
    "model": pl.String,
    "revision": pl.String,
    "step": pl.Int64,
    "status": pl.String,
    "reason": pl.String,
    "same_as": pl.String,
}
"""The columns of `read_trajectories`."""


@dataclass(frozen=True, slots=True)
class Step:
    """One checkpoint of a trajectory."""

    revision: str
    step: int | None
    """The training step that its name tells."""
    status: Literal["there", "missing"]
    reason: str | None = None
    """Why it is missing."""
    same_as: str | None = None
    """The earlier revision that holds the same weights."""
    weights: str | None = None
    """SHA-256 of the hashes of the weight files."""


def check_series(folder: Path, series: str, steps: Sequence[Step]) -> None:
    """Raise `GlossemeError` if a folder holds another series of checkpoints: the two would be taken for one.

    `series` identifies the model's place; a series that was moved is known by the weights that it still has.
    """
    path = folder / TRAJECTORY
    before = read_trajectory(path)
    if not before or _record(path).get("series") in (None, series):
        return
    there = {row["weights"] for row in before} - {None}
    if not there & {step.weights for step in steps}:
        raise GlossemeError(
            "the folder holds the checkpoints of another model of this name",
            where=str(folder),
            todo="choose another folder with -o, or --overwrite",
        )


def write_trajectory(folder: Path, model: str, series: str, steps: Sequence[Step], *, anew: bool = False) -> Path:
    """Write the checkpoints of a model beside its runs, with those that an earlier command asked for.

    An earlier one that is missing is kept if its name tells a step; with `anew` none is kept. Raises `GlossemeError`
    for a folder that can't be written, and a list there that can't be read.
    """
    path = folder / TRAJECTORY
    before = [] if anew else [Step(**{k: v for k, v in row.items() if k != "model"}) for row in read_trajectory(path)]
    now = {step.revision for step in steps}
    kept = [s for s in before if s.revision not in now and (s.status == "there" or s.step is not None)]
    ordered = sorted([*kept, *steps], key=lambda s: (s.step is None, s.step or 0, s.revision))
    record = {"format": FORMAT, "model": model, "series": series, "steps": [asdict(step) for step in marked(ordered)]}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_json(path, record)
    except OSError as error:
        raise GlossemeError(
            f"the folder can't be written ({error.strerror})", where=str(folder), todo="choose another one with -o"
        ) from None
    return path


def marked(steps: Iterable[Step]) -> Iterator[Step]:
    """Yield the steps with `same_as` for each whose weights an earlier one holds."""
    first: dict[str, str] = {}
    for step in steps:
        if step.weights is None:  # not known here: what was said of it stands
            yield step
            continue
        earlier = first.setdefault(step.weights, step.revision)
        yield replace(step, same_as=earlier if earlier != step.revision else None)


def read_trajectory(path: Path) -> list[dict[str, Any]]:
    """Return a row a checkpoint, none where there is no file; raise `GlossemeError` for a broken one."""
    if not path.is_file():
        return []
    try:
        record = _record(path)
        if record["format"] != FORMAT:
            raise ValueError(f"format {record['format']!r}")
        return [
            {
                "model": str(record["model"]),
                "revision": str(step["revision"]),
                "step": step_of(str(step["revision"])),
                "status": "missing" if step["status"] == "missing" else "there",
                "reason": step.get("reason"),
                "same_as": step.get("same_as"),
                "weights": step.get("weights"),
            }
            for step in record["steps"]
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise GlossemeError(
            f"the list of checkpoints can't be read ({error})",
            where=str(path),
            todo="move the file away; `glosseme trajectory` writes it anew",
        ) from None


def _record(path: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def read_trajectories(root: Path) -> pl.DataFrame:
    """Return every checkpoint asked for of the models under a folder: model, revision, step, status, reason, same_as.

    Rows are in the order of steps; there are none where no trajectory was run. A list that can't be read is left out:
    `survey_trajectories` says so.
    """
    rows = [{name: row[name] for name in SCHEMA} for row in survey_trajectories(root)[0]]
    return pl.DataFrame(rows, schema=SCHEMA)


def survey_trajectories(root: Path) -> tuple[list[dict[str, Any]], list[GlossemeError]]:
    """Return a row for each checkpoint under a folder, and what is wrong with lists that can't be read."""
    rows: list[dict[str, Any]] = []
    broken: list[GlossemeError] = []
    for path in sorted(root.rglob(TRAJECTORY)):
        try:
            rows += read_trajectory(path)
        except GlossemeError as error:
            broken.append(error)
    return rows, broken
