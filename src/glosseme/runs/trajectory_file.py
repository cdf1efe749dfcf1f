"""`trajectory.json`: every checkpoint that was asked for, also those that aren't there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

import polars as pl

from glosseme.errors import GlossemeError
from glosseme.models.steps import step_of
from glosseme.runs.folder import write_json

__all__ = ["TRAJECTORY", "Step", "read_trajectories", "read_trajectory", "write_trajectory"]

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


def write_trajectory(folder: Path, model: str, steps: Sequence[Step]) -> Path:
    """Write the checkpoints of a model beside its runs, with those that an earlier command asked for."""
    path = folder / TRAJECTORY
    kept = {row["revision"]: Step(**{k: v for k, v in row.items() if k != "model"}) for row in read_trajectory(path)}
    merged = kept | {step.revision: step for step in steps}
    ordered = sorted(merged.values(), key=lambda s: (s.step is None, s.step or 0, s.revision))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_json(path, {"format": FORMAT, "model": model, "steps": [asdict(step) for step in ordered]})
    except OSError as error:
        raise GlossemeError(
            f"the folder can't be written ({error.strerror})", where=str(folder), todo="choose another one with -o"
        ) from None
    return path


def read_trajectory(path: Path) -> list[dict[str, Any]]:
    """Return a row a checkpoint, none where there is no file; raise `GlossemeError` for a broken one."""
    if not path.is_file():
        return []
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
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
            }
            for step in record["steps"]
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise GlossemeError(
            f"the list of checkpoints can't be read ({error})",
            where=str(path),
            todo="move the file away; `glosseme trajectory` writes it anew",
        ) from None


def read_trajectories(root: Path) -> pl.DataFrame:
    """Return every checkpoint asked for of the models under a folder: model, revision, step, status, reason, same_as.

    Rows are in the order of steps; there are none where no trajectory was run.
    """
    rows = [row for path in sorted(root.rglob(TRAJECTORY)) for row in read_trajectory(path)]
    return pl.DataFrame(rows, schema=SCHEMA)
