"""Figures of the page: plotly's, with one look."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import matplotlib as mpl
import numpy as np
import plotly.graph_objects as go
from matplotlib.colors import to_hex

from hocket.pictures import style
from hocket.units import format_bytes

# Colours that a reader can tell apart, after Okabe and Ito.
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b6670", "#8a6d00")
# Where a legend of many lines does not cover the figure.
BESIDE: Final = {"x": 1.02, "y": 1, "yanchor": "top", "orientation": "v"}
_SHADES: Final = 12
_MOST_TICKS: Final = 12
_FONT: Final = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
_AXIS: Final = {"gridcolor": style.FAINT, "linecolor": style.MUTED, "zeroline": False, "automargin": True}
_LOOK: Final = go.layout.Template(
    layout=go.Layout(
        font={"family": _FONT, "size": 13, "color": style.INK},
        paper_bgcolor="white",
        plot_bgcolor="white",
        margin={"l": 70, "r": 30, "t": 30, "b": 55},
        hoverlabel={"font": {"family": _FONT, "size": 13}, "align": "left"},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        hovermode="closest",
        xaxis=_AXIS,
        yaxis=_AXIS,
    )
)


def figure(traces: Iterable[Any], height: int = 420, **layout: Any) -> go.Figure:
    """Figure of traces, ``height`` in pixels. ``layout``: properties of plotly's Layout beyond the common look."""
    return go.Figure(list(traces), {"template": _LOOK, "height": height, **layout})


def log_figure(
    traces: Iterable[Any], height: int, x: str, y: str, sizes: Iterable[float] = (), seconds: str = "xy"
) -> go.Figure:
    """Figure of two logarithmic axes with titles ``x`` and ``y``. ``sizes``: bytes, for the ticks of the x axis;
    ``seconds``: which axes count seconds."""
    drawn = figure(traces, height, showlegend=True, legend=BESIDE)
    for name, title, axis in (("x", x, drawn.layout.xaxis), ("y", y, drawn.layout.yaxis)):
        axis.update(type="log", title_text=title, nticks=7)
        if name in seconds:
            axis.update(tickformat="~s", title_text=f"{title} (s)")
    found = sorted(set(sizes))
    if found:
        # Not so many that they would run into each other.
        kept = found[:: -(-len(found) // _MOST_TICKS)]
        drawn.update_xaxes(tickvals=kept, ticktext=[format_bytes(round(size)) for size in kept])
    return drawn


def diagonal(least: float, most: float) -> go.Scatter:
    """Line on which prediction and measurement agree."""
    ends = [least / 1.5, most * 1.5]
    line = {"color": style.MUTED, "dash": "dash", "width": 1.3}
    return go.Scatter(mode="lines", name="as predicted", x=ends, y=ends, line=line, hoverinfo="skip")


def shades(name: str, low: float, high: float) -> list[list[float | str]]:
    """A colour map of matplotlib, from one end to the other, as a scale of plotly's."""
    colours = mpl.colormaps[name](np.linspace(low, high, _SHADES))
    return [[place / (_SHADES - 1), to_hex(colour)] for place, colour in enumerate(colours)]


# Same colour scales as in plots.gantt and plots.busy.
PHASE_SCALE: Final = shades("viridis", 0.12, 0.93)
BUSY_SCALE: Final = shades("YlGnBu", 0.2, 1.0)
