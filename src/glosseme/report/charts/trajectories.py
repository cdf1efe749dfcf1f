"""Learning curves: accuracy against training step (Figures 2, 3, 5 and 6 of Scivetti et al. 2026)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import polars as pl

from glosseme.report.charts.names import interval, number
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
    return alt.layer(*layers).properties(width=width, height=_HEIGHT)


def panels_chart(curves: pl.DataFrame, missing: Sequence[int] = ()) -> Any:
    """Return one small panel a curve: for more curves than can be told apart in one."""
    order = curves["curve"].unique(maintain_order=True).to_list()
    zero = _zero(curves["step"].to_list(), missing)
    drawn = _prepared(curves, missing, zero)
    xs = [*drawn["x"].to_list(), *(_place(step, zero) for step in missing)]
    x = log_axis(xs, "training step", zero=zero, ticks=4)
    # Only panels with nothing below them say what the steps are, only those at the left what the numbers are.
    panels = [
        _panel(drawn.filter(curve=name), x, at_left=i % _COLUMNS == 0, below=i + _COLUMNS < len(order), title=name)
        for i, name in enumerate(order)
    ]
    crosses = _crosses(missing, zero, alt.X("x:Q", **x), _SMALL)
    drawings = [alt.layer(*layers, *crosses).properties(**look) for layers, look in panels]
    # Axes take no part in the grid, so that the last ones of a column may hang lower than their neighbours.
    return alt.concat(*drawings, columns=_COLUMNS, bounds="flush", spacing={"row": 30, "column": 14})


def _panel(
    rows: pl.DataFrame, x_axis: dict[str, Any], *, at_left: bool, below: bool, title: str
) -> tuple[list[alt.Chart], dict[str, Any]]:
    width = (WIDTH - 62 - 14 * (_COLUMNS - 1)) / _COLUMNS
    x = alt.X("x:Q", **x_axis)
    y = alt.Y("estimate:Q", **accuracy_axis(title="accuracy" if at_left else None))
    if below:
        x = x.axis(labels=False, title=None, values=x_axis["axis"].values, tickCount=30, ticks=False).title(None)
    if not at_left:
        y = y.axis(labels=False, title=None, values=SHARES, tickCount=9, ticks=False, domain=False)
    base = alt.Chart(rows)
    # Many points in a small panel would hide the line; one that stands alone has no line.
    alone = rows if rows.height <= _FEW else rows.filter(pl.len().over("part") == 1)
    chance = alt.Chart(rows.select("chance").drop_nulls().unique().sort("chance")).mark_rule(**CHANCE)
    layers = [
        chance.encode(y="chance:Q"),
        _banded(base, 0.25).encode(x=x, y="low:Q", y2="high:Q", color=alt.value(COLOURS[0]), detail="part:N"),
        base.mark_line(color=COLOURS[0], strokeWidth=1.4, aria=False).encode(x=x, y=y, detail="part:N"),
        alt.Chart(alone)
        .mark_point(filled=True, opacity=1, size=12, color=COLOURS[0])
        .encode(x=x, y=y, description="about:N", tooltip="about:N"),
    ]
    return [*layers, heading(title, width, 10)], {"width": width, "height": _SMALL}


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
    base = alt.Chart(drawn)
    chance = alt.Chart(drawn.select("chance").drop_nulls().unique().sort("chance")).mark_rule(**CHANCE)
    line = base.mark_line(strokeWidth=1.8, aria=False)
    points = base.mark_point(filled=True, opacity=1, size=32 if drawn.height <= _FEW * len(order) else 14)
    return [
        chance.encode(y="chance:Q"),
        _banded(base).encode(x=x, y="low:Q", y2="high:Q", color=color, detail="part:N"),
        line.encode(x=x, y=y, color=color, strokeDash=dash, detail="part:N"),
        points.encode(x=x, y=y, color=color, shape=shape, description="about:N", tooltip="about:N"),
    ]


def _banded(base: alt.Chart, opacity: float = 0.13) -> alt.Chart:
    return base.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_area(opacity=opacity, aria=False)


def _crosses(missing: Sequence[int], zero: float | None, x: alt.X, height: float = _HEIGHT) -> list[alt.Chart]:
    if not missing:
        return []
    rows = pl.DataFrame(
        {
            "x": [_place(step, zero) for step in missing],
            "about": [f"step {step:,}: no such checkpoint" for step in missing],
        }
    )
    mark = alt.Chart(rows).mark_text(text="×", fontSize=13, color=BLACK)
    return [mark.encode(x=x, y=alt.value(height - 7), description="about:N", tooltip="about:N")]


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
    curves, chances = (alt.Chart(entries.filter(is_curve=is_curve)) for is_curve in (True, False))
    sample = {"x": alt.value(start), "x2": alt.value(end), "y": y}
    return [
        curves.mark_rule(strokeWidth=1.8, aria=False).encode(
            **sample, color=encodings["color"], strokeDash=encodings["strokeDash"]
        ),
        chances.mark_rule(**CHANCE).encode(**sample),
        curves.mark_point(filled=True, opacity=1, size=32, aria=False).encode(
            x=alt.value((start + end) / 2), y=y, color=encodings["color"], shape=encodings["shape"]
        ),
        alt.Chart(entries)
        .mark_text(align="left", aria=False)
        .encode(
            x=alt.value(end + 6),
            y=y,
            text="curve:N",
            color=alt.condition("datum.is_curve", alt.value(BLACK), alt.value(GREY)),
        ),
    ]
