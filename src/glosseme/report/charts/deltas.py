"""How an item's delta is distributed: right of zero are the items that a model gets right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import polars as pl

from glosseme.designs import TIE
from glosseme.report.charts.names import labels, number
from glosseme.report.charts.parts import faceted, layered, marks, panel_of, table
from glosseme.report.charts.theme import BLACK, COLOURS, GREY, WIDTH, pixels

__all__ = ["binned", "histograms_chart", "quantiles", "quantiles_chart"]

_BINS: Final = 32
_HEIGHT: Final = 54
_TOLD: Final = {"description": "about:N", "tooltip": "about:N"}
_BELOW: Final = {"y": alt.value(14), "y2": alt.value(_HEIGHT)}
_KEYS: Final = ("row", "column")
_RIGHT: Final = pl.when(pl.col("delta").abs() <= TIE).then(0.5).otherwise((pl.col("delta") > 0).cast(pl.Float64)).mean()
"""The share of items right of zero, where half of a tie is. An accuracy with even weights is another number."""


def binned(items: pl.DataFrame) -> pl.DataFrame:
    """Return the histogram of `delta` in each `row` and `column`: the bin's edges and its share of the items (`share`).

    Bins are the same in all panels, as wide as zero and the middle 99% of all items ask for, and zero is an edge. The
    last bins hold what lies beyond. `above` is the share of a panel's judged items right of zero (of ties half), `n`
    their number.
    """
    judged = items.filter(pl.col("delta").is_not_null() & pl.col("correct").is_not_null())
    if not judged.height:
        return pl.DataFrame()
    ends = [judged["delta"].quantile(q, "nearest") or 0.0 for q in (0.005, 0.995)]
    low, high = min(0.0, *ends), max(0.0, *ends)
    # Where all are ties, any width does.
    step = _round_up((high - low if high - low > TIE else 2.0) / _BINS)
    # There is a bin on either side of zero, for the halves of ties.
    first, last = min(-1, math.floor(low / step)), max(0, math.ceil(high / step) - 1)
    # Half of a tie is right and half is wrong, and so it stands on both sides of zero.
    tied, place = pl.col("delta").abs() <= TIE, (pl.col("delta") / step).floor()
    below = judged.filter(tied).with_columns(place=pl.lit(-1.0), weight=pl.lit(0.5))
    weighed = judged.with_columns(
        place=pl.when(tied).then(0.0).otherwise(place), weight=pl.when(tied).then(0.5).otherwise(1.0)
    )
    placed = pl.concat([weighed, below]).with_columns(pl.col("place").clip(first, last).cast(pl.Int64))
    total = judged.group_by(_KEYS, maintain_order=True).agg(
        n=pl.len().cast(pl.Int64), above=_RIGHT, median=pl.col("delta").median()
    )
    counts = placed.group_by(*_KEYS, "place").agg(count=pl.col("weight").sum())
    joined = total.join(counts, on=_KEYS, how="left", maintain_order="left").sort("place", maintain_order=True)
    return joined.select(
        *_KEYS,
        start=pl.col("place") * step,
        end=(pl.col("place") + 1) * step,
        share=pl.col("count") / pl.col("n"),
        above="above",
        n="n",
        median="median",
    )


def _round_up(step: float) -> float:
    """Return the next width of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(k * power for k in (1, 2, 5, 10) if k * power >= step * (1 - 1e-9))


def histograms_chart(bins: pl.DataFrame, unit: str, rows: Sequence[str], columns: Sequence[str]) -> Any:
    """Return a panel for each row and column of `binned`: bars left of zero hollow, right of zero dark."""
    bins = _complete(bins, rows, columns)
    side = max((pixels(name) for name in rows), default=0) * (len(rows) > 1)
    width = max(150, (WIDTH - side - 70) / len(columns) - 12)
    texts = [
        f"{row['row']}, {row['column']}: {number(row['share'])} of the items between "
        f"{row['start']:.4g} and {row['end']:.4g} {unit}"
        for row in bins.iter_rows(named=True)
    ]
    drawn = bins.with_columns(
        pl.Series("about", [text.replace(", : ", ": ") for text in texts], pl.String),
        right=pl.col("start") >= 0,
        says=pl.when(pl.col("n") > 0).then(pl.col("above").map_elements(number, pl.String) + " right of zero"),
    )
    # Zero is in the picture also where all items are on one side of it.
    low, high = min(0.0, *bins["start"].to_list()), max(0.0, *bins["end"].to_list())
    x = alt.X(
        "start:Q",
        title=f"delta ({unit})",
        scale=alt.Scale(domain=[low, high], nice=False),
        axis=_ticks(width),
    )
    # Room above the highest bar for the share.
    most = max(float(share) for share in bins["share"])
    y = alt.Y("share:Q", axis=None, scale=alt.Scale(domain=[0, 1.45 * most], nice=False))
    # Dark on the right and hollow on the left can be told apart without colours.
    fill = alt.condition("datum.right", alt.value(COLOURS[0]), alt.value("#FFFFFF"))
    bar = {"x": x, "x2": "end:Q", "y": y, "y2": alt.datum(0), "fill": fill}
    layers = [
        marks(None, "rect", bar | _TOLD, stroke=COLOURS[0], strokeWidth=0.5),
        # From below the text, which may stand over zero.
        marks(None, "rule", {"x": alt.datum(0), **_BELOW}, color=BLACK, strokeWidth=1, aria=False),
        _shares(width),
    ]
    return _arranged(layers, table(drawn), rows, columns, width)


