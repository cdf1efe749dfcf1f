"""The job of a language model: requests become reads of token probabilities, kept in a store as they come."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from glosseme.models import OpenModel
from glosseme.runs.job import Answers, Job
from glosseme.runs.options import pll_variant
from glosseme.runs.scores import scores_of
from glosseme.runs.withheld import withheld
from glosseme.scoring.encode import Encoder, frame_of
from glosseme.scoring.execute import Effort, Progress, Settings, execute
from glosseme.scoring.fake_engine import FakeEngine
from glosseme.scoring.lower import lower
from glosseme.scoring.reads import Lowered
from glosseme.scoring.store import Store
from glosseme.scoring.ways import Engine
from glosseme.suites.suite import Drawing

__all__ = ["LikelihoodJob"]

STORE = "values.sqlite"
"""The values of all suites of a model and revision, beside their folders."""


@dataclass
class LikelihoodJob(Job[OpenModel]):
    """A causal or masked model on a suite."""

    settings: Settings = field(default_factory=Settings)
    store: Path | None = None
    """Where values are kept; in the folder of the model and revision when None."""
    lowered: Lowered = field(init=False)

    def _drawing(self) -> Drawing:
        asked = self.asked
        return Drawing(asked.limit, asked.seed, asked.files, self._encoder().cut)

    def _encoder(self) -> Encoder:
        model, bos = self.model, self.asked.bos
        # The seconds are in those of the items.
        return self._once("encoder", lambda: frame_of(model.tokenizer, model.kind, bos))

    def _first_token_scored(self) -> bool:
        return bool(self._encoder().prefix)

    def _special(self) -> list[str]:
        names = ("bos_token", "eos_token", "cls_token", "sep_token", "pad_token")
        tokens = (getattr(self.model.tokenizer, name, None) for name in names)
        return sorted({str(token) for token in tokens if token})

    def _ready(self) -> None:
        self.lowered = self._timed("lower", lambda: self._once("lowered", self._lower))

    def _answer(self, progress: Progress) -> Answers:
        lowered, suite = self.lowered, self.asked.suite
        beside = self.folder.parents[len(Path(self.asked.folder).parts) - 1] / STORE
        with Store(self.store or beside, self._store_key()) as store:
            values, effort = self._timed("score", lambda: self._execute(store, progress))
        reduction, first = suite.reduction(self.asked.options), self.items.expand is not None
        scores = scores_of(self.requests, lowered, values, suite.name, reduction, first=first)
        return Answers(scores, {"sequences": len(lowered.reads.lengths)}, effort)

    def _lower(self) -> Lowered:
        suite = self.asked.suite
        with withheld() if suite.private else nullcontext():
            return lower(
                self.requests,
                self._encoder(),
                join=suite.join,
                pll=pll_variant(self.asked.options),
                max_length=self.model.max_length,
                where=suite.name,
            )

    def _execute(self, store: Store, progress: Progress) -> tuple[Any, Effort]:
        def name_of(question: int) -> str:
            request = int(np.flatnonzero(self.lowered.question_of_request == question)[0])
            return f"{self.asked.suite.name}, item {self.requests['item'][request]!r}"

        def engine() -> Engine:
            return self.shared.engine(self.model, lambda: _engine(self.model, self._pad_id()))

        return execute(self.lowered, engine, store, self.settings, progress, name_of, self.shared.checks)

    def _pad_id(self) -> int:
        """Return what fills a row up, without loading the tokenizer again of which the items were read."""
        pad = self._once("pad", lambda: self.model.tokenizer.pad_token_id)
        return 0 if pad is None else int(pad)

    def _store_key(self) -> str:
        parts = [self.identity[k] for k in ("weights_sha256", "tokenizer_sha256", "dtype")]
        return sha256("\n".join([*parts, self.model.kind]).encode()).hexdigest()


def _engine(model: OpenModel, pad_id: int) -> Engine:
    if model.fake is not None:
        return FakeEngine(model.fake, len(model.tokenizer))
    from glosseme.scoring.engine import TorchEngine

    return TorchEngine(model.network(), model.kind, pad_id)
