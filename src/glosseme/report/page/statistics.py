"""Statistics over runs, where they allow any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from glosseme.report.page.blocks import Keys, Table
from glosseme.report.page.text import Anchors
from glosseme.runs.folder import Run

__all__ = ["Part", "statistics"]


@dataclass(frozen=True, slots=True)
class Part:
    """One analysis: what it is, its tables, or why there are none."""

    id: str
    title: str
    text: str
    tables: Sequence[Table]
    notes: Sequence[str] = ()


def statistics(runs: Sequence[Run], keys: Keys, anchors: Anchors) -> list[Part]:
    """Return the analyses."""
    return []
