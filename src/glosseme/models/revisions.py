"""The checkpoints that a model has: revisions on the hub, or folders inside a folder."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

from glosseme.errors import GlossemeError
from glosseme.models.hub import list_revisions
from glosseme.models.reference import MAIN, Reference, parse_reference
from glosseme.models.steps import log_spaced, step_of

__all__ = ["ALL", "LOG", "checkpoints_of", "series_of"]

LOG: Final = "log"
ALL: Final = "all"


def series_of(text: str) -> Reference:
    """Return the model that a trajectory is of: a hub name, or a folder with a checkpoint in each subfolder.

    Raises `GlossemeError` for a name with a revision, and for a path without a folder.
    """
    path = Path(text).expanduser()
    if path.is_dir():
        return Reference(str(path.resolve()), MAIN, "folder")
    reference = parse_reference(text)
    if reference.source not in {"hub", "fake"}:
        raise GlossemeError(
            "this model has no checkpoints", where=text, todo="give a hub name or a folder of checkpoints"
        )
    if "@" in text:
        raise GlossemeError(
            "a trajectory takes a model without a revision", where=text, todo="name the steps with --revisions"
        )
    return Reference(reference.name, MAIN, reference.source)


def checkpoints_of(series: Reference, wanted: str) -> tuple[list[str], list[str]]:
    """Return the revisions that `wanted` means, by step, and sentences on what was left out.

    `wanted` is `log` (each step nearest to the double of the last), `all`, or names with commas, which are taken as
    they are, whether or not there are such checkpoints. Raises `GlossemeError` where no checkpoint is found.
    """
    named = [name.strip() for name in wanted.split(",") if name.strip()]
    if not named:
        raise GlossemeError("no revision was named", todo="give --revisions log, all, or names with commas")
    if named not in ([LOG], [ALL]):
        return list(dict.fromkeys(named)), []
    there = _there(series)
    steps, notes = _one_series(there)
    notes += _unnumbered(series, there)
    if not steps:
        raise GlossemeError(
            "no checkpoints were found: no name tells a step",
            where=series.display,
            todo=_names_todo(there),
        )
    if named == [ALL]:
        return [name for _, name in sorted(steps.items())], notes
    # The first epoch is number 0, and is trained; a step 0 is not.
    first = 1 if 0 in steps and "epoch" in steps[0].lower() else 0
    return [steps[step - first] for step in log_spaced([step + first for step in steps])], notes


def _names_todo(there: list[str]) -> str:
    shown = ", ".join(there[:5])
    return f"name them with --revisions ({shown} ...)" if there else "give the folder or model that has checkpoints"


def _there(series: Reference) -> list[str]:
    if series.source == "hub":
        return list_revisions(series)
    if series.source == "fake":
        return [str(2**k) for k in range(8)] if series.name.startswith("fake:random") else []
    return sorted(path.name for path in Path(series.name).iterdir() if path.is_dir())


def _unnumbered(series: Reference, names: list[str]) -> list[str]:
    """Return sentences on models that belong to a series and tell no step."""
    if series.source != "folder":
        return []
    folder = Path(series.name)
    others = [name for name in names if step_of(name) is None and (folder / name / "config.json").is_file()]
    if (folder / "config.json").is_file():
        others.insert(0, MAIN)
    what = "the model in the folder itself" if others == [MAIN] else f"models that tell no step: {', '.join(others)}"
    return [f"left out: {what} (--revisions takes it by name, {others[0]})"] if others else []


def _one_series(names: list[str]) -> tuple[dict[int, str], list[str]]:
    """Return the names by step; of names of several patterns (epochs beside steps, stages) those of the commonest."""
    told = {name: step for name in names if (step := step_of(name)) is not None}
    patterns = Counter(_pattern(name, step) for name, step in told.items())
    if not patterns:
        return {}, []
    (pattern, _), *others = patterns.most_common()
    chosen = {step: name for name, step in sorted(told.items()) if _pattern(name, step) == pattern}
    left = sum(n for _, n in others)
    some = "a checkpoint with another name" if left == 1 else f"{left} checkpoints with other names"
    notes = [f"left out: {some} than {pattern!r} (--revisions takes them by name)"]
    return chosen, notes if left else []


def _pattern(name: str, step: int) -> str:
    """Return what the names of one series share.

    >>> _pattern("stage1-step1000-tokens5B", 1000)
    'stage1-stepN'
    """
    digits = str(step)
    found = name.rfind(digits) if name.endswith(digits) else name.find(digits)
    while found > 0 and name[:found][-1] == "0":  # leading zeros
        found -= 1
    return f"{name[:found]}N"
