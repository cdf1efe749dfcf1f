"""One model on one suite, into one folder; what is there already is not done again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from glosseme.errors import GlossemeError
from glosseme.models import Model, StaticModel
from glosseme.progress import QuietProgress
from glosseme.runs.folder import Run, read_run
from glosseme.runs.job import Job
from glosseme.runs.likelihood import LikelihoodJob
from glosseme.runs.options import Asked
from glosseme.runs.shared import Shared
from glosseme.runs.similarity import SimilarityJob
from glosseme.scoring.execute import Settings

__all__ = ["evaluate", "identity_of", "run_folder"]


def run_folder(model: Model, asked: Asked, out: Path) -> Path:
    """Return the folder of a run: `out`/model/revision/suite."""
    return out / model.reference.label / model.reference.revision_label / asked.folder


def evaluate(
    model: Model,
    asked: Sequence[Asked],
    out: Path,
    progress: QuietProgress,
    *,
    settings: Settings | None = None,
    overwrite: bool = False,
    shared: Shared | None = None,
    store: Path | None = None,
) -> list[Run]:
    """Run suites and return their folders; a finished run is returned as it is, a broken one goes on.

    All requests are read and checked before the model's weights are loaded for the first of them. `shared` keeps what
    other models with the same tokenizer can use, `store` names another file of values than the model's own. Raises
    `GlossemeError` for requests that the model can't answer, for a folder that can't be written or holds another run
    (unless `overwrite`), and for values that aren't finite.
    """
    shared = shared or Shared()
    settings = settings or Settings()
    # Nothing is written before all that can be wrong with the requests has been looked at.
    runs = [
        _prepare(model, one, out, settings, progress, overwrite=overwrite, shared=shared, store=store) for one in asked
    ]
    try:
        for one in runs:
            if isinstance(one, Job):
                one.begin()
        return [one.run(progress) if isinstance(one, Job) else one for one in runs]
    finally:
        shared.release()


def _prepare(
    model: Model,
    asked: Asked,
    out: Path,
    settings: Settings,
    progress: QuietProgress,
    *,
    overwrite: bool,
    shared: Shared,
    store: Path | None,
) -> Run | Job[Any]:
    folder = run_folder(model, asked, out)
    identity = identity_of(model, asked)
    before = None if overwrite else read_run(folder)
    # What isn't finished may be replaced: its values are in the store, where they are found by their tokens.
    if before is not None and before.finished:
        _check_same(before, identity)
        if before.record["identity"] == identity and _is_whole(before):
            return before
    job: Job[Any]
    if isinstance(model, StaticModel):
        job = SimilarityJob(model, asked, folder, identity, shared)
    else:
        job = LikelihoodJob(model, asked, folder, identity, shared, settings=settings, store=store)
    job.prepare(progress)
    return job


def _is_whole(run: Run) -> bool:
    try:
        run.check()
    except GlossemeError:
        return False
    return True


def identity_of(model: Model, asked: Asked) -> dict[str, Any]:
    """Return all that the values of a run depend on."""
    return {
        "model": model.reference.public_name,
        "revision": model.reference.revision,
        "commit": model.identity.commit,
        "weights_sha256": model.identity.weights,
        "tokenizer_sha256": model.identity.tokenizer,
        "dtype": model.dtype,
        "suite": asked.suite.name,
        "suite_version": asked.suite.version,
        "data": asked.data_name,
        "data_sha256": asked.data_sha256,
        "options": asked.recorded_options,
        "bos": asked.bos,
        "limit": asked.limit,
        "seed": asked.seed if asked.limit is not None else None,
    }


def _check_same(before: Run, identity: dict[str, Any]) -> None:
    """Refuse to put another run in the place of one."""
    old = before.record["identity"]
    changed = {k: (old.get(k), v) for k, v in identity.items() if old.get(k) != v}
    same_seed = identity["seed"] in (None, old.get("seed"))
    if same_seed and _grows(old.get("limit"), identity["limit"]):
        # A sample is part of a larger one: nothing is lost.
        changed = {k: v for k, v in changed.items() if k not in {"limit", "seed"}}
    if changed:
        what = "; ".join(f"{k} {_short(a)} there, {_short(b)} now" for k, (a, b) in changed.items())
        raise GlossemeError(
            f"the folder holds another run ({what})",
            where=str(before.folder),
            todo="choose another folder with -o, or --overwrite",
        )


def _grows(old: int | None, new: int | None) -> bool:
    return old is not None and (new is None or new > old)


def _short(value: object) -> str:
    text = str(value)
    return text[:12] if len(text) == 64 else text  # a hash
