"""The job of a language model: requests become reads of token probabilities, kept in a store as they come."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from glosseme.models import OpenModel
from glosseme.runs.job import Answers, Job
from glosseme.runs.options import pll_variant
from glosseme.runs.scores import scores_of
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
    encoder: Encoder = field(init=False)
    lowered: Lowered = field(init=False)

    def _drawing(self) -> Drawing:
        model, asked = self.model, self.asked
        self.encoder = self._timed("tokenizer", lambda: frame_of(model.tokenizer, model.kind, asked.bos))
        return Drawing(asked.limit, asked.seed, asked.files, self.encoder.cut)

    def _ready(self) -> None:
        names = ("bos_token", "eos_token", "cls_token", "sep_token", "pad_token")
        tokens = (getattr(self.model.tokenizer, name, None) for name in names)
        special = {str(token) for token in tokens if token}
        self._warn(first_token_scored=bool(self.encoder.prefix), special=sorted(special))
        self.lowered = self._timed("lower", self._lower)

    def _answer(self, progress: Progress) -> Answers:
        lowered, suite = self.lowered, self.asked.suite
        with Store(self.folder.parents[len(Path(self.asked.folder).parts) - 1] / STORE, self._store_key()) as store:
            values, effort = self._timed("score", lambda: self._execute(store, progress))
        reduction, first = suite.reduction(self.asked.options), self.items.expand is not None
        scores = scores_of(self.requests, lowered, values, suite.name, reduction, first=first)
        return Answers(scores, {"sequences": len(lowered.reads.lengths)}, effort)

    def _lower(self) -> Lowered:
        suite = self.asked.suite
        return lower(
            self.requests,
            self.encoder,
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


def _engine(model: OpenModel) -> Engine:
    if model.fake is not None:
        return FakeEngine(model.fake, len(model.tokenizer))
    from glosseme.scoring.engine import TorchEngine

    pad = model.tokenizer.pad_token_id
    return TorchEngine(model.network(), model.kind, 0 if pad is None else int(pad))
