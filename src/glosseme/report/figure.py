"""What a figure is, whatever draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Figure"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart and what a reader needs to understand it."""

    name: str
    """The stem of its file: `accuracy-by-parameters`."""
    title: str
    caption: str
    """What is shown: of what, units, intervals, chance, numbers of items."""
    chart: Any
    """An Altair chart (`altair.TopLevelMixin`)."""
    suites: tuple[str, ...]
    models: tuple[str, ...]
    """The models in it, as tables name them."""
