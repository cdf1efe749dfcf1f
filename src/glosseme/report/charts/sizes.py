"""Accuracy against the size of a model and of its training data (Figure 1 of Scivetti et al. 2026)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import polars as pl

from glosseme.report.charts.names import labels
from glosseme.report.charts.parts import KNOWN, below, beside, marks, panel_of, table, tiled
from glosseme.report.charts.theme import BLACK, CHANCE, WIDTH, accuracy_axis, log_axis, pixels, series

__all__ = ["sizes_chart"]

_HEIGHT: Final = 190
_LABELLED: Final = 14
"""With more models than this none is labelled: the tooltips and the table say which is which."""
_TITLES: Final = {"parameters": "parameters", "tokens": "training tokens"}
_PLACES: Final = (
    *(("left", 7, 0), ("right", -7, 0), ("center", 0, -10), ("center", 0, 11)),
    *(("left", 5, -10), ("right", -5, -10), ("left", 5, 10), ("right", -5, 10)),
)
"""Where a label may stand: alignment and distance from its point (pixels)."""


def sizes_chart(rows: pl.DataFrame, predictors: Sequence[str]) -> Any:
    """Return a panel for each predictor (columns) and each group of items (rows).

    `rows`: name, panel, objective, the predictors (null where unknown), estimate, low, high, chance, about.
    """
    kinds = [kind for kind in ("causal", "masked", "other") if kind in rows["objective"].to_list()]
    panels = rows["panel"].unique(maintain_order=True).to_list()
    width = (WIDTH - 56 * len(predictors)) / len(predictors)
    names = labels(rows["name"].to_list(), 24)
    drawn = rows.with_columns(pl.col("name").replace_strict(names, return_dtype=pl.String).alias("label"))
    shared = {"resolve": alt.Resolve(scale=alt.ScaleResolveMap(color="shared", shape="shared"))}
    lines = [
        [_panel(drawn.filter(panel=panel), drawn, name, kinds, panel, width) for name in predictors] for panel in panels
    ]
    if len(lines) == 1:
        return tiled(lines[0], len(predictors), **shared)
    return below([beside(line) for line in lines], **shared)


def _panel(
    rows: pl.DataFrame, every: pl.DataFrame, predictor: str, kinds: list[str], panel: str, width: float
) -> alt.LayerSpec:
    values = every[predictor].drop_nulls().to_list()
    known = rows.filter(pl.col(predictor).is_not_null() & pl.col("estimate").is_not_null())
    x = alt.X(f"{predictor}:Q", **log_axis(values, _TITLES[predictor], ticks=5))
    y = alt.Y("estimate:Q", **accuracy_axis())
    encodings = series("objective", kinds, legend=len(kinds) > 1, lines=False)
    data = table(known)
    chances = table(rows.select("chance").unique().drop_nulls().sort("chance"))
    bar = {"x": x, "y": "low:Q", "y2": "high:Q", "color": encodings["color"]}
    point: dict[str, Any] = {"x": x, "y": y, "description": "about:N", "tooltip": "about:N", **encodings}
    layers = [
        marks(chances, "rule", {"y": "chance:Q"}, **CHANCE),
        marks(data, "rule", bar, KNOWN, strokeWidth=1, opacity=0.6, aria=False),
        marks(data, "point", point, filled=True, size=46, opacity=1),
    ]
    if known["name"].n_unique() <= _LABELLED:
        layers += _texts(_placed(known, predictor, values, width), predictor)
    title = alt.TitleParams(panel, fontSize=11, offset=4, anchor="middle")
    titled = {"title": title} if every["panel"].n_unique() > 1 else {}
    return panel_of(layers, width=width, height=_HEIGHT, **titled)


def _texts(placed: pl.DataFrame, predictor: str) -> list[alt.Chart]:
    """Return a layer of labels for each place that one has."""
    encoding = {"x": f"{predictor}:Q", "y": "estimate:Q", "text": "label:N"}
    return [
        marks(table(part), "text", encoding, align=align, dx=dx, dy=dy, fontSize=9, color=BLACK, aria=False)
        for place, (align, dx, dy) in enumerate(_PLACES)
        if (part := placed.filter(place=place)).height
    ]


def _placed(rows: pl.DataFrame, predictor: str, values: Sequence[float], width: float) -> pl.DataFrame:
    """Return the rows whose labels fit, with the place of each: no label on another, on a point or over the edge."""
    low, high = min(values), max(values)
    room = (high / low) ** 0.04 if high > low else 2.0
    start, span = math.log(low / room), math.log(high * room) - math.log(low / room)
    points = [
        ((math.log(v) - start) / span * width, (1 - e) * _HEIGHT)
        for v, e in rows.select(predictor, "estimate").iter_rows()
    ]
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in points]
    chosen: list[int | None] = []
    for (x, y), label in zip(points, rows["label"], strict=True):
        place = next((i for i in range(len(_PLACES)) if _fits(_box(i, x, y, label), taken, width)), None)
        chosen.append(place)
        if place is not None:
            taken.append(_box(place, x, y, label))
    return rows.with_columns(pl.Series("place", chosen, pl.Int64)).drop_nulls("place")


def _box(place: int, x: float, y: float, label: str) -> tuple[float, float, float, float]:
    align, dx, dy = _PLACES[place]
    wide = pixels(label) * 9 / 11
    left = x + dx - {"left": 0.0, "right": wide, "center": wide / 2}[align]
    return left, y + dy - 6, left + wide, y + dy + 6


def _fits(
    box: tuple[float, float, float, float], taken: Sequence[tuple[float, float, float, float]], width: float
) -> bool:
    left, top, right, bottom = box
    if left < 0 or right > width or top < -6 or bottom > _HEIGHT:
        return False
    # A point's own box touches each of its labels by less than a pixel or two.
    return all(right <= a + 1 or left >= c - 1 or bottom <= b or top >= d for a, b, c, d in taken)
