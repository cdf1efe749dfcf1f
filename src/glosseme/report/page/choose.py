"""Which runs a page is of, and what may be said of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from glosseme.models.steps import step_of
from glosseme.report.checkpoints import without_seeds
from glosseme.report.page.blocks import Keys
from glosseme.report.units import declared
from glosseme.runs.folder import Run

__all__ = ["About", "about", "design_of_run", "in_order", "keys_of", "last_of_each", "private"]

_LEAST = 3
"""So many steps of one model make a trajectory."""


@dataclass(frozen=True, slots=True)
class About:
    """What a run is of."""

    model: str
    revision: str
    suite: str

    @property
    def step(self) -> int | None:
        """The training step that the revision tells."""
        return step_of(self.revision)


def about(run: Run) -> About:
    """Return what a run is of."""
    identity = run.record["identity"]
    return About(str(identity["model"]), str(identity["revision"]), str(identity["suite"]))


def in_order(runs: Iterable[Run]) -> list[Run]:
    """Return runs by model, step and suite, so that the same runs make the same page wherever they lie."""

    def place(run: Run) -> tuple[Any, ...]:
        of = about(run)
        identity = sorted((key, str(value)) for key, value in run.record["identity"].items())
        return of.model, -1 if of.step is None else of.step, of.revision, of.suite, identity, str(run.folder)

    return sorted(runs, key=place)


def keys_of(runs: Sequence[Run]) -> Keys:
    """Return the suites and models of runs, in the order of their names."""
    return Keys(tuple(sorted({about(r).suite for r in runs})), tuple(sorted({about(r).model for r in runs})))


def last_of_each(runs: Sequence[Run]) -> list[Run]:
    """Return the runs without those of a trajectory's earlier checkpoints."""
    steps: dict[tuple[str, str], set[int]] = {}
    stepped, seeds = without_seeds(runs)
    for run in stepped:
        of = about(run)
        if of.step is not None:
            steps.setdefault((of.model, of.suite), set()).add(of.step)
    last = {key: max(found) for key, found in steps.items() if len(found) >= _LEAST}

    alone = {str(run.folder) for run in seeds}

    def kept(run: Run) -> bool:
        of = about(run)
        return str(run.folder) in alone or of.step is None or of.step == last.get((of.model, of.suite), of.step)

    return [run for run in runs if kept(run)]


def design_of_run(run: Run) -> str:
    """Return the design of a run's suite."""
    return str(declared(run, "design", ""))


def private(run: Run) -> bool:
    """Return whether a run's texts may be shown nowhere."""
    return bool(declared(run, "private", False))
