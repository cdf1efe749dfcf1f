"""Figures of runs: every one that the runs allow, as SVG, PNG and Vega-Lite, without any network."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import vl_convert
from altair.utils.schemapi import debug_mode

from glosseme.errors import WORK_FAILED, GlossemeError, nearest
from glosseme.report.charts.distributions import figures_of_items, figures_of_ranks
from glosseme.report.charts.finished import figures_of_finished
from glosseme.report.charts.learning import figures_of_trajectories
from glosseme.report.figure import Figure
from glosseme.report.runs import choose_runs
from glosseme.runs.folder import Run

__all__ = ["FORMATS", "figures_of_runs", "png", "svg", "write_figures"]

FORMATS: Final = ("svg", "png", "json")
_CAPTIONS: Final = "captions.json"
_PLAIN: Final = re.compile(r"[a-z0-9.-]+")


def figures_of_runs(runs: Sequence[Run]) -> list[Figure]:
    """Return every figure that finished runs allow: sizes and models, trajectories, ranks, distributions.

    Names are unique. The same runs give the same figures.
    """
    finished = [run for run in runs if run.finished]
    # Altair checks every part of a chart when it is made, which takes longer than all the rest; tests check ours.
    with debug_mode(False):
        found = [
            *figures_of_finished(finished),
            *figures_of_trajectories(finished),
            *figures_of_ranks(finished),
            *figures_of_items(finished),
        ]
    seen: dict[str, int] = {}
    return [_unique(figure, seen) for figure in found]


def _unique(figure: Figure, seen: dict[str, int]) -> Figure:
    """Return a figure whose file doesn't take the place of another's."""
    seen[figure.name] = seen.get(figure.name, 0) + 1
    if seen[figure.name] == 1:
        return figure
    name = f"{figure.name}-{seen[figure.name]}"
    return Figure(name, figure.title, figure.caption, figure.chart, figure.suites, figure.models)


def svg(figure: Figure, *, titled: bool = True) -> str:
    """Return a figure as SVG, with its title or without; its marks carry labels for screen readers."""
    spec = _spec(figure)
    if not titled:
        spec.pop("title", None)
    # No address may be loaded, whatever a chart says.
    return str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))


def png(figure: Figure, scale: float = 2.0) -> bytes:
    """Return a figure as PNG, with so many pixels to one of the figure's own."""
    return _rasterised(svg(figure), scale)


def _rasterised(drawn: str, scale: float = 2.0) -> bytes:
    return bytes(vl_convert.svg_to_png(drawn, scale=scale))


def _spec(figure: Figure) -> dict[str, Any]:
    with debug_mode(False):
        spec: dict[str, Any] = figure.chart.to_dict(validate=False)
    return spec


def write_figures(
    root: Path, out: Path, formats: str, suite: str | None = None, model: str | None = None
) -> Iterator[Path]:
    """Write every figure that the runs under a folder allow, and yield the files.

    `formats` are names of `FORMATS` with commas; captions go into `captions.json`. Files that the captions of an
    earlier call list and that aren't made now are removed, nothing else.

    Raises `GlossemeError` for an unknown format, a folder that can't be written, and runs that allow no figure.
    """
    chosen = _formats(formats)
    figures = figures_of_runs(choose_runs(root, suite, model).finished)
    if not figures:
        raise GlossemeError(
            "these runs allow no figure",
            where=str(root),
            todo="figures are of accuracies: run a suite that judges its items, such as paired-focus/semantics",
            exit_code=WORK_FAILED,
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
        made: dict[str, list[str]] = {figure.name: [] for figure in figures}
        for figure in figures:
            for format_, content in _contents(figure, chosen):
                path = out / f"{figure.name}.{format_}"
                path.write_bytes(content)
                made[figure.name].append(path.name)
                yield path
        for path in _stale(out, {name for names in made.values() for name in names}):
            path.unlink()
        path = out / _CAPTIONS
        captions = {f.name: {"title": f.title, "caption": f.caption, "files": made[f.name]} for f in figures}
        path.write_text(json.dumps(captions, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        yield path
    except OSError as error:
        raise GlossemeError(
            f"the folder can't be written ({error.strerror})", where=str(out), todo="choose another one with -o"
        ) from None


def _stale(out: Path, made: Collection[str]) -> Iterator[Path]:
    """Yield the files that an earlier call made in the folder, as its captions say, and this one didn't."""
    try:
        said = json.loads((out / _CAPTIONS).read_text(encoding="utf-8"))
        listed = [(str(figure), str(name)) for figure, about in said.items() for name in about["files"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        # Without a list of ours nothing here is known to be ours.
        return
    for figure, name in listed:
        ours = _PLAIN.fullmatch(figure) and name in {f"{figure}.{format_}" for format_ in FORMATS}
        path = out / name
        if ours and name not in {*made, _CAPTIONS} and path.is_file() and not path.is_symlink():
            yield path


def _formats(text: str) -> list[str]:
    names = list(dict.fromkeys(name.strip().lower() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in FORMATS]
    if unknown or not names:
        wanted = unknown[0] if unknown else text
        raise GlossemeError(f"there is no format {wanted!r}", todo=nearest(wanted, FORMATS))
    return names


def _contents(figure: Figure, formats: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield a figure in each format, drawn once."""
    drawn = svg(figure) if {"svg", "png"} & set(formats) else ""
    for format_ in formats:
        if format_ == "png":
            yield format_, _rasterised(drawn)
        elif format_ == "svg":
            yield format_, drawn.encode("utf-8")
        else:
            yield format_, (json.dumps(_spec(figure), indent=1, ensure_ascii=False) + "\n").encode("utf-8")
