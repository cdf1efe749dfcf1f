"""What is known of the models that were run: parameters, training tokens, objective."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from glosseme.analysis.published import published_name
from glosseme.errors import GlossemeError, nearest
from glosseme.models.catalogue import facts_of
from glosseme.runs.folder import Run
from glosseme.words import counted, quoted

__all__ = ["Facts", "facts_of_run", "read_facts", "unmatched"]

_COLUMNS: Final = ("model", "parameters", "tokens", "objective")
_OBJECTIVES: Final = ("causal", "masked")


@dataclass(frozen=True, slots=True)
class Facts:
    """A model's size, data and objective; None is unknown."""

    parameters: float | None = None
    tokens: float | None = None
    """Tokens seen in training."""
    objective: str | None = None
    """`causal` or `masked`."""


def read_facts(path: Path) -> dict[str, Facts]:
    """Return the facts in a CSV file with the columns model, parameters, tokens, objective, by the models' names.

    `model` is a name as tables show it, or the last part of it; the other columns may be left out and cells left
    empty. Raises `GlossemeError` with file and line for what is no such table, also where an objective is neither
    `causal` nor `masked`.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise GlossemeError(f"the file can't be read ({error})", where=str(path)) from None
    reader = csv.reader(lines)
    head = [name.strip() for name in next(reader, [])]
    if "model" not in head:
        raise GlossemeError("there is no column 'model'", where=f"{path}:1", todo=f"give {', '.join(_COLUMNS)}")
    unknown = [name for name in head if name not in _COLUMNS]
    if unknown:
        raise GlossemeError(
            f"there is no fact {quoted(unknown[0])}", where=f"{path}:1", todo=nearest(unknown[0], _COLUMNS)
        )
    found: dict[str, Facts] = {}
    for cells in reader:
        if not any(cell.strip() for cell in cells):
            continue
        name, facts = _row(cells, head, f"{path}:{reader.line_num}")
        if name in found:
            raise GlossemeError(f"model {quoted(name)} stands in the file twice", where=f"{path}:{reader.line_num}")
        found[name] = facts
    return found


def facts_of_run(run: Run, own: Mapping[str, Facts] | None = None) -> Facts:
    """Return what is known of a run's model: the user's own facts first, then the catalogue, then the run's record."""
    name = str(run.record["identity"]["model"])
    said = next((own[key] for key in _names(name) if key in own), Facts()) if own else Facts()
    listed = facts_of(name) or {}
    model = run.record.get("model", {})
    return Facts(
        said.parameters or listed.get("parameters") or model.get("parameters"),
        said.tokens or listed.get("tokens"),
        said.objective or listed.get("kind") or model.get("kind"),
    )


def unmatched(own: Mapping[str, Facts], runs: Sequence[Run]) -> list[str]:
    """Return the models of the user's own facts that none of the runs is of."""
    known = {key for run in runs for key in _names(str(run.record["identity"]["model"]))}
    return [name for name in own if name not in known]


def _names(model: str) -> tuple[str, ...]:
    """Return the names under which a file of facts may have a model, the fullest first."""
    return model, model.rsplit("/", 1)[-1], published_name(model)


def _row(cells: Sequence[str], head: Sequence[str], where: str) -> tuple[str, Facts]:
    if len(cells) != len(head):
        what = f"the row has {counted(len(cells), 'cell')} for {counted(len(head), 'column')}"
        raise GlossemeError(what, where=where)
    row = dict(zip(head, (cell.strip() for cell in cells), strict=True))
    if not row["model"]:
        raise GlossemeError("the model has no name", where=where)
    parameters, tokens = (_number(row.get(key, ""), key, where) for key in ("parameters", "tokens"))
    objective = row.get("objective", "").lower()
    if objective and objective not in _OBJECTIVES:
        what = f"objective {quoted(row['objective'])} is neither {' nor '.join(_OBJECTIVES)}"
        raise GlossemeError(what, where=where, todo=nearest(objective, _OBJECTIVES))
    return row["model"], Facts(parameters, tokens, objective or None)


def _number(cell: str, key: str, where: str) -> float | None:
    if not cell:
        return None
    try:
        number = float(cell.replace("_", ""))
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise GlossemeError(
            f"{key} {quoted(cell)} is no number above 0", where=where, todo="write it out, such as 410000000 or 4.1e8"
        )
    return number
