"""Times by size, and below them what scheduling gains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from matplotlib.ticker import FuncFormatter, NullLocator

from hocket.errors import UsageError
from hocket.measure.bench.statistics import Row, Times
from hocket.pictures import style
from hocket.units import format_bytes, format_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 7.5, 6.0  # inches
_NATIVE, _SCHEDULED = "#d55e00", "#0072b2"


def draw_bench(rows: Sequence[Row], path: str | Path, *, title: str, subtitle: str) -> Path:
    """Writes an SVG, PNG or PDF file: medians with bands from p10 to p90, the bound, and the ratio."""
    path = style.check(path)
    if not rows:
        raise UsageError("no size to draw", remedy="measure at least one")
    compared = [row for row in rows if row.ratio is not None]
    with style.context():
        figure = style.new_figure(WIDTH, HEIGHT)
        times = figure.add_axes((0.11, 0.42 if compared else 0.12, 0.85, 0.43 if compared else 0.73))
        _draw_times(times, rows)
        if compared:
            ratios = figure.add_axes((0.11, 0.12, 0.85, 0.2), sharex=times)
            ratios.plot(
                [row.bytes for row in compared], [row.ratio or 0 for row in compared],
                color=style.INK, marker="o", markersize=3,
            )  # fmt: skip
            ratios.axhline(1, color=style.MUTED, linewidth=0.8, linestyle="--")
            ratios.set_ylabel("native / scheduled", color=style.MUTED)
            _tidy(ratios, rows)
            times.tick_params(labelbottom=False)
        style.headline(figure, title, subtitle, left=0.11)
        style.save(figure, path)
    return path


def _draw_times(axes: Axes, rows: Sequence[Row]) -> None:
    kinds: tuple[tuple[str, str, Callable[[Row], Times | None]], ...] = (
        ("native", _NATIVE, lambda row: row.native),
        ("scheduled", _SCHEDULED, lambda row: row.scheduled),
    )
    for name, colour, times_of in kinds:
        points = [(row.bytes, times) for row in rows if (times := times_of(row)) is not None]
        if not points:
            continue
        sizes = [size for size, _ in points]
        axes.plot(sizes, [t.median for _, t in points], color=colour, marker="o", markersize=3, label=name)
        band = [t.p10 for _, t in points], [t.p90 for _, t in points]
        axes.fill_between(sizes, *band, color=colour, alpha=0.18, linewidth=0)
    bounds = [(row.bytes, row.bound) for row in rows if row.bound is not None]
    if bounds:
        axes.plot(*zip(*bounds, strict=True), color=style.MUTED, linestyle="--", label="bound")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: format_time(y, 3)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.legend(frameon=False)
    _tidy(axes, rows)


def _tidy(axes: Axes, rows: Sequence[Row]) -> None:
    most: Final = 11
    sizes = [row.bytes for row in rows]
    axes.set_xticks(sizes[:: -(-len(sizes) // most)])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: format_bytes(round(x))))
    axes.xaxis.set_minor_locator(NullLocator())
    style.plain(axes)
