"""Channel utilisation over time, and the colours that show it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final, Self

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap, Normalize, to_rgba
from matplotlib.figure import Figure
from numpy.typing import NDArray

from hocket import _core
from hocket._core import Network
from hocket.pictures import style
from hocket.pictures.channels import Line, Picture, counts, label, share_out

AT_ONCE: Final = 256  # channels whose transfers are looked up together
NORM: Final = Normalize(0, 1)


def busy_shares(
    simulation: _core.Simulation,
    schedule: _core.Schedule,
    network: _core.Network,
    channels: Sequence[int],
    slots: int,
) -> NDArray[np.float64]:
    """Share of time, 0 to 1, in which each channel carries any message, in each of ``slots`` equal intervals;
    shape (channels, slots)."""
    start, end = np.asarray(simulation.start), np.asarray(simulation.end)
    edges = np.linspace(0, simulation.seconds, slots + 1)
    shares = np.zeros((len(channels), slots))
    if simulation.seconds <= 0:
        return shares
    for first in range(0, len(channels), AT_ONCE):
        users = schedule.transfers_on(network, list(channels[first : first + AT_ONCE]))
        for place, transfers in enumerate(users, first):
            if len(transfers):
                chosen = np.asarray(transfers, dtype=np.int64)
                shares[place] = np.diff(_covered(start[chosen], end[chosen], edges))
    shares *= slots / simulation.seconds
    np.clip(shares, 0, 1, out=shares)
    return shares


def _covered(
    start: NDArray[np.float64], end: NDArray[np.float64], times: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Time up to each of ``times`` in which any interval was running."""
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order])
    # Each interval counts only where those before it have ended.
    start = np.maximum(start, np.concatenate([[start[0]], end[:-1]]))
    points = np.stack([start, end], -1).ravel()
    length = np.repeat(np.cumsum(end - start), 2)
    length[::2] -= end - start
    return np.interp(times, points, length)


def colours() -> ListedColormap:
    """Idle is grey; from the least use on the darker the busier."""
    shades = mpl.colormaps["YlGnBu"](np.linspace(0.2, 1, 255))
    return ListedColormap(np.vstack([to_rgba(style.IDLE), shades]))


def colour_bar(figure: Figure, top: float, tall: float, title: str) -> None:
    """Draw the colour bar at the right edge; ``top`` and ``tall`` are in inches."""
    strip = style.colour_strip(figure, top, tall, title)
    # The lowest colour, idle, stands apart.
    values = np.linspace(1, 1 / 255, 255)[:, None]
    strip.imshow(values, aspect="auto", cmap=colours(), norm=NORM, extent=(0, 1, 0, 1))
    strip.imshow([[0.0]], aspect="auto", cmap=colours(), norm=NORM, extent=(0, 1, -0.17, -0.05))
    strip.set_ylim(-0.17, 1)
    strip.set_yticks([-0.11, 0.5, 1], ["idle", "50 %", "100 %"])


ROW_HEIGHT = 0.19  # inches
WIDTH, LEFT, RIGHT = 8.0, 1.75, 0.65
TOP, BOTTOM = 0.75, 0.8
WIDE: Final = 11.0  # of the picture of a network
MOST_NAMES: Final = 48  # marks with their names written beside them
_BOW: Final = np.linspace(0, 1, 9)
_SAME: Final = 1 - 1e-9


@dataclass(frozen=True, slots=True)
class Loads:
    """Bytes that each channel carries in one exchange, and how long that takes at its full rate."""

    carried: NDArray[np.float64]  # bytes
    seconds: NDArray[np.float64]
    unit: str  # of the exchange, for texts

    @classmethod
    def of(cls, network: Network, carried: Sequence[float] | NDArray[np.float64], unit: str) -> Self:
        bytes = np.asarray(carried, dtype=float)
        rates = np.array([network.rate(channel) for channel in range(network.channels)])
        return cls(bytes, bytes / rates if len(rates) else bytes, unit)

    @property
    def most(self) -> float:
        return float(self.seconds.max(initial=0.0))

    @property
    def shares(self) -> NDArray[np.float64]:
        """Seconds of each channel, over those of the bottleneck."""
        return self.seconds / self.most if self.most else self.seconds

    def bottlenecks(self) -> list[int]:
        """Every channel that is as slow as the slowest."""
        return [int(c) for c in np.flatnonzero(self.shares >= _SAME)]


