"""Learning curves: accuracy against training step (Figures 2, 3, 5 and 6 of Scivetti et al. 2026)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import polars as pl

from glosseme.report.charts.names import interval, number
from glosseme.report.charts.parts import KNOWN, layered, marks, panel_of, table, tiled
from glosseme.report.charts.theme import (
    BLACK,
    CHANCE,
    COLOURS,
    GREY,
    SHARES,
    WIDTH,
    accuracy_axis,
    heading,
    log_axis,
    pixels,
    series,
)

__all__ = ["panels_chart", "trajectory_chart"]

_TOLD: Final = {"description": "about:N", "tooltip": "about:N"}
_HEIGHT: Final = 260
_LINE: Final = 15
"""The height of a line of the legend (pixels)."""
_SAMPLE: Final = 24
_GAP: Final = 10
_COLUMNS: Final = 3
_SMALL: Final = 84
"""The height of a small panel (pixels)."""
_FEW: Final = 25
"""Up to so many checkpoints each has a mark in a small panel."""


def trajectory_chart(curves: pl.DataFrame, missing: Sequence[int] = ()) -> Any:
    """Return one line a curve, at most as many as there are colours, with bands of intervals and lines of chance.

    `curves`: curve, step, estimate, low, high, n, chance. `missing` are the steps of checkpoints that couldn't be had:
    lines break there, and a cross at the bottom marks the place.
    """
    order = curves["curve"].unique(maintain_order=True).to_list()
    zero = _zero(curves["step"].to_list(), missing)
    drawn = _prepared(curves, missing, zero)
    chances = curves.select("chance").drop_nulls().unique().sort("chance")["chance"].to_list()
    notes = _chance_notes(curves, chances)
    side = _GAP + _SAMPLE + 6 + max(pixels(text) for text in [*order, *notes])
    width = max(200, WIDTH - 58 - side)
    x, y = _axes([*drawn["x"].to_list(), *(_place(step, zero) for step in missing)], zero)
    layers = [
        *_lines(drawn, order, x, y),
        *_crosses(missing, zero, x),
        *_legend(_entries(drawn, order, chances, notes), order, width),
    ]
    return layered(layers, width=width, height=_HEIGHT)


def panels_chart(curves: pl.DataFrame, missing: Sequence[int] = ()) -> Any:
    """Return one small panel a curve: for more curves than can be told apart in one."""
    order = curves["curve"].unique(maintain_order=True).to_list()
    zero = _zero(curves["step"].to_list(), missing)
    drawn = _prepared(curves, missing, zero)
    xs = [*drawn["x"].to_list(), *(_place(step, zero) for step in missing)]
    x_axis = log_axis(xs, "training step", zero=zero, ticks=4)
    # Only panels with nothing below them say what the steps are, only those at the left what the numbers are.
    xs_ = {below: _x(x_axis, below=below) for below in (True, False)}
    ys = {at_left: _y(at_left=at_left) for at_left in (True, False)}
    width = (WIDTH - 62 - 14 * (_COLUMNS - 1)) / _COLUMNS
    crosses = _crosses(missing, zero, alt.X("x:Q", **x_axis), _SMALL)
    parts = drawn.partition_by("curve", as_dict=True)
    drawings = [
        panel_of(
            [
                *_small(parts[name,], xs_[i + _COLUMNS < len(order)], ys[i % _COLUMNS == 0]),
                heading(name, width, 10),
                *crosses,
            ],
            width=width,
            height=_SMALL,
        )
        for i, name in enumerate(order)
    ]
    # Axes take no part in the grid, so that the last ones of a column may hang lower than their neighbours.
    return tiled(drawings, _COLUMNS, bounds="flush", spacing={"row": 30, "column": 14})


def _x(axis: dict[str, Any], *, below: bool) -> alt.X:
    """Return the axis of steps, of a panel with another one below it only the grid."""
    if not below:
        return alt.X("x:Q", **axis)
    grid = alt.Axis(labels=False, title=None, values=axis["axis"].values, tickCount=30, ticks=False)
    return alt.X("x:Q", scale=axis["scale"], axis=grid, title=None)


def _y(*, at_left: bool) -> alt.Y:
    if at_left:
        return alt.Y("estimate:Q", **accuracy_axis(title="accuracy"))
    grid = alt.Axis(labels=False, title=None, values=SHARES, tickCount=9, ticks=False, domain=False)
    return alt.Y("estimate:Q", **{**accuracy_axis(title=None), "axis": grid})


def _small(rows: pl.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Return the layers of one curve in its panel."""
    data, detail = table(rows), "part:N"
    # Many points in a small panel would hide the line; one that stands alone has no line.
    lonely = rows.filter(pl.len().over("part") == 1)
    alone = data if rows.height <= _FEW else table(lonely)
    band = {"x": x, "y": "low:Q", "y2": "high:Q", "color": alt.value(COLOURS[0]), "detail": detail}
    line, point = {"x": x, "y": y, "detail": detail}, {"x": x, "y": y, **_TOLD}
    return [
        _chances(rows),
        marks(data, "area", band, KNOWN, opacity=0.25, aria=False),
        *_bars(lonely, x, alt.value(COLOURS[0])),
        marks(data, "line", line, color=COLOURS[0], strokeWidth=1.4, aria=False),
        marks(alone, "point", point, filled=True, opacity=1, size=12, color=COLOURS[0]),
    ]


