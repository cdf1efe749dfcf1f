"""The main job in one call: a sample of every suite that fits a model, the tables, and a page to read."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from glosseme.report.page import write_page
from glosseme.report.runs import table_of_runs
from glosseme.runs.many import RunArguments, run_many

__all__ = ["PAGE", "SUITES", "quickstart"]

PAGE: Final = "report.html"
SUITES: Final = ("paired-focus", "wdlmpro")

_ITEMS_PER_GROUP: Final = 30
"""A group of wdlmpro, with its fifty candidates, costs as much as some twenty items of paired-focus."""


def quickstart(model: str, out: Path, limit: int, *, quiet: bool = False) -> str:
    """Run a seeded sample of each suite that fits the model, write the page, and return the tables as text.

    The page is `report.html` in the folder, of all runs there. The folder is replaced by the next quickstart; values
    already in its store are not computed again.
    """
    limits = {"paired-focus": limit, "wdlmpro": max(2, limit // _ITEMS_PER_GROUP)}
    for suite in SUITES:
        arguments = RunArguments(models=[model], suites=[suite], out=out, limit=limits[suite], overwrite=True)
        folders = list(run_many(arguments, quiet=quiet))
    tables = table_of_runs(out, model=model)
    page = write_page([out], out / PAGE)
    return "\n".join(
        [
            tables,
            "",
            f"Every item's scores are in {folders[0].parent}.",
            f"All items:  glosseme run -m {model} -s {' -s '.join(SUITES)} -o runs",
            "Your model: glosseme run -m FOLDER-OR-NAME -s paired-focus -o runs && glosseme report runs",
            f"A page to read, with figures and items: {page}",
        ]
    )
