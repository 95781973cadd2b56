"""Utilisation of each channel: bytes carried over its capacity in the whole time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from hocket.pictures import style
from hocket.pictures.channels import counts, label, share_out, utilisation_of

if TYPE_CHECKING:
    from hocket._core import Network, Simulation

ROW_HEIGHT = 0.19  # inches
WIDTH, LEFT, RIGHT = 8.0, 1.75, 0.65
TOP, BOTTOM = 0.75, 0.8


def utilisation(
    simulation: Simulation, network: Network, path: str | Path, *, title: str = "", max_rows: int = 36
) -> Path:
    """Draws a bar per row of channels to an SVG, PNG or PDF file: their mean, and a line at the busiest."""
    path = style.check(path)
    rows = share_out(network, simulation, max_rows)
    gaps = sum(a.band is not b.band for a, b in pairwise(rows))
    height = TOP + BOTTOM + ROW_HEIGHT * (max(len(rows), 1) + 1.6 * (gaps + 1))
    with style.context():
        figure = style.new_figure(WIDTH, height)
        axes = figure.add_axes(
            (LEFT / WIDTH, BOTTOM / height, 1 - (LEFT + RIGHT) / WIDTH, 1 - (TOP + BOTTOM) / height)
        )
        tops: list[float] = []
        y, before = 0.0, None
        for row in rows:
            colour = style.GROUP_COLOURS[row.band.group]
            if row.band is not before:
                y += 1.3 if before is None else 1.6
                heading = f"{row.band.name} ({len(row.band.channels):,})"
                axes.text(0, y - 0.25, heading, fontsize=8.5, fontweight="bold", color=colour)
                before = row.band
            shares = [100 * utilisation_of(simulation, network, c) for c in row.channels]
            mean = sum(shares) / len(shares)
            axes.barh(y + 0.5, 100, height=0.74, color=style.ROW, zorder=0)
            axes.barh(y + 0.5, mean, height=0.74, color=colour, zorder=2)
            if len(shares) > 1:
                axes.vlines(max(shares), y + 0.13, y + 0.87, color=style.INK, lw=1.2, zorder=3)
            axes.text(101, y + 0.5, f"{mean:.1f} %", fontsize=7.5, color=style.MUTED, va="center")
            tops.append(y)
            y += 1
        axes.set_ylim((tops[-1] if tops else 0.0) + 1, -0.2)
        axes.set_xlim(0, 100)
        style.plain(axes)
        axes.set_xlabel("share of the time × rate used (%)", color=style.MUTED)
        axes.set_yticks([y + 0.5 for y in tops])
        axes.set_yticklabels([label(network, row) for row in rows], fontsize=8)
        factor, unit = style.time_unit(simulation.seconds)
        busiest = max((utilisation_of(simulation, network, c) for c in range(network.channels)), default=0.0)
        subtitle = f"{counts(rows)}; {simulation.seconds * factor:.4g} {unit} simulated; busiest channel {busiest:.1%}"
        style.headline(figure, title or "Utilisation of the channels", subtitle, left=LEFT / WIDTH)
        shared = len(rows) < network.channels
        style.footnote(
            figure, LEFT / WIDTH, "bar: mean of the row; line: its busiest channel" if shared else ""
        )
        style.save(figure, path)
    return path
