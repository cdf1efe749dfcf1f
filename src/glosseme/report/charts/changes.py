"""First differences of learning curves against each other (Figure 4 of Scivetti et al. 2026)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import polars as pl

from glosseme.report.charts.parts import marks, panel_of, table, tiled
from glosseme.report.charts.theme import BLACK, COLOURS, WIDTH, heading

__all__ = ["changes_chart", "first_differences"]

_COLUMNS: Final = 3
_ZERO: Final[dict[str, Any]] = {"color": "#BBBBBB", "strokeWidth": 1, "aria": False}
_POINT: Final[dict[str, Any]] = {
    **{"filled": True, "size": 30, "opacity": 0.75},
    **{"color": COLOURS[0], "stroke": BLACK, "strokeWidth": 0.4},
}
_NUMBERS: Final = "datum.value == 0 ? '0' : (datum.value < 0 ? '−' : '') + slice(format(abs(datum.value), '.2~f'), 1)"


def first_differences(one: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """Return the changes of two curves between neighbours of the checkpoints that both have: step, x, y, about.

    `one` and `other` have step and estimate. There is one row fewer than checkpoints; `y` is of `one`, `x` of `other`.
    """
    known = [c.select("step", "estimate").drop_nulls().unique("step", keep="first") for c in (one, other)]
    both = known[0].join(known[1], on="step", suffix="_other").sort("step")
    changes = both.select(
        "step",
        before=pl.col("step").shift(1),
        x=pl.col("estimate_other").diff(),
        y=pl.col("estimate").diff(),
    ).drop_nulls()
    texts = [
        f"from step {row['before']:,} to {row['step']:,}: {row['x']:+.3f} across, {row['y']:+.3f} up"
        for row in changes.iter_rows(named=True)
    ]
    return changes.select("step", "x", "y").with_columns(pl.Series("about", texts, pl.String))


def changes_chart(panels: Sequence[tuple[str, str, pl.DataFrame]], across: str) -> Any:
    """Return a panel for each pair of curves: name of the other curve, the correlation as text, `first_differences`."""
    columns = min(_COLUMNS, len(panels))
    width = (WIDTH - 60) / _COLUMNS - 24
    x_scale, y_scale = (_scale([v for _, _, rows in panels for v in rows[name].to_list()]) for name in ("x", "y"))
    drawings = []
    for i, (name, says, rows) in enumerate(panels):
        x_axis, y_axis = (alt.Axis(grid=False, labelExpr=_NUMBERS, tickCount=n) for n in (3, 5))
        x = alt.X("x:Q", title=f"change in {name}", scale=x_scale, axis=x_axis)
        y = alt.Y("y:Q", title=f"change in {across}" if i % columns == 0 else None, scale=y_scale, axis=y_axis)
        place = {"x": x, "y": y, "description": "about:N", "tooltip": "about:N"}
        layers = [
            marks(table(pl.DataFrame({"x": [0.0]})), "rule", {"x": x}, **_ZERO),
            marks(table(pl.DataFrame({"y": [0.0]})), "rule", {"y": y}, **_ZERO),
            marks(table(rows), "point", place, **_POINT),
            heading(says, width, 10, "normal"),
        ]
        drawings.append(panel_of(layers, width=width, height=width))
    return tiled(drawings, columns, spacing={"row": 14, "column": 10})


def _scale(values: Sequence[float]) -> alt.Scale:
    """Return the scale of changes, the same in all panels, with zero in it and room for the outermost points."""
    low, high = min(0.0, *values), max(0.0, *values)
    room = 0.08 * (high - low or 0.1)
    return alt.Scale(domain=[low - room, high + room], nice=False)
