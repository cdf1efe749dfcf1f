"""The main job in one call: a sample of every suite that fits a model, and the tables."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from glosseme.report.runs import table_of_runs
from glosseme.runs.many import RunArguments, run_many

__all__ = ["SUITES", "quickstart"]

SUITES: Final = ("paired-focus", "wdlmpro")

_ITEMS_PER_GROUP: Final = 30
"""A group of wdlmpro, with its fifty candidates, costs as much as some twenty items of paired-focus."""


def quickstart(model: str, out: Path, limit: int, *, quiet: bool = False) -> str:
    """Run a seeded sample of each suite that fits the model and return the tables as text.

    The folder is replaced by the next quickstart; values already in its store are not computed again.
    """
    limits = {"paired-focus": limit, "wdlmpro": max(2, limit // _ITEMS_PER_GROUP)}
    for suite in SUITES:
        arguments = RunArguments(models=[model], suites=[suite], out=out, limit=limits[suite], overwrite=True)
        folders = list(run_many(arguments, quiet=quiet))
    tables = table_of_runs(out, model=model)
    return "\n".join(
        [
            tables,
            "",
            f"Every item's scores are in {folders[0].parent}.",
            f"All items:  glosseme run -m {model} -s {' -s '.join(SUITES)} -o runs",
            "Your model: glosseme run -m FOLDER-OR-NAME -s paired-focus -o runs && glosseme table runs",
        ]
    )
