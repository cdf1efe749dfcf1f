"""A model at many checkpoints: which there are, which are alike, and the suites on each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from glosseme.errors import WORK_FAILED, GlossemeError
from glosseme.models import OpenModel, Reference
from glosseme.models.catalogue import expand
from glosseme.models.revisions import ALL, LOG, checkpoints_of, series_of
from glosseme.models.steps import step_of
from glosseme.progress import QuietProgress, progress_for
from glosseme.runs.evaluate import evaluate
from glosseme.runs.likelihood import STORE
from glosseme.runs.many import RunArguments, all_asked, check_arguments, check_folders, opened_model
from glosseme.runs.options import Asked
from glosseme.runs.shared import Shared
from glosseme.runs.trajectory_file import Step, check_series, marked, write_trajectory
from glosseme.scoring.execute import Settings
from glosseme.words import counted

__all__ = ["run_trajectory"]


@dataclass(slots=True)
class _Checkpoint:
    """A checkpoint that was asked for, with its model where there is one."""

    step: Step
    model: OpenModel | None = None


def run_trajectory(arguments: RunArguments, revisions: str = "log", *, quiet: bool = False) -> Iterator[Path]:
    """Run suites on the checkpoints of each model; yield the `trajectory.json` of each when it is done.

    Each model of `arguments` is a series: a hub name or a folder of checkpoints; `revisions` is `log`, `all` or names
    with commas. Items are read and tokenised once. A checkpoint that isn't there is a row of `trajectory.json` that
    says why; one with the weights of an earlier one is named before anything is scored. Raises `GlossemeError` for
    what is wrong with the request, and where no checkpoint can be run.
    """
    settings = check_arguments(arguments)
    progress = progress_for(quiet=quiet)
    every = [series_of(name) for name in expand(arguments.models)]
    check_folders((series.label, series.name) for series in every)
    found = [_found(series, revisions, arguments, progress) for series in every]
    asked = [all_asked(_first(checkpoints), arguments) for _, checkpoints in found]
    try:
        for (series, checkpoints), suites in zip(found, asked, strict=True):
            yield _run(series, checkpoints, suites, arguments, settings, progress)
    finally:
        progress.end()


def _found(
    series: Reference, revisions: str, arguments: RunArguments, progress: QuietProgress
) -> tuple[Reference, list[_Checkpoint]]:
    """Return the checkpoints asked for, those with equal weights and those that aren't there marked."""
    names, notes = checkpoints_of(series, revisions)
    for note in notes:
        progress.say(note)
    progress.doing(f"{series.display}: {counted(len(names), 'checkpoint')}, looking for equal weights")
    opened = [_opened(series, name, arguments, progress) for name in names]
    opened.sort(key=lambda c: (c.step.step is None, c.step.step or 0))
    if not any(checkpoint.model for checkpoint in opened):
        raise GlossemeError(
            f"none of {counted(len(opened), 'checkpoint')} can be run; of the first: {opened[0].step.reason}",
            where=series.display,
            todo=None if revisions in (LOG, ALL) else "check the names given with --revisions",
        )
    _one_kind(opened)
    for checkpoint, step in zip(opened, marked([c.step for c in opened]), strict=True):
        checkpoint.step = step
        _say(series, step, progress)
    if not arguments.overwrite:
        steps = [checkpoint.step for checkpoint in opened]
        check_series(arguments.out / series.label, _identity(series), steps)
    return series, opened


def _identity(series: Reference) -> str:
    """Return what tells a series from another of the same name, without the folders of this machine."""
    return sha256(series.name.encode("utf-8", "surrogatepass")).hexdigest()


def _one_kind(checkpoints: list[_Checkpoint]) -> None:
    """Take checkpoints out that are of another kind than the first: their values aren't on one scale."""
    kind = _first(checkpoints).kind
    for checkpoint in checkpoints:
        if checkpoint.model is not None and checkpoint.model.kind != kind:
            reason = f"it is a {checkpoint.model.kind} model, and the first checkpoint is a {kind} one"
            checkpoint.model, checkpoint.step = None, replace(checkpoint.step, status="missing", reason=reason)


def _opened(series: Reference, revision: str, arguments: RunArguments, progress: QuietProgress) -> _Checkpoint:
    step = Step(revision, step_of(revision), "there")
    try:
        model = opened_model(f"{series.name}@{revision}", arguments, progress)
        if isinstance(model, OpenModel):
            weights = json.dumps(sorted(model.weights().items()))
            known = sha256(weights.encode()).hexdigest() if weights != "[]" else None
            return _Checkpoint(replace(step, weights=known), model)
        reason = "static embeddings have no checkpoints"
    except GlossemeError as error:
        reason = _reason(error)
    return _Checkpoint(replace(step, status="missing", reason=reason))


def _reason(error: GlossemeError) -> str:
    """Return what an error says without saying where: that is the row's own name."""
    return "; ".join(part for part in (error.what, error.todo) if part)


def _say(series: Reference, step: Step, progress: QuietProgress) -> None:
    if step.same_as is not None:
        progress.say(f"{series.display}@{step.revision} holds the weights of {step.same_as}")
    if step.status == "missing":
        progress.say(f"{series.display}@{step.revision} is missing: {step.reason}")


def _first(checkpoints: list[_Checkpoint]) -> OpenModel:
    return next(checkpoint.model for checkpoint in checkpoints if checkpoint.model is not None)


def _run(
    series: Reference,
    checkpoints: list[_Checkpoint],
    asked: list[Asked],
    arguments: RunArguments,
    settings: Settings,
    progress: QuietProgress,
) -> Path:
    folder = arguments.out / series.label
    shared, stores, failed = Shared(), dict[str, Path](), list[GlossemeError]()
    for checkpoint in checkpoints:
        model = checkpoint.model
        if model is None:
            continue
        stores[checkpoint.step.revision] = folder / model.reference.revision_label / STORE
        store = stores[checkpoint.step.same_as or checkpoint.step.revision]
        try:
            evaluate(
                model,
                asked,
                arguments.out,
                progress,
                settings=settings,
                overwrite=arguments.overwrite,
                shared=shared,
                store=store,
            )
        except GlossemeError as error:
            if error.exit_code != WORK_FAILED:
                raise
            # A broken file or values that aren't finite are this checkpoint's own: the others go on.
            checkpoint.step = replace(checkpoint.step, status="missing", reason=_reason(error))
            _say(series, checkpoint.step, progress)
            failed.append(error)
        model.close()
        # Only once the first has shown that the suites can be asked, and after each, lest an interruption lose some.
        steps = [checkpoint.step for checkpoint in checkpoints]
        path = write_trajectory(folder, series.public_name, _identity(series), steps, anew=arguments.overwrite)
    if len(failed) == len(stores):
        raise failed[0]
    return path
