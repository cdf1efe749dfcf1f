"""Names in figures: short enough for an axis, and still one for each model."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from glosseme.models.steps import step_of
from glosseme.report.cells import plain

__all__ = ["interval", "labels", "named", "number", "slug"]

_LONGEST: Final = 30
_HASH: Final = re.compile(r"[0-9a-f]{16,}")


def labels(names: Iterable[str], longest: int = _LONGEST) -> dict[str, str]:
    """Return a label for each name: without its organisation and with its middle left out where it is long.

    Where two would have the same label, both keep their names.

    >>> labels(["EleutherAI/pythia-70m", "a/gpt2", "b/gpt2"])
    {'EleutherAI/pythia-70m': 'pythia-70m', 'a/gpt2': 'a/gpt2', 'b/gpt2': 'b/gpt2'}
    >>> labels(["a-very-long-name-of-a-model-that-nobody-reads"], 20)
    {'a-very-long-name-of-a-model-that-nobody-reads': 'a-very-long…dy-reads'}
    """
    every = list(dict.fromkeys(names))
    short = {name: _short(plain(name.rstrip("/").rsplit("/", 1)[-1]), longest) for name in every}
    shared = [label for label in short.values() if list(short.values()).count(label) > 1]
    return {name: plain(name) if label in shared or not label else label for name, label in short.items()}


def _short(label: str, longest: int) -> str:
    if len(label) <= longest:
        return label
    kept = longest - 1
    return f"{label[: kept - kept * 4 // 9]}…{label[-(kept * 4 // 9) :]}"


def named(model: str, revision: str) -> str:
    """Return a model's name in a figure: with its revision unless that is the hub's own.

    >>> named("gpt2", "main"), named("EleutherAI/pythia-70m", "step1000")
    ('gpt2', 'EleutherAI/pythia-70m@step1000')
    """
    if revision == "main" or (_HASH.fullmatch(revision) and step_of(revision) is None):
        return model
    return f"{model}@{revision}"


def number(value: float | None, digits: int = 2) -> str:
    """Return a number as statistics are printed, a dash where there is none.

    >>> number(0.625), number(-0.18, 2), number(None), number(1.0)
    ('.62', '−.18', '-', '1.00')
    """
    text = "-" if value is None else re.sub(r"^(-?)0\.", r"\1.", f"{round(value, digits) + 0.0:.{digits}f}")
    return text if value is None else text.replace("-", "\u2212")


def interval(estimate: float | None, low: float | None, high: float | None, digits: int = 2) -> str:
    """Return an estimate with its interval where it has one.

    >>> interval(0.5, 0.4, 0.6), interval(0.5, None, None)
    ('.50 [.40, .60]', '.50')
    """
    bounds = "" if low is None or high is None else f" [{number(low, digits)}, {number(high, digits)}]"
    return f"{number(estimate, digits)}{bounds}"


def slug(text: str) -> str:
    """Return text as part of a file's name.

    >>> slug("paired-focus/semantics"), slug("EleutherAI/pythia-70m@step1"), slug("<>")
    ('paired-focus-semantics', 'eleutherai-pythia-70m-step1', 'x')
    """
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")[:80] or "x"