def _bars(lonely: pl.DataFrame, x: alt.X, color: Any) -> list[alt.Chart]:
    """Return the intervals of points that stand alone, whose bands have no width."""
    bar = {"x": x, "y": "low:Q", "y2": "high:Q", "color": color}
    return [marks(table(lonely), "rule", bar, KNOWN, strokeWidth=1.4, aria=False)] if lonely.height else []


def _chances(rows: pl.DataFrame) -> alt.Chart:
    chances = table(rows.select("chance").drop_nulls().unique().sort("chance"))
    return marks(chances, "rule", {"y": "chance:Q"}, **CHANCE)


def _zero(steps: Sequence[int], missing: Sequence[int]) -> float | None:
    """Return where step 0 stands on the logarithmic axis: a factor of two to four before the first step."""
    positive = [step for step in (*steps, *missing) if step > 0]
    if 0 not in steps and 0 not in missing:
        return None
    first, last = min(positive, default=1), max(positive, default=1)
    return float(first / max(2.0, (last / first) ** 0.06))


def _place(step: int, zero: float | None) -> float:
    return float(step) if step > 0 or zero is None else zero


def _prepared(curves: pl.DataFrame, missing: Sequence[int], zero: float | None) -> pl.DataFrame:
    """Return the points with a place on the axis, the unbroken `part` of the curve they are in, and `about`."""
    gaps = pl.DataFrame({"step": sorted(missing)}, schema={"step": pl.Int64})
    curves = curves.with_columns(pl.col("step").cast(pl.Int64)).sort("step", maintain_order=True)
    holes = pl.col("estimate").is_null().cum_sum().over("curve")
    before = pl.Series("before", [int((gaps["step"] < step).sum()) for step in curves["step"]], pl.Int64)
    parted = curves.with_columns(before).with_columns(
        part=pl.concat_str("curve", holes.cast(pl.String), pl.col("before").cast(pl.String), separator=" | "),
        x=pl.when(pl.col("step") > 0).then(pl.col("step").cast(pl.Float64)).otherwise(zero),
    )
    kept = parted.filter(pl.col("estimate").is_not_null()).drop("before")
    texts = [
        f"{row['curve']}, step {row['step']:,}: {interval(row['estimate'], row['low'], row['high'])}"
        for row in kept.iter_rows(named=True)
    ]
    return kept.with_columns(pl.Series("about", texts, pl.String))


def _axes(xs: Sequence[float], zero: float | None) -> tuple[alt.X, alt.Y]:
    x = alt.X("x:Q", **log_axis(xs, "training step", zero=zero))
    return x, alt.Y("estimate:Q", **accuracy_axis())


