"""A calibration as a picture: times of messages by size, and what flows leave of a wire."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hocket.pictures.curves import COLOURS, Curve, draw_on
from hocket.pictures.style import FAINT, check, context, new_figure, save

if TYPE_CHECKING:
    from hocket.costs.calibration import Calibration, Class


def draw_calibration(calibration: Calibration, path: str | Path) -> None:
    """Writes an .svg, .png or .pdf file. Left: seconds of a message by its bytes, a line for each distance; right:
    percent of a wire's rate that flows carry together."""
    target = check(path)
    with context():
        figure = new_figure(9, 3.6)
        times, parts = figure.subplots(1, 2)
        draw_on(times, [_curve(one) for one in calibration.classes])
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


def _curve(one: Class) -> Curve:
    found = [(transfer.bytes, transfer.seconds) for transfer in one.transfers]
    spread = [(t.median * max(1 - t.spread, 0.01), t.median * (1 + t.spread)) for _, t in found]
    return Curve(one.name, [(size, seconds.median) for size, seconds in found], spread)
