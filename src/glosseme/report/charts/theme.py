"""How figures look: one column of a paper, readable without colours, the same on every machine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import polars as pl

from glosseme.report.charts.parts import marks, table

__all__ = [
    *("BLACK", "CHANCE", "COLOURS", "DASHES", "GREY", "SHAPES", "SHARES", "WIDTH"),
    *("accuracy_axis", "axis_title", "finished", "heading", "log_axis", "log_ticks", "pixels", "series", "wrapped"),
]

WIDTH: Final = 520
"""The width of a figure in a column of a paper, with its labels (pixels)."""

COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours that the colour-blind can tell apart (Okabe and Ito 2008), without the yellow that white paper swallows."""
SHAPES: Final = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
DASHES: Final = ([1, 0], [7, 2], [2, 2], [7, 2, 2, 2], [12, 3], [4, 3], [1, 3])
BLACK: Final = "#222222"
GREY: Final = "#777777"
SHARES: Final = [0, 0.25, 0.5, 0.75, 1]
"""The ticks of an axis of shares."""
CHANCE: Final[dict[str, Any]] = {"color": GREY, "strokeDash": [3, 3], "strokeWidth": 1, "aria": False}
"""How a line of chance looks."""

# The last names are for scripts that the first have no letters of, where the machine has such a font.
_FONT: Final = (
    "Liberation Sans, Arial, Helvetica, Noto Sans, Noto Sans CJK SC, Noto Sans CJK JP, Source Han Sans SC, "
    "WenQuanYi Zen Hei, PingFang SC, Hiragino Sans, Microsoft YaHei, Yu Gothic, Malgun Gothic, sans-serif"
)
_SIZE: Final = 11
# The widest and the narrowest letters of a sans-serif font, in parts of its size.
_WIDE: Final = frozenset("mwMW@%")
_NARROW: Final = frozenset("iljtfrI.,:;'|!()[]/ -1")
_CONFIG: Final[dict[str, Any]] = {
    "font": _FONT,
    "background": "white",
    "padding": 6,
    "view": {"stroke": None},
    "facet": {"spacing": 12},
    "concat": {"spacing": 14},
    "axis": {
        **{"labelFontSize": _SIZE - 1, "titleFontSize": _SIZE, "titleFontWeight": "normal", "labelLimit": 0},
        **{"labelColor": BLACK, "titleColor": BLACK, "domainColor": BLACK, "tickColor": BLACK, "tickSize": 4},
        **{"gridColor": "#E6E6E6", "titleLimit": 0},
    },
    "header": {
        **{"labelFontSize": _SIZE, "labelFontWeight": "bold", "labelColor": BLACK, "labelLimit": 0},
        **{"title": None, "labelPadding": 4, "titlePadding": 0},
    },
    "legend": {
        **{"labelFontSize": _SIZE, "labelLimit": 0, "title": None, "symbolSize": 70, "labelColor": BLACK},
        **{"orient": "bottom", "direction": "horizontal", "columnPadding": 14, "symbolStrokeWidth": 1.5},
    },
    "title": {
        **{"fontSize": _SIZE + 2, "fontWeight": "bold", "anchor": "start", "color": BLACK, "limit": 0, "offset": 10},
        **{"subtitleFontSize": _SIZE, "subtitleColor": BLACK, "subtitlePadding": 4},
    },
    "text": {"font": _FONT, "fontSize": _SIZE, "color": BLACK},
}


def finished(chart: Any, title: str, caption: str) -> Any:
    """Give a new chart its title, its description for those who can't see it, and the look of all figures."""
    # Altair's own methods would copy all of the chart at each step.
    chart.title = alt.TitleParams(text=wrapped(title, WIDTH))
    chart.description = f"{title}. {caption}"
    chart.config = alt.Config(**_CONFIG)
    return chart


def heading(text: str, width: float, size: int = _SIZE, weight: str = "bold") -> alt.Chart:
    """Return the name of a panel above it, at the same height whatever its axes are."""
    place = {"x": alt.value(width / 2), "y": alt.value(-11), "text": "heading:N"}
    data = table(pl.DataFrame({"heading": [text]}))
    return marks(data, "text", place, fontSize=size, fontWeight=weight, aria=False)


