"""Ranking by frequency band or depth: how words' definitions are found (WDLMPro)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import polars as pl

from glosseme.report.charts.names import labels
from glosseme.report.charts.parts import KNOWN, below, beside, marks, panel_of, table
from glosseme.report.charts.theme import GREY, SHARES, WIDTH, accuracy_axis, heading, series

__all__ = ["bands_chart"]

_HEIGHT: Final = 110
_ROWS: Final = {"accuracy": "P@1 (share of items)", "rank_score": "rank score"}


def bands_chart(rows: pl.DataFrame, level: str, title: str, order: Sequence[str] | None) -> Any:
    """Return a panel for each task and part of speech (columns) and each metric (rows), a line a model.

    `rows`: name, panel, metric, the column `level` (text in `order`; numbers where that is None), estimate, low,
    high, chance, about.
    """
    names = labels(rows["name"].to_list())
    drawn = rows.with_columns(pl.col("name").replace_strict(names, return_dtype=pl.String).alias("label"))
    shown = list(dict.fromkeys(drawn["label"].to_list()))
    panels = drawn["panel"].unique(maintain_order=True).to_list()
    width = (WIDTH - 50) / len(panels) - 12
    metrics = [name for name in _ROWS if name in drawn["metric"].to_list()]
    encodings = series("label", shown, legend=len(shown) > 1)
    lines = []
    for row, metric in enumerate(metrics):
        x = _x(title if row == len(metrics) - 1 else None, order, drawn[level])
        ys = [_y(_ROWS[metric] if column == 0 else None) for column in range(len(panels))]
        parts = (drawn.filter(metric=metric, panel=panel).rename({level: "level"}) for panel in panels)
        heads = (heading(panel if row == 0 else "", width) for panel in panels)
        line = [
            panel_of([*_layers(part, x, y, encodings), head], width=width, height=_HEIGHT)
            for part, y, head in zip(parts, ys, heads, strict=True)
        ]
        lines.append(beside(line, spacing=12, bounds="flush"))
    shared = alt.Resolve(scale=alt.ScaleResolveMap(color="shared", shape="shared", strokeDash="shared"))
    return below(lines, spacing=10, resolve=shared)


def _x(title: str | None, order: Sequence[str] | None, levels: pl.Series) -> alt.X:
    labelled = title is not None
    if order is not None:
        axis = alt.Axis(title=title, labels=labelled, ticks=labelled, labelAngle=-35, grid=False)
        return alt.X("level:N", sort=list(order), axis=axis, scale=alt.Scale(domain=list(order), type="point"))
    numbers = levels.drop_nulls().to_list()
    low, high = min(numbers, default=0), max(numbers, default=0)
    axis = alt.Axis(title=title, labels=labelled, ticks=labelled, tickMinStep=1, format="d", grid=False, tickCount=4)
    return alt.X("level:Q", axis=axis, scale=alt.Scale(domain=[low - 0.5, high + 0.5], nice=False))


def _y(title: str | None) -> alt.Y:
    """Return the axis of a panel: with numbers at the left, where it has a title."""
    axis = accuracy_axis(title=title)
    if title is None:
        look = {"labels": False, "ticks": False, "domain": False, "title": None}
        axis["axis"] = alt.Axis(**look, values=SHARES, tickCount=9)
    return alt.Y("estimate:Q", **axis)


def _layers(rows: pl.DataFrame, x: alt.X, y: alt.Y, encodings: dict[str, Any]) -> list[alt.Chart]:
    data, color = table(rows), encodings["color"]
    levels = table(rows.select("level", "chance").drop_nulls().unique().sort("level", "chance"))
    tick: dict[str, Any] = {"color": GREY, "thickness": 1.5, "width": 12, "orient": "horizontal"}
    line = {"x": x, "y": y, "color": color, "strokeDash": encodings["strokeDash"]}
    point = {"x": x, "y": y, "color": color, "shape": encodings["shape"]}
    told = {"description": "about:N", "tooltip": "about:N"}
    return [
        # Chance is a mark of its own at every level: it depends on how many candidates the items there have.
        marks(levels, "tick", {"x": x, "y": "chance:Q"}, aria=False, **tick),
        marks(data, "rule", {"x": x, "y": "low:Q", "y2": "high:Q", "color": color}, KNOWN, strokeWidth=1.2, aria=False),
        marks(data, "line", line, strokeWidth=1.4, aria=False),
        marks(data, "point", point | told, filled=True, opacity=1, size=30),
    ]
