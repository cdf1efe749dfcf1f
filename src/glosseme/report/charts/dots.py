"""Accuracies beside each other: models on one suite, or a suite's groups of items."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import polars as pl

from glosseme.report.charts.names import labels
from glosseme.report.charts.theme import BLACK, CHANCE, WIDTH, accuracy_axis, pixels, series

__all__ = ["groups_chart", "models_chart", "ordered_models"]

_ROW: Final = 17
_LEAST: Final = 104
"""The narrowest panel (pixels)."""
_OBJECTIVES: Final = ("causal", "masked", "other")


def ordered_models(rows: pl.DataFrame) -> list[str]:
    """Return the models (column `name`) by their mean estimate, the best first; equal ones by name."""
    means = rows.group_by("name").agg(pl.col("estimate").mean()).sort("name")
    return means.sort("estimate", descending=True, nulls_last=True, maintain_order=True)["name"].to_list()


def models_chart(rows: pl.DataFrame) -> Any:
    """Return a row a model and a panel a group: a point with its interval, and the line of chance.

    `rows`: name, panel, objective, estimate, low, high, chance, about. A model without an estimate keeps its row.
    """
    order = ordered_models(rows)
    names = labels(order)
    drawn = rows.with_columns(
        pl.col("name").replace_strict(names, return_dtype=pl.String).alias("label"),
        pl.col("objective").fill_null("other"),
    )
    panels = drawn["panel"].unique(maintain_order=True).to_list()
    kinds = [kind for kind in _OBJECTIVES if kind in drawn["objective"].to_list()]
    y = alt.Y("label:N", sort=[names[n] for n in order], title=None, axis=_rows_axis())
    encodings = series("objective", kinds, legend=len(kinds) > 1, lines=False)
    encodings["color"] = encodings["color"] if len(kinds) > 1 else alt.value(BLACK)
    if len(kinds) == 1:
        del encodings["shape"]
    side = max(pixels(label) for label in names.values()) + 14
    return _dots(drawn, y, encodings, panels, side, _ROW * len(order))


def groups_chart(rows: pl.DataFrame, level_order: Sequence[str], models: Sequence[str]) -> Any:
    """Return a row for each level of a factor and in it a point a model, a panel for each further level.

    `rows`: name, panel, level, estimate, low, high, chance, about.
    """
    names = labels(models)
    drawn = rows.with_columns(pl.col("name").replace_strict(names, return_dtype=pl.String).alias("label"))
    panels = drawn["panel"].unique(maintain_order=True).to_list()
    shown = [names[name] for name in models]
    y = alt.Y("level:N", sort=list(level_order), title=None, axis=_rows_axis())
    encodings = series("label", shown, legend=len(shown) > 1, lines=False)
    encodings["yOffset"] = alt.YOffset("label:N", sort=shown)
    side = max(pixels(name) for name in level_order) + 14
    return _dots(drawn, y, encodings, panels, side, max(_ROW, 9 * len(shown) + 6) * len(level_order))


def _rows_axis() -> alt.Axis:
    return alt.Axis(grid=True, ticks=False, domain=False, labelPadding=8)


def _dots(
    drawn: pl.DataFrame, y: alt.Y, encodings: dict[str, Any], panels: list[str], side: float, height: float
) -> Any:
    most = max(1, min(len(panels), int((WIDTH - side) // _LEAST)))
    columns = math.ceil(len(panels) / math.ceil(len(panels) / most))
    width = max(_LEAST, (WIDTH - side - 12 * (columns - 1)) / columns)
    title = "accuracy (share of items)" if width > 130 else "accuracy (share)"
    x = alt.X("estimate:Q", **accuracy_axis(title=title, grid=False))
    positions = {name: encodings[name] for name in ("yOffset",) if name in encodings}
    color = {"color": encodings["color"]}
    # The panels share out the data only where the layers have none of their own.
    base = alt.Chart()
    chance = (
        base.transform_aggregate(groupby=["panel", "chance"])
        .transform_filter("isValid(datum.chance)")
        .mark_rule(**CHANCE)
        .encode(x=alt.X("chance:Q"))
    )
    bars = (
        base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_rule(strokeWidth=1.4, aria=False)
        .encode(x=alt.X("low:Q"), x2="high:Q", y=y, **positions, **color)
    )
    points = base.mark_point(filled=True, size=42, opacity=1).encode(
        x=x, y=y, description="about:N", tooltip="about:N", **encodings
    )
    layered = alt.layer(chance, bars, points).properties(width=width, height=height)
    if len(panels) == 1:
        return layered.properties(data=drawn)
    return layered.facet(facet=alt.Facet("panel:N", sort=panels, title=None), columns=columns, data=drawn)
