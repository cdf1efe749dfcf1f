"""One model on one suite: what is the same whatever kind of model answers."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Generic, TypeVar

import polars as pl

from glosseme.designs import judge
from glosseme.errors import GlossemeError
from glosseme.measures import check_requests
from glosseme.models import Model
from glosseme.runs.folder import FORMAT, OUTCOMES, RUN, SCORES, Run, write_json, write_table
from glosseme.runs.options import Asked
from glosseme.runs.shared import Shared
from glosseme.runs.warn import warnings_of
from glosseme.scoring.execute import Effort, Progress
from glosseme.suites.sample import sample
from glosseme.suites.suite import Drawing, Items

__all__ = ["Answers", "Job"]

M = TypeVar("M", bound=Model)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answers:
    """What a model said."""

    scores: pl.DataFrame
    """One row a request: `designs.SCORE_COLUMNS`, what `Items.expand` needs besides, and the factors."""
    counts: dict[str, int]
    """Numbers for run.json that belong to a kind of model."""
    effort: Effort


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass
class Job(ABC, Generic[M]):
    """The steps of one run; a kind of model gives `_drawing`, `_ready` and `_answer`."""

    model: M
    asked: Asked
    folder: Path
    identity: dict[str, Any]
    shared: Shared = field(default_factory=Shared)
    notes: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    started: str = field(default_factory=_now)
    items: Items = field(init=False)
    requests: pl.DataFrame = field(init=False)

    def prepare(self, progress: Progress) -> None:
        """Read the requests and make them ready: all that can go wrong with them goes wrong here."""

        def read() -> tuple[Items, list[str]]:
            progress.doing(f"{self.asked.suite.name}: reading and tokenising the items")
            return self._all_items()

        self.items, notes = self._timed("items", lambda: self._once("items", read))
        self.notes += notes
        self.requests = self.items.requests
        self._ready()

    def begin(self) -> None:
        """Say in the folder that the run is under way."""
        self._write_record("running", {})

    def run(self, progress: Progress) -> Run:
        """Do what is left and write the files."""
        suite, expand = self.asked.suite, self.items.expand
        progress.suite(self.folder, self.shared.unsaid(suite.name, self.notes))
        answers = self._answer(progress)
        scores = answers.scores if expand is None else expand(answers.scores)
        outcomes = self._timed("judge", lambda: judge(scores, suite.design, suite.within))
        self._write(scores, outcomes)
        found = {"counts": {**_counts(scores, outcomes), **answers.counts}, "execution": asdict(answers.effort)}
        return Run(self.folder, self._write_record("finished", found))

    def _once(self, what: str, work: Callable[[], T]) -> T:
        """Return what `work` gives, which depends on what is asked and on the tokenizer and on nothing else."""
        asked = [self.identity[k] for k in ("suite", "data", "data_sha256", "bos", "limit", "seed")]
        options = sorted(self.asked.recorded_options.items())
        key = (what, self.model.kind, self.model.max_length, self.asked.data, *asked, *options)
        return self.shared.once(self.identity["tokenizer_sha256"], key, work)

    def _all_items(self) -> tuple[Items, list[str]]:
        """Return the items and what is to be said of them."""
        notes: list[str] = []
        items = self._read_items(self._drawing(), notes)
        notes += self._warnings(items.requests)
        return items, notes

    @abstractmethod
    def _ready(self) -> None:
        """Do what the requests need before the model is loaded."""

    @abstractmethod
    def _answer(self, progress: Progress) -> Answers:
        """Put the requests to the model."""

    def _drawing(self) -> Drawing:
        """Return what a suite needs to know that draws its own sample."""
        return Drawing(self.asked.limit, self.asked.seed, self.asked.files)

    def _warnings(self, requests: pl.DataFrame) -> list[str]:
        """Return what to know of requests that may not mean what they seem to."""
        own = self.asked.data_sha256 is not None
        return warnings_of(requests, first_token_scored=self._first_token_scored(), spaces=own, special=self._special())

    def _first_token_scored(self) -> bool:
        return True

    def _special(self) -> Sequence[str]:
        return ()

    def _timed(self, name: str, work: Callable[[], T]) -> T:
        start = time.perf_counter()
        value = work()
        self.seconds[name] = round(time.perf_counter() - start, 3)
        return value

    def _read_items(self, drawing: Drawing, notes: list[str]) -> Items:
        suite, asked, kind = self.asked.suite, self.asked, self.model.kind
        if suite.draw is not None:
            items = suite.draw(kind, asked.data, asked.options, drawing)
        else:
            items = suite.build(kind, asked.data, asked.options)
        notes += items.notes
        check_requests(items.requests, kind, suite.name)
        if suite.draw is not None or asked.limit is None:
            return items
        return replace(items, requests=sample(items.requests, suite, asked.limit, asked.seed))

    def _write(self, scores: pl.DataFrame, outcomes: pl.DataFrame) -> None:
        if self.asked.suite.private:
            scores = scores.with_columns(pl.lit(None, pl.String).alias(name) for name in ("context", "text"))
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
                "apart": list(suite.apart),
                "macro": suite.macro,
                "private": suite.private,
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


def _counts(scores: pl.DataFrame, outcomes: pl.DataFrame) -> dict[str, int]:
    judged = outcomes["value" if outcomes["chance"].is_null().all() else "correct"]
    return {
        "items": outcomes.height,
        "items_dropped": judged.null_count(),
        "ties": int(outcomes["tie"].sum() or 0),
        "requests": scores.height,
        "requests_spanning": int(scores["spanning"].sum()),
        "requests_mismatch": int(scores["mismatch"].sum()),
    }