def draw_loads(network: Network, loads: Loads, path: str | Path, *, max_rows: int = 48) -> Path:
    """Draws a bar per row of channels to an SVG, PNG or PDF file: their mean, and a line at the busiest."""
    path = style.check(path)
    rows = share_out(network, loads.seconds, max_rows)
    gaps = sum(a.band is not b.band for a, b in pairwise(rows))
    height = TOP + BOTTOM + ROW_HEIGHT * (max(len(rows), 1) + 1.6 * (gaps + 1))
    with style.context():
        figure = style.new_figure(WIDTH, height)
        axes = figure.add_axes(
            (LEFT / WIDTH, BOTTOM / height, 1 - (LEFT + RIGHT) / WIDTH, 1 - (TOP + BOTTOM) / height)
        )
        tops = style.bands(axes, rows)
        for y, row in zip(tops, rows, strict=True):
            shares = 100 * loads.shares[row.channels]
            axes.barh(y + 0.5, 100, height=0.74, color=style.ROW, zorder=0)
            axes.barh(
                y + 0.5, shares.mean(), height=0.74, color=style.GROUP_COLOURS[row.band.group], zorder=2
            )
            if len(shares) > 1:
                axes.vlines(shares.max(), y + 0.13, y + 0.87, color=style.INK, lw=1.2, zorder=3)
            axes.text(101, y + 0.5, f"{shares.mean():.1f} %", fontsize=7.5, color=style.MUTED, va="center")
        axes.set_xlim(0, 100)
        axes.set_xlabel("busy at full rate, of the bottleneck (%)", color=style.MUTED)
        axes.set_yticks([y + 0.5 for y in tops])
        axes.set_yticklabels([label(network, row) for row in rows], fontsize=8)
        style.headline(figure, "Loads of the channels", f"{loads.unit}; {counts(rows)}", left=LEFT / WIDTH)
        shared = len(rows) < network.channels
        style.footnote(
            figure, LEFT / WIDTH, "bar: mean of the row; line: its busiest channel" if shared else ""
        )
        style.save(figure, path)
    return path


def draw_network(drawn: Picture, loads: Loads, path: str | Path) -> Path:
    """Draws the network with its links coloured by their load, in the busier direction; bottlenecks in orange."""
    path = style.check(path)
    height = WIDE * drawn.height / 1000
    with style.context():
        figure = style.new_figure(WIDE, height)
        axes = figure.add_axes((0.01, 0.02, 0.9, 0.96))
        shares = [
            float(max(loads.shares[2 * n : 2 * n + 2].max() for n in line.links)) for line in drawn.lines
        ]
        for hottest in (False, True):
            of = [
                (line, share)
                for line, share in zip(drawn.lines, shares, strict=True)
                if hottest == (share >= _SAME)
            ]
            parts = [(part, share) for line, share in of for part in _parts(drawn, line)]
            colour = style.ALARM if hottest else colours()([share for _, share in parts])
            width = (3.2 if len(of) <= 40 else 2.0) if hottest else 1.4
            axes.add_collection(LineCollection([part for part, _ in parts], colors=colour, linewidths=width))
        _marks(axes, drawn)
        axes.set_axis_off()
        axes.margins(0.05, 0.12)
        if drawn.square:
            axes.set_aspect("equal")
        colour_bar(figure, 0.4, min(2.2, height - 0.8), "of the\nbottleneck")
        style.save(figure, path)
    return path


def _parts(drawn: Picture, line: Line) -> list[NDArray[np.float64]]:
    """Points of the lines between two marks: straight, a bow, or a stub at both ends."""
    a, b = (np.array((mark.x, mark.y)) for mark in (drawn.marks[line.a], drawn.marks[line.b]))
    if line.stub != (0.0, 0.0):
        return [np.stack([a, a + line.stub]), np.stack([b, b - line.stub])]
    bow = _BOW[:, None] if line.bend else np.array([[0.0], [1.0]])
    return [a + bow * (b - a) + 4 * bow * (1 - bow) * np.array([0, line.bend])]


def _marks(axes: Axes, drawn: Picture) -> None:
    for hosts, marker, face in ((False, "o", "white"), (True, "s", style.INK)):
        of = [mark for mark in drawn.marks if mark.hosts == hosts]
        size = 40 if len(of) <= 80 else 12
        axes.scatter(
            [mark.x for mark in of], [mark.y for mark in of], s=size, marker=marker, facecolor=face,
            edgecolor=style.INK, zorder=3,
        )  # fmt: skip
        for mark in of if len(drawn.marks) <= MOST_NAMES else ():
            name = mark.name if len(mark.nodes) == 1 else f"{len(mark.nodes)} hosts"
            axes.annotate(
                name, (mark.x, mark.y), (0, -6 if hosts else 6), textcoords="offset points",
                ha="center", va="top" if hosts else "bottom", fontsize=8,
            )  # fmt: skip
