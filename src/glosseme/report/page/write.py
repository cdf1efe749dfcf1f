"""From folders of runs to a file of HTML."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import jinja2
from markupsafe import Markup

from glosseme.errors import WORK_FAILED, GlossemeError
from glosseme.report.cells import counted
from glosseme.report.figures import figures_of_runs, svg
from glosseme.report.page.blocks import Keys
from glosseme.report.page.choose import in_order, keys_of, last_of_each
from glosseme.report.page.drawings import Drawing, drawing
from glosseme.report.page.estimates import rows_of_runs, suite_parts
from glosseme.report.page.how import (
    facts_of_all,
    missing_checkpoints,
    notes_of_runs,
    runs_table,
    totals,
    without_results,
)
from glosseme.report.page.items import item_lists
from glosseme.report.page.overview import overview
from glosseme.report.page.statistics import statistics
from glosseme.report.page.text import Anchors, visible
from glosseme.report.runs import choose_runs
from glosseme.runs.folder import Run, replacing

__all__ = ["write_page"]

_TITLE: Final = "Evaluation report"
_MOST_FIGURES: Final = 48
_TEMPLATE: Final = "page.html.j2"


def write_page(
    roots: Sequence[Path],
    out: Path,
    *,
    title: str | None = None,
    suite: str | None = None,
    model: str | None = None,
) -> Path:
    """Write one HTML page of the runs under folders, which needs nothing else, and return its path.

    The same runs make the same bytes. `suite` and `model` keep to some runs, as in tables. Raises `GlossemeError`
    where there is no run or none is finished, and where the page can't be written.
    """
    if not roots:
        raise GlossemeError("no folder of runs is named", todo="name one or more folders of `glosseme run -o`")
    if out.is_dir():
        raise GlossemeError("this is a folder", where=str(out), todo="name the file of the page: -o report.html")
    html = _render(_content(list(roots), title, suite, model))
    _write(out, html)
    return out


def _content(roots: Sequence[Path], title: str | None, suite: str | None, model: str | None) -> dict[str, Any]:
    chosen = choose_runs(roots, suite, model)
    runs = in_order(chosen.finished)
    keys, anchors = keys_of(runs), Anchors()
    for name in ("top", "filter", "overview", "runs", "estimates", "statistics", "figures", "items"):
        anchors(name)
    rows = rows_of_runs(runs)
    figures, n_more = _drawings(runs, keys, anchors)
    parts, absent = statistics(runs, keys, anchors)
    return {
        "title": visible(title or _TITLE),
        "summary": _summary(runs),
        "made": _made(runs),
        "version": version("glosseme"),
        "filters": _filters(keys),
        "overview": overview(runs, rows, keys, anchors),
        "facts": facts_of_all(runs),
        "runs": runs_table(runs, keys, anchors),
        "notes": notes_of_runs(runs, keys),
        "lacking": [*without_results(chosen, roots), *missing_checkpoints(keys, roots)],
        "suites": suite_parts(runs, rows, keys, anchors),
        "figures": figures,
        "n_figures_more": n_more,
        "statistics": parts,
        "absent": absent,
        "lists": item_lists(runs, keys, anchors),
        "only_last": len(last_of_each(runs)) < len(runs),
    }


def _summary(runs: Sequence[Run]) -> str:
    n = totals(runs)
    checkpoints = [] if n["checkpoint"] == n["model"] else [counted(n["checkpoint"], "checkpoint")]
    parts = [counted(n["model"], "model"), *checkpoints, *(counted(n[noun], noun) for noun in ("suite", "run", "item"))]
    return ", ".join(parts)


def _made(runs: Sequence[Run]) -> str:
    days = sorted({str(run.record.get("started") or "")[:10] for run in runs} - {""})
    if not days:
        return ""
    return f"Run on {days[0]}." if len(days) == 1 else f"Run between {days[0]} and {days[-1]}."


def _filters(keys: Keys) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Return the groups of the filter: key, legend, and for each choice its name in links and as shown."""
    groups = (("suites", "Suites", keys.suites), ("models", "Models", keys.models))
    return [(key, legend, [(visible(name), visible(name)) for name in names]) for key, legend, names in groups]


def _drawings(runs: Sequence[Run], keys: Keys, anchors: Anchors) -> tuple[list[Drawing], int]:
    """Return the figures of a page and how many more there would be."""
    figures = figures_of_runs(runs)
    shown = [drawing(figure, svg(figure, titled=False), keys, anchors) for figure in figures[:_MOST_FIGURES]]
    return shown, max(0, len(figures) - _MOST_FIGURES)


def _render(content: dict[str, Any]) -> str:
    here = files("glosseme.report.page")
    style, script = ((here / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (here / "templates" / name).read_text(encoding="utf-8")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # Our own style and script, the only text that isn't escaped besides the figures.
    own = {"style": Markup(style), "script": Markup(script), "script_hash": f"sha256-{digest}"}  # noqa: S704
    return environment.get_template(_TEMPLATE).render(**content, **own)


def _write(out: Path, html: str) -> None:
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with replacing(out) as temporary:
            temporary.write_text(html, encoding="utf-8", newline="\n")
    except OSError as error:
        raise GlossemeError(
            f"the page can't be written ({error.strerror})",
            where=str(out),
            todo="choose another place with -o",
            exit_code=WORK_FAILED,
        ) from None
