"""One model on one suite, into one folder; what is there already is not done again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl

from glosseme.designs import judge
from glosseme.errors import GlossemeError
from glosseme.measures import check_requests
from glosseme.models import OpenModel
from glosseme.runs.folder import FORMAT, OUTCOMES, RUN, SCORES, Run, read_run, write_json, write_table
from glosseme.runs.options import Asked, pll_variant
from glosseme.runs.scores import scores_of
from glosseme.runs.warn import warnings_of
from glosseme.scoring.encode import Encoder, frame_of
from glosseme.scoring.execute import Effort, Progress, Settings, execute
from glosseme.scoring.fake_engine import FakeEngine
from glosseme.scoring.lower import lower
from glosseme.scoring.reads import Lowered
from glosseme.scoring.store import Store
from glosseme.scoring.ways import Engine
from glosseme.suites.sample import sample
from glosseme.suites.suite import Drawing, Items

__all__ = ["evaluate", "run_folder"]

STORE = "values.sqlite"
"""The values of all suites of a model and revision, beside their folders."""

T = TypeVar("T")


def run_folder(model: OpenModel, asked: Asked, out: Path) -> Path:
    """Return the folder of a run: `out`/model/revision/suite."""
    return out / model.reference.label / model.reference.revision_label / asked.folder


def evaluate(
    model: OpenModel,
    asked: Sequence[Asked],
    out: Path,
    progress: Progress,
    *,
    settings: Settings | None = None,
    overwrite: bool = False,
) -> list[Run]:
    """Run suites and return their folders; a finished run is returned as it is, a broken one goes on.

    All requests are read and checked before the model's weights are loaded for the first of them. Raises
    `GlossemeError` for requests that the model can't answer, for a folder that can't be written or holds another run
    (unless `overwrite`), and for values that aren't finite.
    """
    runs = [_prepare(model, one, out, settings or Settings(), overwrite=overwrite) for one in asked]
    return [one.run(progress) if isinstance(one, _Job) else one for one in runs]


def _prepare(model: OpenModel, asked: Asked, out: Path, settings: Settings, *, overwrite: bool) -> Run | _Job:
    folder = run_folder(model, asked, out)
    identity = _identity(model, asked)
    before = None if overwrite else read_run(folder)
    if before is not None:
        _check_same(before, identity)
        if before.finished and before.record["identity"] == identity:
            return before
    job = _Job(model, asked, folder, identity, settings)
    job.prepare()
    return job


def _identity(model: OpenModel, asked: Asked) -> dict[str, Any]:
    """Return all that the values of a run depend on."""
    return {
        "model": model.reference.name
        if model.reference.source in {"hub", "offline", "fake"}
        else model.reference.label,
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


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass
class _Job:
    """The steps of one run."""

    model: OpenModel
    asked: Asked
    folder: Path
    identity: dict[str, Any]
    settings: Settings
    notes: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    started: str = field(default_factory=_now)
    items: Items = field(init=False)
    requests: pl.DataFrame = field(init=False)
    lowered: Lowered = field(init=False)

    def prepare(self) -> None:
        """Read the requests and lower them to tokens: all that can go wrong with them goes wrong here."""
        encoder = self._timed("tokenizer", lambda: frame_of(self.model.tokenizer, self.model.kind, self.asked.bos))
        self.items = self._timed("items", lambda: self._read_items(encoder))
        self.requests = self.items.requests
        own = self.asked.data_sha256 is not None
        self.notes += warnings_of(self.requests, first_token_scored=bool(encoder.prefix), spaces=own)
        self.lowered = self._timed("lower", lambda: self._lower(self.requests, encoder))
        self._write_record("running", {})

    def run(self, progress: Progress) -> Run:
        """Do what is left and write the files."""
        requests, lowered, suite = self.requests, self.lowered, self.asked.suite
        progress.suite(self.folder, self.notes)
        with Store(self.folder.parents[len(Path(self.asked.folder).parts) - 1] / STORE, self._store_key()) as store:
            values, effort = self._timed("score", lambda: self._execute(store, progress))
        expand, reduction = self.items.expand, suite.reduction(self.asked.options)
        scores = scores_of(requests, lowered, values, suite.name, reduction, first=expand is not None)
        scores = scores if expand is None else expand(scores)
        outcomes = self._timed("judge", lambda: judge(scores, suite.design, suite.within))
        self._write(scores, outcomes)
        record = self._write_record("finished", _counts(scores, outcomes, lowered, effort))
        return Run(self.folder, record)

    def _timed(self, name: str, work: Callable[[], T]) -> T:
        start = time.perf_counter()
        value = work()
        self.seconds[name] = round(time.perf_counter() - start, 3)
        return value

    def _read_items(self, encoder: Encoder) -> Items:
        suite, asked, kind = self.asked.suite, self.asked, self.model.kind
        if suite.draw is not None:
            drawing = Drawing(asked.limit, asked.seed, asked.files, encoder.cut)
            items = suite.draw(kind, asked.data, asked.options, drawing)
        else:
            items = suite.build(kind, asked.data, asked.options)
        self.notes += items.notes
        check_requests(items.requests, kind, suite.name)
        if suite.draw is not None or asked.limit is None:
            return items
        return replace(items, requests=sample(items.requests, suite, asked.limit, asked.seed))

    def _lower(self, requests: pl.DataFrame, encoder: Encoder) -> Lowered:
        suite = self.asked.suite
        return lower(
            requests,
            encoder,
            join=suite.join,
            pll=pll_variant(self.asked.options),
            max_length=self.model.max_length,
            where=suite.name,
        )

    def _execute(self, store: Store, progress: Progress) -> tuple[Any, Effort]:
        def name_of(question: int) -> str:
            request = int(np.flatnonzero(self.lowered.question_of_request == question)[0])
            return f"{self.asked.suite.name}, item {self.requests['item'][request]!r}"

        return execute(self.lowered, lambda: _engine(self.model), store, self.settings, progress, name_of)

    def _store_key(self) -> str:
        parts = [self.identity[k] for k in ("weights_sha256", "tokenizer_sha256", "dtype")]
        return sha256("\n".join([*parts, self.model.kind]).encode()).hexdigest()

    def _write(self, scores: pl.DataFrame, outcomes: pl.DataFrame) -> None:
        try:
            write_table(self.folder / SCORES, scores)
            write_table(self.folder / OUTCOMES, outcomes)
        except OSError as error:
            raise _unwritable(self.folder, error) from None

    def _write_record(self, status: str, found: dict[str, Any]) -> dict[str, Any]:
        suite = self.asked.suite
        record = {
            "format": FORMAT,
            "glosseme": version("glosseme"),
            "status": status,
            "identity": self.identity,
            "model": self.model.record() if found else {"name": self.identity["model"]},
            "suite": {
                "name": suite.name,
                "title": suite.title,
                "version": suite.version,
                "source": suite.source,
                "design": suite.design,
                "reduction": suite.reduction(self.asked.options),
                "options": suite.defaults(),
                "factors": list(suite.factors),
                "cluster": suite.cluster,
                "by": list(suite.by),
                "also": [list(columns) for columns in suite.also],
                "where": dict(suite.where),
            },
            "notes": self.notes,
            "started": self.started,
            "ended": _now() if found else None,
            "seconds": self.seconds,
            **found,
        }
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_json(self.folder / RUN, record)
        except OSError as error:
            raise _unwritable(self.folder, error) from None
        return record


def _unwritable(folder: Path, error: OSError) -> GlossemeError:
    return GlossemeError(
        f"the folder can't be written ({error.strerror})",
        where=str(folder),
        todo="choose another one with -o",
    )


def _engine(model: OpenModel) -> Engine:
    if model.fake is not None:
        return FakeEngine(model.fake, len(model.tokenizer))
    from glosseme.scoring.engine import TorchEngine

    pad = model.tokenizer.pad_token_id
    return TorchEngine(model.network(), model.kind, 0 if pad is None else int(pad))


def _counts(scores: pl.DataFrame, outcomes: pl.DataFrame, lowered: Lowered, effort: Effort) -> dict[str, Any]:
    judged = outcomes["value" if outcomes["chance"].is_null().all() else "correct"]
    return {
        "counts": {
            "items": outcomes.height,
            "items_dropped": judged.null_count(),
            "ties": int(outcomes["tie"].sum() or 0),
            "requests": scores.height,
            "requests_spanning": int(scores["spanning"].sum()),
            "requests_mismatch": int(scores["mismatch"].sum()),
            "sequences": len(lowered.reads.lengths),
        },
        "execution": asdict(effort),
    }
