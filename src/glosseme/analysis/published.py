"""What papers have published of models, to stand beside one's own runs.

The files in `data/published` have one row a figure: factors, model, metric (as in tables: `accuracy`, which is P@1 in a
suite of design `rank`, and `rank_score`), value (a share, never a percentage), source.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import polars as pl

from glosseme.analysis.summarise import ALL

__all__ = ["SUITES", "Published", "is_final", "published", "published_name"]

_FILES: Final = {"paired-focus/semantics": "paired_focus.csv", "wdlmpro": "wdlmpro.csv"}
SUITES: Final = tuple(_FILES)
"""Suites of which figures have been published."""

_OTHER: Final = ("suite", "model", "metric", "value", "source")
_FINAL: Final = ("main", "step143000")
"""Revisions that hold a finished model: the hub's own name for it, and the last step of every Pythia."""


@dataclass(frozen=True, slots=True)
class Published:
    """The published figures of a suite."""

    figures: pl.DataFrame
    """One row a figure: the factors, then model, metric, value (Float64, a share), source."""
    by: tuple[str, ...]
    """The factors that every figure is of."""
    finer: tuple[str, ...]
    """Factors over which there are averages too, as the value `all`."""

    @property
    def models(self) -> list[str]:
        """The models, in the order of the file."""
        return self.figures["model"].unique(maintain_order=True).to_list()


@cache
def published(suite: str) -> Published | None:
    """Return the published figures of a suite, None where there are none.

    >>> found = published("wdlmpro")
    >>> found.figures.filter(model="gpt2-xl", task="W2D", pos="noun", band="all", metric="accuracy")["value"].item()
    0.4733
    """
    if suite not in _FILES:
        return None
    text = (files("glosseme") / "data" / "published" / _FILES[suite]).read_bytes()
    figures = pl.read_csv(text, schema_overrides={"value": pl.Float64})
    if "suite" in figures.columns:
        figures = figures.filter(pl.col("suite") == suite)
    factors = [name for name in figures.columns if name not in _OTHER]
    finer = tuple(name for name in factors if (figures[name] == ALL).any())
    by = tuple(name for name in factors if name not in finer)
    return Published(figures.select(*factors, "model", "metric", "value", "source"), by, finer)


def published_name(model: str) -> str:
    """Return the name under which papers may have published a model.

    That is the last part of its hub name (or the name of its folder) in lower case: organisations change, and
    `gpt2` is `openai-community/gpt2`. A constant fake does what papers call random.

    >>> published_name("FacebookAI/roberta-base"), published_name("fake:constant-masked")
    ('roberta-base', 'random')
    """
    return "random" if model.startswith("fake:constant") else model.rsplit("/", 1)[-1].lower()


def is_final(revision: str) -> bool:
    """Return whether a revision is that of a finished model, which published figures are of.

    >>> is_final("main"), is_final("step1000")
    (True, False)
    """
    return revision in _FINAL
