"""What the runs of one command have in common, worked out once: items and tokens for models with one tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from glosseme.scoring.check import Checks
from glosseme.scoring.ways import Engine

__all__ = ["Shared"]

T = TypeVar("T")


@dataclass
class Shared:
    """Tables that don't depend on weights, and what is known of the engine at work.

    The tables are those of one tokenizer: they are let go when a model with another one comes.

    >>> shared, asked = Shared(), []
    >>> [shared.once("tokenizer", "suite", lambda: asked.append(1)) for _ in range(3)], len(asked)
    ([None, None, None], 1)
    """

    checks: Checks = field(default_factory=Checks)
    _model: object = None
    _engine: Engine | None = None
    _of: Hashable = None
    _tables: dict[Hashable, Any] = field(default_factory=dict)
    _said: set[Hashable] = field(default_factory=set)

    def unsaid(self, of: str, notes: Sequence[str]) -> list[str]:
        """Return the notes on something that haven't been asked for before."""
        fresh = [note for note in notes if (of, note) not in self._said]
        self._said |= {(of, note) for note in notes}
        return fresh

    def engine(self, model: object, make: Callable[[], Engine]) -> Engine:
        """Return the engine of a model, made the first time that this model is at work."""
        if self._engine is None or self._model is not model:
            self._model, self._engine = model, None  # lets go of the last one first
            self._engine = make()
        return self._engine

    def release(self) -> None:
        """Let go of the engine."""
        self._model = self._engine = None
        self.checks = Checks()

    def once(self, tokenizer: Hashable, what: Hashable, work: Callable[[], T]) -> T:
        """Return what `work` gives, doing it only the first time for this tokenizer."""
        if self._of != tokenizer:
            self._of, self._tables = tokenizer, {}
        if what not in self._tables:
            self._tables[what] = work()
        return cast("T", self._tables[what])
