"""Parts of charts put together in one go: Altair's own methods copy all that there is at each step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import altair as alt
import polars as pl
from altair.utils.schemapi import debug_mode

__all__ = ["KNOWN", "below", "beside", "faceted", "layered", "marks", "panel_of", "table", "tiled"]

KNOWN: Final = (alt.FilterTransform("isValid(datum.low) && isValid(datum.high)"),)
"""What keeps to rows with an interval."""
_CHANNELS: Final[dict[str, Any]] = {
    **{"x": alt.X, "x2": alt.X2, "y": alt.Y, "y2": alt.Y2, "text": alt.Text, "detail": alt.Detail},
    **{"description": alt.Description, "tooltip": alt.Tooltip},
}


def table(rows: pl.DataFrame) -> alt.InlineData:
    """Return a frame as the data of one chart or several."""
    # Altair copies lists with all that is in them, tuples never.
    return alt.InlineData(values=tuple(rows.to_dicts()))


def marks(
    data: alt.InlineData | None, mark: str, encoding: dict[str, Any], transform: Sequence[Any] = (), **look: Any
) -> alt.Chart:
    """Return one kind of mark: its data (None: those of the chart around it), where it stands and how it looks.

    `encoding` has a channel's definition, or for fields with nothing to define their shorthand.
    """
    channels = {name: _CHANNELS[name](it) if isinstance(it, str) else it for name, it in encoding.items()}
    parts: dict[str, Any] = {"transform": list(transform)} if transform else {}
    if data is not None:
        parts["data"] = data
    return alt.Chart(mark=alt.MarkDef(type=mark, **look), encoding=alt.FacetedEncoding(**channels), **parts)


def panel_of(layers: Sequence[alt.Chart], **look: Any) -> alt.LayerSpec:
    """Return marks over each other as one of several panels."""
    # Only as parts of a whole chart can charts be checked: alone they say of which schema they are.
    with debug_mode(False):
        return alt.LayerSpec(layer=tuple(layers), **look)


def layered(layers: Sequence[alt.Chart], **look: Any) -> alt.LayerChart:
    """Return marks over each other as the only panel."""
    chart = alt.LayerChart(**look)
    # What the constructor is given it copies several times, here and below.
    chart.layer = list(layers)
    return chart


def faceted(spec: alt.LayerSpec, facet: Any, data: alt.InlineData, **look: Any) -> alt.FacetChart:
    """Return a panel for each level of a factor or two; the layers have no data of their own, which would be whole."""
    return alt.FacetChart(data=data, spec=spec, facet=facet, **look)


def beside(panels: Sequence[alt.LayerSpec], **look: Any) -> alt.HConcatSpecGenericSpec:
    """Return panels in a row, one of several."""
    with debug_mode(False):
        return alt.HConcatSpecGenericSpec(hconcat=tuple(panels), **look)


def tiled(panels: Sequence[alt.LayerSpec], columns: int, **look: Any) -> alt.ConcatChart:
    """Return panels in a grid, row by row."""
    chart = alt.ConcatChart(columns=columns, **look)
    chart.concat = list(panels)
    return chart


def below(rows: Sequence[alt.HConcatSpecGenericSpec], **look: Any) -> alt.VConcatChart:
    """Return rows of panels below each other."""
    chart = alt.VConcatChart(**look)
    chart.vconcat = list(rows)
    return chart
