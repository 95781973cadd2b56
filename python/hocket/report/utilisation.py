"""How busy each channel was: bytes carried over what it could have carried in the whole time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from hocket.report import style
from hocket.report.channels import choose, label, utilisation_of

if TYPE_CHECKING:
    from hocket._core import Network, Simulation

ROW_HEIGHT = 0.19  # inches
WIDTH, LEFT, RIGHT = 8.0, 1.55, 0.65
TOP, BOTTOM = 0.75, 0.8


def utilisation(
    simulation: Simulation, network: Network, path: str | Path, *, title: str = "", max_rows: int = 36
) -> Path:
    """Draws a bar per channel to an SVG, PNG or PDF file; says how many channels are left out."""
    path = style.check(path)
    choice = choose(simulation, network, max_rows)
    gaps = sum(a is not b for a, b in pairwise(choice.groups))
    height = TOP + BOTTOM + ROW_HEIGHT * (max(len(choice.channels), 1) + 1.6 * (gaps + 1))
    with style.context():
        figure = style.new_figure(WIDTH, height)
        axes = figure.add_axes(
            (LEFT / WIDTH, BOTTOM / height, 1 - (LEFT + RIGHT) / WIDTH, 1 - (TOP + BOTTOM) / height)
        )
        rows: list[float] = []
        y, before = 0.0, None
        for channel, group in zip(choice.channels, choice.groups, strict=True):
            colour = style.GROUP_COLOURS[group]
            if group is not before:
                y += 1.3 if before is None else 1.6
                axes.text(0, y - 0.25, group.value, fontsize=8.5, fontweight="bold", color=colour)
                before = group
            share = 100 * utilisation_of(simulation, network, channel)
            axes.barh(y + 0.5, 100, height=0.74, color=style.ROW, zorder=0)
            axes.barh(y + 0.5, share, height=0.74, color=colour, zorder=2)
            axes.text(101, y + 0.5, f"{share:.1f} %", fontsize=7.5, color=style.MUTED, va="center")
            rows.append(y)
            y += 1
        axes.set_ylim((rows[-1] if rows else 0.0) + 1, -0.2)
        axes.set_xlim(0, 100)
        style.plain(axes)
        axes.set_xlabel("share of the time × rate used (%)", color=style.MUTED)
        axes.set_yticks([y + 0.5 for y in rows])
        axes.set_yticklabels([label(network, c) for c in choice.channels], fontsize=8)
        factor, unit = style.time_unit(simulation.seconds)
        busiest = max((utilisation_of(simulation, network, c) for c in choice.channels), default=0.0)
        subtitle = f"{simulation.seconds * factor:.4g} {unit} simulated; busiest channel {busiest:.1%}"
        style.headline(figure, title or "Utilisation of the channels", subtitle, left=LEFT / WIDTH)
        style.footnote(figure, LEFT / WIDTH, choice.note())
        style.save(figure, path)
    return path
