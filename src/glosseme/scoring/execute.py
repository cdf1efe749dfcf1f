"""Batches through an engine, values into the store as they come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from glosseme.errors import WORK_FAILED, GlossemeError
from glosseme.scoring.batch import ReadsOf, Rows, build
from glosseme.scoring.check import REFUSALS, Checks, Verdict, answers, gap_of, subset
from glosseme.scoring.hashes import keys_of
from glosseme.scoring.memory import give_back, ran_out
from glosseme.scoring.plan import Limits, halves, plan
from glosseme.scoring.reads import Lowered, Reads
from glosseme.scoring.store import Store
from glosseme.scoring.ways import Engine, Way, layout_of, limits_of

__all__ = ["Effort", "Progress", "Settings", "execute"]

_GIVEN_BACK = 16
"""Batches after which unused memory is given back."""

_SPOT_CHECKS = (0, 3, 15, 63, 255)
"""Batches of which a few sequences are scored again plainly."""


class Progress(Protocol):
    """Somebody who wants to know how far the work is."""

    def suite(self, folder: Path, notes: Sequence[str]) -> None:
        """Say which run begins, and what the user should know of its items."""

    def begin(self, total_tokens: int, total_questions: int) -> None:
        """Say how many tokens are to be forwarded, and how many questions that answers."""

    def advance(self, tokens: int, questions: int) -> None:
        """Say that so many tokens were forwarded and so many questions answered."""

    def say(self, line: str) -> None:
        """Pass a sentence on to the user."""

    def doing(self, line: str) -> None:
        """Say what is going on that may take a while."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How the work is done; no value depends on it."""

    limits: Limits | None = None
    """How much one forward pass may hold; what suits the engine when None."""
    ways: tuple[Way, ...] | None = None
    """The ways to try instead of the engine's own ladder."""
    allow_nonfinite: bool = False
    seed: int = 0
    """Chooses the sequences that are checked again."""


