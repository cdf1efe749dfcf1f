"""Which runs are checkpoints of one model, and the curves of those with weights of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from glosseme.analysis.curves import curves_of_runs
from glosseme.analysis.differences import FEWEST
from glosseme.analysis.finals import of_same_items
from glosseme.errors import GlossemeError
from glosseme.models.steps import step_of
from glosseme.runs.folder import Run
from glosseme.runs.trajectory_file import TRAJECTORY, read_trajectory

__all__ = ["checkpoints_beside", "copies_among", "grouped", "of_same_items_each", "own_curves", "without_seeds"]

_UP: Final = 4
"""So many folders above a run the list of its model's checkpoints is looked for."""


def checkpoints_beside(runs: Iterable[Run]) -> list[dict[str, Any]]:
    """Return the rows of the lists of checkpoints that lie beside the folders of runs, of their models.

    A list that can't be read has no rows.
    """
    models: dict[Path, set[str]] = {}
    for run in runs:
        for folder in list(run.folder.absolute().parents)[:_UP]:
            models.setdefault(folder, set()).add(str(run.record["identity"]["model"]))
    rows = [row for folder in sorted(models) for row in _rows(folder) if row["model"] in models[folder]]
    return [row for n, row in enumerate(rows) if row not in rows[:n]]


def _rows(folder: Path) -> list[dict[str, Any]]:
    try:
        return read_trajectory(folder / TRAJECTORY)
    except GlossemeError:
        # What is broken is named where runs are chosen.
        return []


def copies_among(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    """Return which revisions hold the weights of an earlier one: by model and revision the other revision."""
    return {(row["model"], row["revision"]): row["same_as"] for row in rows if row["same_as"] is not None}


def without_seeds(runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """Return the runs whose revisions may be checkpoints, and those of fakes whose numbers are seeds and no steps.

    A fake that a list of checkpoints has is a checkpoint like others.
    """
    fakes = [run for run in runs if str(run.record["identity"]["model"]).startswith("fake:")]
    listed = {(row["model"], row["revision"]) for row in checkpoints_beside(fakes)}
    seeds = {str(run.folder) for run in fakes if _key(run) not in listed}
    return [run for run in runs if str(run.folder) not in seeds], [run for run in runs if str(run.folder) in seeds]


def _key(run: Run) -> tuple[str, str]:
    return str(run.record["identity"]["model"]), str(run.record["identity"]["revision"])


def own_curves(
    runs: Sequence[Run], copies: Mapping[tuple[str, str], str] | None = None
) -> tuple[pl.DataFrame, list[str]]:
    """Return the curves of the models that have enough checkpoints, each of its own weights, and notes on the others.

    `copies` names, for a model and a revision, the earlier revision whose weights it holds; by default it is what the
    lists of checkpoints beside the runs say.
    """
    known = copies_among(checkpoints_beside(runs)) if copies is None else copies
    stepped = without_seeds(runs)[0]
    kept, notes = of_same_items_each(stepped)
    kept, twice = _each_once(kept, known)
    curves = curves_of_runs(kept).filter(pl.col("step").is_not_null())
    enough = curves.filter(pl.col("step").n_unique().over("model") >= FEWEST)
    shown = set(enough["model"])
    # A word on each model with a revision or two would be a list of all models.
    expected = shown | {model for model, n in _revisions(stepped).items() if n >= FEWEST}
    notes += [note for model, note in twice if model in expected]
    left = curves.filter(~pl.col("model").is_in(list(shown))).group_by("model").agg(pl.col("step").n_unique())
    few = [f"{model} ({n:,})" for model, n in left.sort("model").rows()]
    notes += [f"left out, with fewer than {FEWEST} checkpoints: {', '.join(few)}"] if few else []
    return enough, notes


def _revisions(runs: Sequence[Run]) -> Counter[str]:
    """Return of how many revisions of each model there are runs."""
    return Counter(model for model, _ in {_key(run) for run in runs})


def of_same_items_each(runs: Sequence[Run]) -> tuple[list[Run], list[str]]:
    """Return of each model and suite the runs that were asked the same, those of most checkpoints, and notes."""
    kept: list[Run] = []
    notes: list[str] = []
    for group in grouped(sorted(runs, key=_place), "model", "suite"):
        same, said = of_same_items(group)
        kept += same
        notes += said
    return kept, notes


def grouped(runs: Sequence[Run], *keys: str) -> list[list[Run]]:
    """Return runs in groups that share parts of their identity."""
    groups: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        groups.setdefault(tuple(str(run.record["identity"][key]) for key in keys), []).append(run)
    return list(groups.values())


def _place(run: Run) -> tuple[Any, ...]:
    """Return where a run stands whatever order the folders have; float32 comes before other precisions."""
    identity = run.record["identity"]
    exact = identity.get("dtype", "float32") == "float32"
    rest = sorted((key, str(value)) for key, value in identity.items())
    return str(identity["model"]), _step(run), not exact, rest, str(run.folder)


def _each_once(runs: Sequence[Run], copies: Mapping[tuple[str, str], str]) -> tuple[list[Run], list[tuple[str, str]]]:
    """Return the runs of different checkpoints, and for each one left out its model and a note.

    Left out is what holds the weights of an earlier checkpoint, has its step, or tells no step: between a checkpoint
    and its copy no training was done, and a difference of 0 would say that it taught nothing.
    """
    kept: list[Run] = []
    notes: dict[tuple[str, str], None] = {}
    for group in grouped(runs, "model", "suite"):
        seen: dict[object, str] = {}
        for run in sorted(group, key=_step):
            identity = run.record["identity"]
            name, revision = str(identity["model"]), str(identity["revision"])
            step, weights = step_of(revision), identity.get("weights_sha256")
            same = copies.get((name, revision))
            before = same if same in seen.values() else seen.get(("weights", weights)) or seen.get(("step", step))
            if step is None or before:
                why = f"has the weights or the step of {before}" if before else "tells no step"
                notes[name, f"left out: {name}@{revision} {why}"] = None
                continue
            kept.append(run)
            seen[("step", step)] = revision
            if weights:
                seen[("weights", weights)] = revision
    return kept, list(notes)


def _step(run: Run) -> int:
    step = step_of(str(run.record["identity"]["revision"]))
    # What tells no step comes last: it may hold the weights of the last checkpoint under another name.
    return 2**62 if step is None else step
