"""Times by size, and below them what scheduling gains."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hocket.errors import UsageError
from hocket.measure.bench.statistics import Row, Times
from hocket.pictures import style
from hocket.pictures.curves import COLOURS, Curve, draw_on

WIDTH, HEIGHT = 7.5, 6.0  # inches


def draw_bench(rows: Sequence[Row], path: str | Path, *, title: str, subtitle: str) -> Path:
    """Writes an SVG, PNG or PDF file: medians with bands from p10 to p90, the bound, and the ratio."""
    path = style.check(path)
    if not rows:
        raise UsageError("no size to draw", remedy="measure at least one")
    compared = [row for row in rows if row.ratio is not None]
    with style.context():
        figure = style.new_figure(WIDTH, HEIGHT)
        times = figure.add_axes((0.11, 0.42 if compared else 0.12, 0.85, 0.43 if compared else 0.73))
        bound = [(row.bytes, row.bound) for row in rows if row.bound is not None]
        curves = [
            _curve("native", [(row.bytes, row.native) for row in rows], COLOURS[1]),
            _curve("scheduled", [(row.bytes, row.scheduled) for row in rows if row.scheduled], COLOURS[0]),
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


def _curve(name: str, found: Sequence[tuple[int, Times]], colour: str) -> Curve:
    points = [(size, times.median) for size, times in found]
    return Curve(name, points, [(times.p10, times.p90) for _, times in found], colour=colour)
