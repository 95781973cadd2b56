"""Curves over two logarithmic axes: times by size, and predictions against measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from hocket.pictures import style
from hocket.units import format_bytes, format_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b6670", "#8a6d00")
MOST_TICKS: Final = 11
WIDTH, HEIGHT = 9.0, 4.2  # inches


@dataclass(frozen=True, slots=True)
class Curve:
    """Points of seconds, with the least and the most of each where these are known."""

    name: str
    points: Sequence[tuple[float, float]]
    spread: Sequence[tuple[float, float]] = ()
    line: str = "-"  # of matplotlib; "" for marks alone
    colour: str = ""
    marker: str = "o"


def draw_on(axes: Axes, curves: Sequence[Curve], sizes: bool = True) -> None:
    """``sizes``: the horizontal axis counts bytes, else seconds."""
    for number, curve in enumerate(curves):
        colour = curve.colour or COLOURS[number % len(COLOURS)]
        x, y = zip(*curve.points, strict=True)
        axes.plot(
            x, y, linestyle=curve.line or "none", marker=curve.marker, markersize=4, color=colour, label=curve.name
        )  # fmt: skip
        if curve.spread:
            least, most = zip(*curve.spread, strict=True)
            axes.fill_between(x, least, most, color=colour, alpha=0.18, linewidth=0)
    axes.set_xscale("log", base=2 if sizes else 10)
    axes.set_yscale("log")
    in_seconds = FuncFormatter(lambda value, _: format_time(value, 3))
    axes.yaxis.set_major_formatter(in_seconds)
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda x, _: format_bytes(round(x))) if sizes else in_seconds
    )
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=MOST_TICKS))
    if sizes:
        found = sorted({x for curve in curves for x, _ in curve.points})
        axes.set_xticks(found[:: -(-len(found) // MOST_TICKS)])
    else:
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=MOST_TICKS))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
    axes.legend(frameon=False)
    style.plain(axes)


def draw_curves(
    curves: Sequence[Curve], path: str | Path, *, x: str, y: str, sizes: bool = True, diagonal: bool = False
) -> Path:
    """Writes an SVG, PNG or PDF file. ``diagonal``: a line on which both axes agree."""
    path = style.check(path)
    if diagonal:
        ends = [end for curve in curves for point in curve.points for end in point]
        ends = [min(ends) / 1.5, max(ends) * 1.5]
        line = Curve("as predicted", list(zip(ends, ends, strict=True)), (), "--", style.MUTED, "")
        curves = [*curves, line]
    with style.context():
        figure = style.new_figure(WIDTH, HEIGHT)
        axes = figure.add_axes((0.1, 0.14, 0.87, 0.82))
        draw_on(axes, curves, sizes)
        axes.set_xlabel(x, color=style.MUTED)
        axes.set_ylabel(y, color=style.MUTED)
        style.save(figure, path)
    return path