def _ticks(width: float) -> alt.Axis:
    """Return an axis of deltas whose labels touch neither each other nor those of the panel beside it."""
    count = max(2, min(6, int(width // 50)))
    return alt.Axis(grid=False, tickCount=count, labelFlush=True, labelOverlap="greedy", labelSeparation=6)


def _shares(width: float) -> alt.Chart:
    """Return the share of a panel's items that are right, once a panel."""
    place = {"x": alt.value(width - 2), "y": alt.value(2), "text": "says:N"}
    once = [alt.AggregateTransform(aggregate=[], groupby=[*_KEYS, "says"])]
    return marks(None, "text", place, once, align="right", baseline="top", fontSize=10)


def _arranged(
    layers: Sequence[alt.Chart], data: alt.InlineData, rows: Sequence[str], columns: Sequence[str], width: float
) -> Any:
    facets: dict[str, Any] = {}
    if len(rows) > 1:
        header = alt.Header(labelAngle=0, labelAlign="left", labelFontWeight="normal")
        facets["row"] = alt.Row("row:N", sort=list(rows), header=header, title=None)
    if len(columns) > 1:
        facets["column"] = alt.Column("column:N", sort=list(columns), title=None)
    if not facets:
        return layered(layers, width=width, height=_HEIGHT, data=data)
    spec = panel_of(layers, width=width, height=_HEIGHT)
    return faceted(spec, alt.FacetMapping(**facets), data, spacing=8)


def _complete(bins: pl.DataFrame, rows: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
    """Return the bins with an empty one for each panel without items: a grid with holes is laid out wrongly."""
    grid = pl.DataFrame({"row": list(rows)}).join(pl.DataFrame({"column": list(columns)}), how="cross")
    empty = grid.join(bins, on=_KEYS, how="anti")
    holes = empty.with_columns(start=pl.lit(0.0), end=pl.lit(0.0), share=pl.lit(0.0), n=pl.lit(0, pl.Int64))
    return pl.concat([bins, holes], how="diagonal")


def quantiles(items: pl.DataFrame) -> pl.DataFrame:
    """Return the quantiles of `delta` for each model (`name`) and `column`: 5, 25, 50, 75 and 95%, and `above`, `n`."""
    judged = items.filter(pl.col("delta").is_not_null() & pl.col("correct").is_not_null())
    shares = {"q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}
    return judged.group_by("name", "column", maintain_order=True).agg(
        *(pl.col("delta").quantile(share, "linear").alias(name) for name, share in shares.items()),
        n=pl.len().cast(pl.Int64),
        above=_RIGHT,
    )


def quantiles_chart(rows: pl.DataFrame, unit: str, order: Sequence[str], columns: Sequence[str]) -> Any:
    """Return a row a model: a thin bar over 90% of its items, a thick one over half, the median, the line of zero."""
    names = labels(order)
    texts = [
        f"{row['name']}{', ' * bool(row['column'])}{row['column']}: median {row['q50']:.2f} {unit}, "
        f"half of the items in [{row['q25']:.2f}, {row['q75']:.2f}], {number(row['above'])} right of zero, "
        f"n = {row['n']:,}"
        for row in rows.iter_rows(named=True)
    ]
    drawn = rows.with_columns(
        pl.col("name").replace_strict(names, return_dtype=pl.String).alias("label"),
        pl.Series("about", texts, pl.String),
    )
    side = max(pixels(label) for label in names.values()) + 14
    width = max(104, (WIDTH - side) / len(columns) - 12)
    y_axis = alt.Axis(grid=True, ticks=False, domain=False, labelPadding=8)
    y = alt.Y("label:N", sort=[names[name] for name in order], title=None, axis=y_axis)
    ends = [0.0, *rows["q05"].to_list(), *rows["q95"].to_list()]
    room = 0.03 * (max(ends) - min(ends) or 1.0)
    scale = alt.Scale(domain=[min(ends) - room, max(ends) + room], nice=False)
    x = alt.X("q05:Q", title=f"delta ({unit})", scale=scale, axis=_ticks(width))
    bar: dict[str, Any] = {"color": COLOURS[0], "aria": False}
    median = {"x": "q50:Q", "y": y, **_TOLD}
    layers = [
        marks(None, "rule", {"x": alt.datum(0)}, color=GREY, strokeDash=[3, 3], strokeWidth=1, aria=False),
        marks(None, "rule", {"x": x, "x2": "q95:Q", "y": y}, strokeWidth=1, **bar),
        marks(None, "rule", {"x": "q25:Q", "x2": "q75:Q", "y": y}, strokeWidth=5, **bar),
        marks(None, "point", median, filled=True, fill="white", stroke=BLACK, opacity=1, size=30),
    ]
    size = {"width": width, "height": 17 * len(order)}
    if len(columns) == 1:
        return layered(layers, data=table(drawn), **size)
    facet = alt.FacetMapping(column=alt.Column("column:N", sort=list(columns), title=None))
    return faceted(panel_of(layers, **size), facet, table(drawn))