def _lines(drawn: pl.DataFrame, order: Sequence[str], x: alt.X, y: alt.Y) -> list[alt.Chart]:
    encodings = series("curve", order, legend=False)
    color, dash, shape = encodings["color"], encodings["strokeDash"], encodings["shape"]
    data, detail = table(drawn), "part:N"
    size = 32 if drawn.height <= _FEW * len(order) else 14
    band = {"x": x, "y": "low:Q", "y2": "high:Q", "color": color, "detail": detail}
    line = {"x": x, "y": y, "color": color, "strokeDash": dash, "detail": detail}
    point = {"x": x, "y": y, "color": color, "shape": shape, **_TOLD}
    return [
        _chances(drawn),
        marks(data, "area", band, KNOWN, opacity=0.13, aria=False),
        *_bars(drawn.filter(pl.len().over("part") == 1), x, color),
        marks(data, "line", line, strokeWidth=1.8, aria=False),
        marks(data, "point", point, filled=True, opacity=1, size=size),
    ]


def _crosses(missing: Sequence[int], zero: float | None, x: alt.X, height: float = _HEIGHT) -> list[alt.Chart]:
    if not missing:
        return []
    rows = pl.DataFrame(
        {
            "x": [_place(step, zero) for step in missing],
            "about": [f"step {step:,}: no such checkpoint" for step in missing],
        }
    )
    place = {"x": x, "y": alt.value(height - 7), **_TOLD}
    return [marks(table(rows), "text", place, text="×", fontSize=13, color=BLACK)]


def _chance_notes(curves: pl.DataFrame, chances: Sequence[float]) -> list[str]:
    """Return the names of the lines of chance, with whose they are where they differ."""
    if len(chances) == 1:
        return [f"chance ({number(chances[0])})"]
    notes = []
    for chance in chances:
        names = curves.filter(pl.col("chance") == chance)["curve"].unique(maintain_order=True).to_list()
        of = f", {names[0]}" if len(names) == 1 else ""
        notes.append(f"chance ({number(chance)}{of})")
    return notes


def _entries(drawn: pl.DataFrame, order: Sequence[str], chances: Sequence[float], notes: Sequence[str]) -> pl.DataFrame:
    """Return the lines of the legend, each beside the end of its curve, or as near as the others let it."""
    ends = dict(drawn.group_by("curve", maintain_order=True).agg(pl.col("estimate").last()).iter_rows())
    wanted = [(name, float(ends.get(name, 0.0)), True) for name in order]
    wanted += [(note, chance, False) for note, chance in zip(notes, chances, strict=True)]
    wanted.sort(key=lambda entry: -entry[1])
    places = _spread([(1 - value) * _HEIGHT for _, value, _ in wanted])
    return pl.DataFrame(
        {
            "curve": [name for name, _, _ in wanted],
            # In the unit of the axis, which this layer shares.
            "at": [1 - place / _HEIGHT for place in places],
            "is_curve": [is_curve for _, _, is_curve in wanted],
        }
    )


def _spread(wanted: Sequence[float]) -> list[float]:
    """Return places (pixels from the top, ascending) a line apart, as near to the wanted ones as that lets them be."""
    places: list[float] = []
    for place in wanted:
        places.append(max(place, places[-1] + _LINE) if places else max(place, 4.0))
    limit = _HEIGHT + 4.0
    for i in reversed(range(len(places))):
        places[i] = min(places[i], limit)
        limit = places[i] - _LINE
    return places


def _legend(entries: pl.DataFrame, order: Sequence[str], width: float) -> list[alt.Chart]:
    """Return the legend beside the panel: a piece of each line, its mark and its name."""
    encodings = series("curve", order, legend=False)
    start, end = width + _GAP, width + _GAP + _SAMPLE
    y = alt.Y("at:Q")
    curves, chances = (table(entries.filter(is_curve=is_curve)) for is_curve in (True, False))
    color = {"color": encodings["color"]}
    sample = {"x": alt.value(start), "x2": alt.value(end), "y": y}
    point = {"x": alt.value((start + end) / 2), "y": y, "shape": encodings["shape"], **color}
    told = alt.condition("datum.is_curve", alt.value(BLACK), alt.value(GREY))
    name = {"x": alt.value(end + 6), "y": y, "text": "curve:N", "color": told}
    dashed = {"strokeDash": encodings["strokeDash"]}
    return [
        marks(curves, "rule", sample | color | dashed, strokeWidth=1.8, aria=False),
        marks(chances, "rule", sample, **CHANCE),
        marks(curves, "point", point, filled=True, opacity=1, size=32, aria=False),
        marks(table(entries), "text", name, align="left", aria=False),
    ]
