"""Accuracies beside each other: models on one suite, or a suite's groups of items."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import polars as pl

from glosseme.report.charts.names import labels
from glosseme.report.charts.parts import KNOWN, faceted, layered, marks, panel_of, table
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
    where: dict[str, Any] = {name: encodings[name] for name in ("yOffset", "color") if name in encodings}
    once: list[Any] = [
        alt.AggregateTransform(aggregate=[], groupby=["panel", "chance"]),
        alt.FilterTransform("isValid(datum.chance)"),
    ]
    bar: dict[str, Any] = {"x": "low:Q", "x2": "high:Q", "y": y, **where}
    point: dict[str, Any] = {"x": x, "y": y, "description": "about:N", "tooltip": "about:N", **encodings}
    layers = [
        marks(None, "rule", {"x": "chance:Q"}, once, **CHANCE),
        marks(None, "rule", bar, KNOWN, strokeWidth=1.4, aria=False),
        marks(None, "point", point, filled=True, size=42, opacity=1),
    ]
    if len(panels) == 1:
        return layered(layers, width=width, height=height, data=table(drawn))
    facet = alt.Facet("panel:N", sort=panels, title=None)
    return faceted(panel_of(layers, width=width, height=height), facet, table(drawn), columns=columns)
