"""Curves over two logarithmic axes: times by size, and predictions against measurements."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from hocket.costs.calibration import Calibration, Class
from hocket.errors import UsageError
from hocket.measure.bench_rows import Row, Times
from hocket.pictures import style
from hocket.pictures.style import FAINT, check, context, new_figure, save
from hocket.units import format_bytes, format_time

COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b6670", "#8a6d00")
MOST_TICKS: Final = 11
CURVES, BENCH = (9.0, 4.2), (7.5, 6.0)  # inches


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
        figure = style.new_figure(*CURVES)
        axes = figure.add_axes((0.1, 0.14, 0.87, 0.82))
        draw_on(axes, curves, sizes)
        axes.set_xlabel(x, color=style.MUTED)
        axes.set_ylabel(y, color=style.MUTED)
        style.save(figure, path)
    return path


def draw_bench(rows: Sequence[Row], path: str | Path, *, title: str, subtitle: str) -> Path:
    """Writes an SVG, PNG or PDF file: medians with bands from p10 to p90, the bound, and the ratio."""
    path = style.check(path)
    if not rows:
        raise UsageError("no size to draw", remedy="measure at least one")
    compared = [row for row in rows if row.ratio is not None]
    with style.context():
        figure = style.new_figure(*BENCH)
        times = figure.add_axes((0.11, 0.42 if compared else 0.12, 0.85, 0.43 if compared else 0.73))
        bound = [(row.bytes, row.bound) for row in rows if row.bound is not None]
        curves = [
            _of_times("native", [(row.bytes, row.native) for row in rows], COLOURS[1]),
            _of_times("scheduled", [(row.bytes, row.scheduled) for row in rows if row.scheduled], COLOURS[0]),
            Curve("bound", bound, (), "--", style.MUTED, ""),
        ]
        draw_on(times, [curve for curve in curves if curve.points])
        if compared:
            ratios = figure.add_axes((0.11, 0.12, 0.85, 0.2), sharex=times)
            ratios.plot(
                [row.bytes for row in compared], [row.ratio or 0 for row in compared],
                color=style.INK, marker="o", markersize=3,
            )  # fmt: skip
            ratios.axhline(1, color=style.MUTED, linewidth=0.8, linestyle="--")
            ratios.set_ylabel("native / scheduled", color=style.MUTED)
            style.plain(ratios)
            times.tick_params(labelbottom=False)
        style.headline(figure, title, subtitle, left=0.11)
        style.save(figure, path)
    return path


def _of_times(name: str, found: Sequence[tuple[int, Times]], colour: str) -> Curve:
    points = [(size, times.median) for size, times in found]
    return Curve(name, points, [(times.p10, times.p90) for _, times in found], colour=colour)


def draw_calibration(calibration: Calibration, path: str | Path) -> None:
    """Writes an .svg, .png or .pdf file. Left: seconds of a message by its bytes, a line for each distance; right:
    percent of a wire's rate that flows carry together."""
    target = check(path)
    with context():
        figure = new_figure(9, 3.6)
        times, parts = figure.subplots(1, 2)
        draw_on(times, [_of_class(one) for one in calibration.classes])
        times.set(xlabel="bytes of a message", ylabel="seconds")
        wires = (
            ("into one host", calibration.host_flows),
            ("over one inter-switch link", calibration.switch_link_flows),
        )
        number = 0
        for what, flows in wires:
            for size in sorted({flow.bytes for flow in flows}):
                found = sorted((flow.flows, 100 * flow.part) for flow in flows if flow.bytes == size)
                parts.plot(*zip(*found, strict=True), marker="o", markersize=3,
                           linestyle="-" if flows is calibration.host_flows else "--",
                           color=COLOURS[number % len(COLOURS)], label=f"{size // 1024} KiB each, {what}")  # fmt: skip
                number += 1
        parts.set(xlabel="flows at once", ylabel="% of the wire's rate", ylim=(0, 105), xticks=(1, 2, 4, 8))
        for axes in (times, parts):
            axes.grid(color=FAINT)
            axes.set_axisbelow(True)
            if axes.get_legend_handles_labels()[0]:
                axes.legend(frameon=False, fontsize=7)
        figure.suptitle(
            f"{calibration.mpi}: {calibration.ranks} ranks on {calibration.hosts} hosts, {calibration.date}"
        )
        figure.tight_layout()
        save(figure, target)


def _of_class(one: Class) -> Curve:
    found = [(transfer.bytes, transfer.seconds) for transfer in one.transfers]
    spread = [(t.median * max(1 - t.spread, 0.01), t.median * (1 + t.spread)) for _, t in found]
    return Curve(one.name, [(size, seconds.median) for size, seconds in found], spread)
