"""Ranking by frequency band or depth: how words' definitions are found (WDLMPro)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import polars as pl

from glosseme.report.charts.names import labels
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
    lines = [
        alt.hconcat(
            *(
                _panel(
                    drawn.filter(metric=metric, panel=panel).rename({level: "level"}),
                    _x(title if row == len(metrics) - 1 else None, order, drawn[level]),
                    alt.Y("estimate:Q", **accuracy_axis(title=_ROWS[metric] if column == 0 else None)),
                    shown,
                    {"width": width, "height": _HEIGHT, "title": panel if row == 0 else ""},
                    at_left=column == 0,
                )
                for column, panel in enumerate(panels)
            ),
            spacing=12,
            bounds="flush",
        )
        for row, metric in enumerate(metrics)
    ]
    chart = alt.vconcat(*lines, spacing=10)
    return chart.resolve_scale(color="shared", shape="shared", strokeDash="shared")


def _x(title: str | None, order: Sequence[str] | None, levels: pl.Series) -> alt.X:
    labelled = title is not None
    if order is not None:
        axis = alt.Axis(title=title, labels=labelled, ticks=labelled, labelAngle=-35, grid=False)
        return alt.X("level:N", sort=list(order), axis=axis, scale=alt.Scale(domain=list(order), type="point"))
    numbers = levels.drop_nulls().to_list()
    low, high = min(numbers, default=0), max(numbers, default=0)
    axis = alt.Axis(title=title, labels=labelled, ticks=labelled, tickMinStep=1, format="d", grid=False, tickCount=4)
    return alt.X("level:Q", axis=axis, scale=alt.Scale(domain=[low - 0.5, high + 0.5], nice=False))


def _panel(
    rows: pl.DataFrame, x: alt.X, y: alt.Y, shown: Sequence[str], look: dict[str, Any], *, at_left: bool
) -> alt.LayerChart:
    encodings = series("label", shown, legend=len(shown) > 1)
    if not at_left:
        y = y.axis(labels=False, ticks=False, domain=False, title=None, values=SHARES, tickCount=9)
    base = alt.Chart(rows)
    bars = base.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_rule(strokeWidth=1.2, aria=False)
    marks = alt.Chart(rows.select("level", "chance").drop_nulls().unique().sort("level", "chance"))
    return alt.layer(
        # Chance is a mark of its own at every level: it depends on how many candidates the items there have.
        marks.mark_tick(color=GREY, thickness=1.5, width=12, orient="horizontal", aria=False).encode(x=x, y="chance:Q"),
        bars.encode(x=x, y="low:Q", y2="high:Q", color=encodings["color"]),
        base.mark_line(strokeWidth=1.4, aria=False).encode(
            x=x, y=y, color=encodings["color"], strokeDash=encodings["strokeDash"]
        ),
        base.mark_point(filled=True, opacity=1, size=30).encode(
            x=x, y=y, color=encodings["color"], shape=encodings["shape"], description="about:N", tooltip="about:N"
        ),
        heading(look["title"], look["width"]),
    ).properties(width=look["width"], height=look["height"])
