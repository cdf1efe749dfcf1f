"""Measures what language models know of the form and meaning of words and constructions.

    import glosseme
    runs = glosseme.run("gpt2", "paired-focus/semantics", out="runs", limit=480)
    glosseme.table("runs")        # a Polars frame: estimates with 95% intervals, n, ties, chance
    glosseme.trajectory("EleutherAI/pythia-160m", "paired-focus", out="runs")
    glosseme.write_report("runs")       # one page to read
    runs[0].outcomes()            # one row an item
    runs[0].scores()              # one row a request

Names are loaded when they are first used, so that importing the package is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glosseme.analysis.summarise import summarise
    from glosseme.api import curves, differences, figures, run, table, trajectory, write_report
    from glosseme.designs import judge
    from glosseme.errors import GlossemeError
    from glosseme.measures import SLOT
    from glosseme.models import OpenModel, open_model
    from glosseme.runs.folder import Run, find_runs
    from glosseme.suites import Items, Suite, all_suites

__all__ = [
    "SLOT",
    "GlossemeError",
    "Items",
    "OpenModel",
    "Run",
    "Suite",
    "__version__",
    "all_suites",
    "curves",
    "differences",
    "figures",
    "find_runs",
    "judge",
    "open_model",
    "run",
    "summarise",
    "table",
    "trajectory",
    "write_report",
]

__version__ = "0.1.0"

_HOME = {
    "SLOT": "measures",
    "GlossemeError": "errors",
    "Items": "suites",
    "OpenModel": "models",
    "Run": "runs.folder",
    "Suite": "suites",
    "all_suites": "suites",
    "curves": "api",
    "differences": "api",
    "figures": "api",
    "find_runs": "runs.folder",
    "judge": "designs",
    "open_model": "models",
    "run": "api",
    "summarise": "analysis.summarise",
    "table": "api",
    "trajectory": "api",
    "write_report": "api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'glosseme' has no attribute {name!r}")
    return getattr(import_module(f"glosseme.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