@dataclass(slots=True)
class Effort:
    """What a run cost."""

    way: str | None = None
    ways_found: dict[str, str] = field(default_factory=dict)
    spot_checks: int = 0
    spot_check_max_nats: float = 0.0
    questions: int = 0
    questions_stored: int = 0
    tokens_plain: int = 0
    """Tokens that plain scoring would forward for the questions answered."""
    tokens_forwarded: int = 0
    batches: int = 0
    batches_halved: int = 0
    nonfinite: int = 0
    seconds_load: float = 0.0
    """Loading the model."""
    seconds_check: float = 0.0
    """Finding the way, and spot checks."""
    seconds_model: float = 0.0
    """In the model, checks apart."""

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Add the seconds that something takes to those of its name."""
        start = time.perf_counter()
        try:
            yield
        finally:
            setattr(self, name, round(getattr(self, name) + time.perf_counter() - start, 3))


class _WayFailedError(Exception):
    """A spot check found a wrong value."""


def execute(
    lowered: Lowered,
    engine: Callable[[], Engine],
    store: Store,
    settings: Settings,
    progress: Progress,
    name_of: Callable[[int], str],
    checks: Checks | None = None,
) -> tuple[npt.NDArray[np.float32], Effort]:
    """Return the value of each read in nats, shape (reads,).

    `engine` is called only if an answer isn't in the store. `name_of` names a question for errors, `checks` has what
    is known of the engine from before. Raises `GlossemeError` for values that aren't finite, unless settings allow
    them.
    """
    work = _Work(lowered, store, settings, progress, name_of)
    work.recall()
    checks = checks or Checks()
    if not work.done.all():
        with work.effort.timed("seconds_load"):
            running = engine()
        work.check_vocabulary(running.vocabulary)
        limits = work.use(running)
        while True:
            with work.effort.timed("seconds_check"):
                verdict = checks.choose(running, limits, settings.ways)
            work.note(verdict)
            if work.run(running, verdict.way):
                break
            checks.wrong(verdict.way)
    return work.values(), work.effort


class _Work:
    """The values of one table of questions on their way from the engine to the store."""

    def __init__(
        self,
        lowered: Lowered,
        store: Store,
        settings: Settings,
        progress: Progress,
        name_of: Callable[[int], str],
    ) -> None:
        self._lowered, self._store, self._settings = lowered, store, settings
        self._progress, self._name_of = progress, name_of
        self._reads: Reads = lowered.reads
        self._keys = keys_of(lowered)
        self._first = np.searchsorted(self._reads.question, np.arange(len(lowered) + 1))
        self._values = np.full(len(self._reads.question), np.nan, np.float32)
        self._limits = settings.limits or Limits()
        self._answered = np.zeros(len(self._reads.question), bool)
        self._written: list[int] = []
        self._random = np.random.default_rng(settings.seed)
        self.effort = Effort(questions=len(lowered), tokens_plain=int(lowered.n_plain.sum()))

    @property
    def done(self) -> npt.NDArray[np.bool_]:
        """Whether each question is answered, shape (questions,)."""
        open_reads = np.bincount(self._reads.question[~self._answered], minlength=len(self._lowered))
        return np.equal(open_reads, 0)

    def recall(self) -> None:
        """Take what the store knows."""
        keys = self._keys.tolist()
        known = self._store.get(keys)
        for question, key in enumerate(keys if known else ()):
            values = known.get(key)
            if values is not None and self._usable(values, int(self._lowered.n_tokens[question])):
                self._values[self._span(question)] = values
                self._answered[self._span(question)] = True
                self.effort.questions_stored += 1

    def _usable(self, values: npt.NDArray[np.float32], n_tokens: int) -> bool:
        # A value that isn't finite was stored by a run that allowed it, which this one need not do.
        finite = self._settings.allow_nonfinite or bool(np.isfinite(values).all())
        return len(values) == n_tokens and finite

    def check_vocabulary(self, size: int) -> None:
        """Raise `GlossemeError` for a token that the model doesn't know, which would fail deep inside it."""
        if not len(self._reads.token):
            return
        highest = self._reads.highest[self._reads.sequence]
        unknown = np.flatnonzero(np.maximum(highest, self._reads.token) >= size)
        if unknown.size:
            raise GlossemeError(
                f"the tokenizer gives tokens beyond the model's vocabulary of {size}",
                where=self._name_of(int(self._reads.question[unknown[0]])),
                todo="use the tokenizer that belongs to the model",
            )

    def use(self, engine: Engine) -> Limits:
        """Return the limits of the batches that this engine is given."""
        self._limits = self._settings.limits or engine.limits
        return self._limits

    def note(self, verdict: Verdict) -> None:
        """Record which way was chosen and why."""
        self.effort.way = verdict.way
        self.effort.ways_found |= verdict.found

    def run(self, engine: Engine, way: Way) -> bool:
        """Answer what is left in one way; False when a spot check showed that the way is wrong here."""
        layout = layout_of(way)
        of = ReadsOf(self._reads)
        batches = plan(self._reads, layout, limits_of(way, self._limits), engine.vocabulary)
        left = [planned for planned in batches if not self._known(of, planned.rows)]
        self._progress.begin(sum(planned.n_tokens for planned in left), int((~self.done).sum()))
        for number, planned in enumerate(left):
            rows, written = planned.rows, len(self._written)
            try:
                self._answer(engine, of, rows, way)
                if number in _SPOT_CHECKS and way != "plain" and not engine.exact:
                    self._check(engine, rows, way)
            except _WayFailedError as failure:
                self._take_back(str(failure), way)
                return False
            except REFUSALS as error:
                if way == "plain":
                    raise
                self._take_back(f"{type(error).__name__}: {error}"[:200], way)
                return False
            if number % _GIVEN_BACK == 0:
                give_back()
            self._progress.advance(planned.n_tokens, len(self._written) - written)
        return True

    def _known(self, of: ReadsOf, rows: Rows) -> bool:
        read = of(s for row in rows for s in row)
        return bool(self._answered[read].all())

    def _answer(self, engine: Engine, of: ReadsOf, rows: Rows, way: Way) -> None:
        batch = build(self._reads, of, rows, packed=layout_of(way) == "trie", pad=engine.pad_id)
        values = None
        try:
            with self.effort.timed("seconds_model"):
                values = engine.answer(batch, way)
        except (RuntimeError, MemoryError) as error:
            if not ran_out(error):
                raise
        if values is None:  # past the error, whose frames hold on to the memory of the failed pass
            self._halve(engine, of, rows, way)
            return
        self._keep(batch.read, values)
        self.effort.batches += 1
        self.effort.tokens_forwarded += batch.n_tokens

    def _halve(self, engine: Engine, of: ReadsOf, rows: Rows, way: Way) -> None:
        parts = halves(rows, layout_of(way))
        if len(parts) < 2:
            read = of(s for row in rows for s in row)
            raise GlossemeError(
                "memory ran out on a single sequence",
                where=self._name_of(int(self._reads.question[read[0]])),
                todo="use a smaller model, --dtype bfloat16 or another device",
                exit_code=WORK_FAILED,
            )
        give_back(device=True)
        self.effort.batches_halved += 1
        for part in parts:
            self._answer(engine, of, part, way)

    def _keep(self, read: npt.NDArray[np.int64], values: npt.NDArray[np.float32]) -> None:
        self._check_finite(read, values)
        fresh = read[~self._answered[read]]
        self._values[fresh] = values[~self._answered[read]]
        self._answered[fresh] = True
        questions = np.unique(self._reads.question[fresh]).tolist()
        complete = [q for q in questions if self._answered[self._span(q)].all()]
        self._store.put((self._keys[q].tobytes(), self._values[self._span(q)]) for q in complete)
        self._written += complete

    def _check_finite(self, read: npt.NDArray[np.int64], values: npt.NDArray[np.float32]) -> None:
        bad = ~np.isfinite(values)
        if not bad.any():
            return
        if not self._settings.allow_nonfinite:
            raise GlossemeError(
                f"the model gave {values[bad][0]} as a log-probability",
                where=self._name_of(int(self._reads.question[read[bad][0]])),
                todo="try --dtype float32; --allow-nonfinite counts such values instead",
                exit_code=WORK_FAILED,
            )

    def _check(self, engine: Engine, rows: Rows, way: Way) -> None:
        """Score the longest and two other sequences of a batch again, plainly."""
        read = np.intersect1d([s for row in rows for s in row], self._reads.sequence)
        longest = read[np.argmax(self._reads.lengths[read])]
        others = self._random.permutation(read[read != longest])[:2]
        chosen, index = subset(self._reads, [longest, *others.tolist()])
        try:
            with self.effort.timed("seconds_check"):
                plain = answers(engine, chosen, "plain", self._limits)
        except (RuntimeError, MemoryError) as error:
            if not ran_out(error):
                raise
            self._progress.say("a spot check was left out, because memory ran out in it")
            return
        gap = gap_of(self._values[index], plain)
        self.effort.spot_checks += 1
        self.effort.spot_check_max_nats = max(self.effort.spot_check_max_nats, gap.largest)
        if not gap.is_rounding(engine.tolerance):
            raise _WayFailedError(f"a spot check differed by {gap.largest:.1e} nats")

    def _take_back(self, why: str, way: Way) -> None:
        """Forget all that this way has answered; what was in the store before stays."""
        self._store.forget(self._keys[q].tobytes() for q in self._written)
        wrong = ~self.done
        wrong[self._written] = True
        self._answered[wrong[self._reads.question]] = False
        self._written = []
        self.effort.ways_found[way] = why
        self._progress.say(f"the way {way!r} was dropped ({why}); its values are scored again")

    def _span(self, question: int) -> slice:
        return slice(int(self._first[question]), int(self._first[question + 1]))

    def values(self) -> npt.NDArray[np.float32]:
        """Return the value of each read."""
        self.effort.nonfinite = int((~np.isfinite(self._values)).sum())
        return self._values
