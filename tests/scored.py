"""From rows of (measure, context, text) to values, by the package's own steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from glosseme.measures import Kind, PllVariant
from glosseme.scoring.encode import BosChoice, frame_of
from glosseme.scoring.engine import TorchEngine
from glosseme.scoring.execute import Effort, Settings, execute
from glosseme.scoring.lower import lower
from glosseme.scoring.reads import Lowered, sums
from glosseme.scoring.store import Store
from glosseme.scoring.ways import Engine
from zoo import CAUSAL, network_of, tokenizer_for

__all__ = ["Heard", "Row", "Scored", "engine_of", "kind_of_name", "lowered_of", "run", "score", "table"]

Row = tuple[str, str | None, str]
"""Measure, context, text."""


@dataclass
class Heard:
    """A progress that keeps what it is told."""

    said: list[str] = field(default_factory=list)
    total_tokens: int = 0
    total_questions: int = 0
    tokens: int = 0
    questions: int = 0

    def suite(self, folder: Path, notes: Sequence[str]) -> None:
        self.said += notes

    def begin(self, total_tokens: int, total_questions: int) -> None:
        self.total_tokens, self.total_questions = total_tokens, total_questions
        self.tokens = self.questions = 0

    def advance(self, tokens: int, questions: int) -> None:
        self.tokens += tokens
        self.questions += questions

    def say(self, line: str) -> None:
        self.said.append(line)

    def doing(self, line: str) -> None:
        """Pass over what takes a while."""


@dataclass(frozen=True)
class Scored:
    """The values of requests, in their order."""

    values: npt.NDArray[np.float64]
    """Sums over tokens in nats, shape (requests,)."""
    of_reads: npt.NDArray[np.float32]
    """The value of each read, shape (reads,)."""
    lowered: Lowered
    effort: Effort
    said: list[str]


def table(rows: Sequence[Row]) -> pl.DataFrame:
    """Return rows as requests of the items `i0`, `i1`, ..."""
    measures, contexts, texts = zip(*rows, strict=True) if rows else ((), (), ())
    return pl.DataFrame(
        {
            "item": [f"i{n}" for n in range(len(rows))],
            "role": ["value"] * len(rows),
            "measure": measures,
            "context": contexts,
            "text": texts,
        },
        schema_overrides={"item": pl.String, "measure": pl.String, "context": pl.String, "text": pl.String},
    )


def kind_of_name(name: str) -> Kind:
    """Return the kind of a model of the zoo."""
    return "causal" if name in CAUSAL else "masked"


def lowered_of(
    rows: Sequence[Row],
    tokenizer: Any,
    kind: Kind,
    *,
    bos: BosChoice = "auto",
    join: str = " ",
    pll: PllVariant = "within_word_l2r",
    max_length: int | None = None,
) -> Lowered:
    """Return the reads of rows."""
    encoder = frame_of(tokenizer, kind, bos)
    return lower(table(rows), encoder, join=join, pll=pll, max_length=max_length, where="suite")


def run(
    lowered: Lowered,
    engine: Callable[[], Engine],
    path: Path,
    settings: Settings | None = None,
    identity: str = "model",
) -> Scored:
    """Return the values of lowered requests, kept in the store at `path`."""
    heard = Heard()

    def name_of(question: int) -> str:
        return f"item 'i{int(np.flatnonzero(lowered.question_of_request == question)[0])}'"

    with Store(path, identity) as store:
        values, effort = execute(lowered, engine, store, settings or Settings(), heard, name_of)
    return Scored(sums(lowered, values)[lowered.question_of_request], values, lowered, effort, heard.said)


def engine_of(name: str) -> TorchEngine:
    """Return an engine on a model of the zoo."""
    pad = tokenizer_for(name).pad_token_id
    return TorchEngine(network_of(name), kind_of_name(name), 0 if pad is None else pad)


def score(
    rows: Sequence[Row],
    name: str,
    path: Path,
    settings: Settings | None = None,
    *,
    bos: BosChoice = "auto",
    pll: PllVariant = "within_word_l2r",
) -> Scored:
    """Return the values of rows by a model of the zoo."""
    lowered = lowered_of(rows, tokenizer_for(name), kind_of_name(name), bos=bos, pll=pll)
    return run(lowered, partial(engine_of, name), path, settings)