def wrapped(text: str, width: float) -> list[str]:
    """Return a title's text in lines that fit a width (pixels)."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        # A bold letter of the title is a quarter wider than a label's.
        if lines[-1] and pixels(longer) * 1.25 > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def pixels(text: str) -> float:
    """Return how wide a label is, a little more rather than less (pixels).

    >>> pixels("semantics implausible") < 125, pixels("") == 0
    (True, True)
    """
    wide = sum(0.9 if c in _WIDE else 0.33 if c in _NARROW else 0.6 if ord(c) < 0x2E80 else 1.05 for c in text)
    return _SIZE * wide


def series(field: str, domain: Sequence[str], *, legend: bool, lines: bool = True) -> dict[str, Any]:
    """Return the encodings by which series are told apart: colour, shape, and dashes where there are lines.

    With more series than there are styles, colours go round and pairs of colour and shape differ still.
    """
    n, names = len(COLOURS), list(domain)
    shown = alt.Legend(columns=_columns(names), symbolOpacity=1, symbolStrokeWidth=0) if legend else None

    def scale(styles: Sequence[Any], shift: int) -> alt.Scale:
        chosen = [styles[(i + shift * (i // n)) % n] for i in range(len(names))]
        return alt.Scale(domain=names, range=chosen)

    encodings = {
        "color": alt.Color(f"{field}:N", scale=scale(COLOURS, 0), legend=shown),
        "shape": alt.Shape(f"{field}:N", scale=scale(SHAPES, 1), legend=shown),
    }
    if lines:
        encodings["strokeDash"] = alt.StrokeDash(f"{field}:N", scale=scale(DASHES, 1), legend=None)
    return encodings


def _columns(names: Sequence[str]) -> int:
    """Return in how many columns a legend below the figure fits."""
    widest = max((pixels(name) for name in names), default=0) + 32
    return max(1, min(len(names), int(WIDTH // widest)))


def axis_title(metric: str) -> str:
    """Return the label of an axis with its unit."""
    return {"accuracy": "accuracy (share of items)", "rank_score": "rank score"}.get(metric, metric)


def accuracy_axis(*, title: str | None = "accuracy (share of items)", grid: bool = True) -> dict[str, Any]:
    """Return scale and axis of a share: from 0 to 1, numbers as linguists print them (.25)."""
    label = "datum.value == 0 || datum.value == 1 ? format(datum.value, 'd') : slice(format(datum.value, '.2f'), 1)"
    # Vega leaves out given ticks beyond the count that it finds fitting.
    axis = alt.Axis(values=SHARES, tickCount=9, labelExpr=label, labelOverlap=False, grid=grid, title=title)
    return {"scale": alt.Scale(domain=[0, 1], nice=False), "axis": axis, "title": title}


def log_axis(values: Sequence[float], title: str, *, zero: float | None = None, ticks: int = 6) -> dict[str, Any]:
    """Return scale and axis of positive numbers: 1k is a thousand, M a million, B a billion, T a trillion.

    `zero` is where 0, which has no logarithm, stands.
    """
    low, high = min(values), max(values)
    marks = log_ticks(low if zero is None else min((v for v in values if v > zero), default=low), high, ticks)
    number = "replace(format(datum.value, '.3~s'), 'G', 'B')"
    label = number if zero is None else f"datum.value <= {zero!r} * 1.001 ? '0' : {number}"
    # A little room on both sides, so that no point is cut; one value alone stands in the middle.
    room = (high / low) ** 0.04 if high > low else 2.0
    scale = alt.Scale(type="log", domain=[low / room, high * room], nice=False)
    shown = [*([] if zero is None else [zero]), *marks]
    axis = alt.Axis(values=shown, tickCount=3 * len(shown), labelExpr=label, title=title)
    return {"scale": scale, "axis": axis, "title": title}


def log_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers between two: powers of ten, with 2 and 5 between where these are few; at most three digits.

    >>> log_ticks(1, 143000)
    [1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0]
    >>> log_ticks(14e6, 400e6), log_ticks(512, 512)
    ([20000000.0, 50000000.0, 100000000.0, 200000000.0], [512])
    >>> log_ticks(29_725, 41_300, 5), log_ticks(29_725, 29_730)
    ([30000.0, 35000.0, 40000.0], [29725])
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for steps in ((1, 2, 5), (1, 3), (1,)):
        found = [float(f"{k}e{e}") for e in range(first, last + 1) for k in steps]
        inside = [value for value in found if low <= value <= high]
        if len(inside) <= most:
            return inside if len(inside) > 1 else _even_ticks(low, high, most)
    return inside[:: math.ceil(len(inside) / most)]


def _even_ticks(low: float, high: float, most: int) -> list[float]:
    """Return multiples of a round number where no two powers of ten, or 2 or 5 times one, lie between two numbers."""
    digit = math.floor(math.log10(high))
    for power in (digit - 2, digit - 1, digit):
        for k in (1, 2, 5):
            first, last = math.ceil(low / 10.0**power / k), math.floor(high / 10.0**power / k)
            if 1 < last - first + 1 <= most:
                return [float(f"{k * n}e{power}") for n in range(first, last + 1)]
    # Two numbers that read the same are one.
    return [low] if f"{low:.3g}" == f"{high:.3g}" else [low, high]
