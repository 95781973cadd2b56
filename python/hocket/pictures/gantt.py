"""Time × channel: what each channel carries when, coloured by phase; how busy many channels are."""

from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from numpy.typing import NDArray

from hocket import _core
from hocket.pictures import busy, style
from hocket.pictures.channels import Row, bound_seconds, counts, label, share_out, utilisation_of
from hocket.units import format_bytes

MAX_LANES = 8  # more transfers at once on a channel are drawn as their number
MAX_VECTOR_BARS = 30_000  # more are stored as an image inside an SVG
MAX_LABELLED = 400  # up to so many transfers, bars carry the names of their ends
ROW_HEIGHT = 0.19  # inches
BAR = 0.78  # of a row
WIDTH, LEFT, RIGHT = 11.0, 1.75, 1.35  # inches
TOP, BOTTOM = 0.95, 0.8
SLOTS = 480  # of time, in rows that several channels share


def gantt(
    simulation: _core.Simulation,
    schedule: _core.Schedule,
    network: _core.Network,
    path: str | Path,
    *,
    title: str = "",
    max_rows: int = 36,
    bound: float | None = None,
) -> Path:
    """Draws the simulation of a schedule to an SVG, PNG or PDF file.

    ``bound`` is the least time in seconds; without it that of the busiest channel for what it carries.

    Every channel is in one row. In a row of one channel a bar is a transfer, coloured by its phase; transfers that
    share the channel divide the row. Where there are more than ``max_rows`` channels, those of a kind share rows: above
    the mean share of them that is busy, below that of the busiest channel."""
    path = style.check(path)
    rows = share_out(network, simulation.channel_busy, max_rows)
    gaps = sum(a.band is not b.band for a, b in pairwise(rows))
    small = len(schedule) <= MAX_LABELLED and network.channels <= 24
    tall = ROW_HEIGHT * (1.5 if small else 1.0)
    height = TOP + BOTTOM + tall * (max(len(rows), 1) + 1.6 * (gaps + 1))
    with style.context():
        figure = style.new_figure(WIDTH, height)
        axes = figure.add_axes(
            (LEFT / WIDTH, BOTTOM / height, 1 - (LEFT + RIGHT) / WIDTH, 1 - (TOP + BOTTOM) / height)
        )
        bound = bound_seconds(simulation, network) if bound is None else bound
        drawing = _Drawing(figure, axes, simulation, schedule, network, rows, bound)
        drawing.draw(labels=small)
        factor, unit = style.time_unit(simulation.seconds)
        subtitle = (
            f"{style.counted(len(schedule), 'message')} of {_size(schedule)} in "
            f"{style.counted(schedule.phases, 'phase')}; {simulation.seconds * factor:.4g} {unit} simulated, "
            f"{simulation.seconds / bound if bound else 1:.3f} × the bound; {counts(rows)}"
        )
        style.headline(figure, title or f"Exchange of {schedule.ranks} ranks", subtitle, left=LEFT / WIDTH)
        style.footnote(figure, LEFT / WIDTH, *drawing.notes())
        style.save(figure, path)
    return path


def _size(schedule: _core.Schedule) -> str:
    """Bytes of a message; those of an all-gather may carry several contributions, others are unequal."""
    lengths = schedule.lengths() or [schedule.message_bytes]
    longest = format_bytes(max(lengths))
    return longest if min(lengths) == max(lengths) else f"at most {longest}"


def phase_colours(phases: int) -> ListedColormap:
    """Viridis, which colour-blind readers see as an order too, without the end that vanishes on white."""
    return ListedColormap(mpl.colormaps["viridis"](np.linspace(0.12, 0.93, max(2, min(phases, 256)))))


class _Drawing:
    def __init__(
        self,
        figure: Figure,
        axes: Axes,
        simulation: _core.Simulation,
        schedule: _core.Schedule,
        network: _core.Network,
        rows: list[Row],
        bound: float,
    ) -> None:
        self.figure, self.axes = figure, axes
        self.simulation, self.schedule, self.network, self.rows = simulation, schedule, network, rows
        self.factor, self.unit = style.time_unit(simulation.seconds)
        self.bound = bound * self.factor
        self.start: NDArray[np.float64] = np.asarray(simulation.start) * self.factor
        self.end: NDArray[np.float64] = np.asarray(simulation.end) * self.factor
        self.phase: NDArray[np.uint32] = np.asarray(simulation.phase)
        self.colours = phase_colours(schedule.phases)
        self.norm = Normalize(0, max(schedule.phases - 1, 1))
        self.crowded = self.coloured = False  # whether any row is drawn so

    def draw(self, *, labels: bool) -> None:
        tops = style.bands(self.axes, self.rows)
        single = [
            (y, row.channels[0]) for y, row in zip(tops, self.rows, strict=True) if len(row.channels) == 1
        ]
        users = self.schedule.transfers_on(self.network, [channel for _, channel in single])
        bars = sum(len(u) for u in users)
        for (y, channel), transfers in zip(single, users, strict=True):
            self._row(y, channel, np.asarray(transfers, dtype=np.int64), bars, labels)
        for y, row in zip(tops, self.rows, strict=True):
            if len(row.channels) > 1:
                self._shared(y, row)
        self.axes.set_xlim(0, max(self.simulation.seconds * self.factor, 1e-9))
        self.axes.set_xlabel(f"time ({self.unit})", color=style.MUTED)
        self.axes.set_yticks([y + 0.5 for y in tops])
        self.axes.set_yticklabels([label(self.network, row) for row in self.rows], fontsize=8)
        self._bound()
        tall = min(2.2, float(self.figure.get_size_inches()[1]) - TOP - BOTTOM)
        phases, shared = self.coloured and self.schedule.phases > 1, len(self.rows) < self.network.channels
        if phases and shared:
            tall = (tall - 0.4) / 2
        if phases:
            self._colour_bar(tall)
        if shared:
            busy.colour_bar(self.figure, TOP + (tall + 0.4 if phases else 0), tall, "busy (%)")

    def notes(self) -> list[str]:
        crowd = f"orange: more than {MAX_LANES} messages at once, height = how many" if self.crowded else ""
        shared = (
            "“+n more”: share of time busy, above the mean of the row's channels, below its busiest channel"
        )
        return [shared if len(self.rows) < self.network.channels else "", crowd]

    def _shared(self, y: float, row: Row) -> None:
        """Share of time busy in each slot: above the mean of the channels, below the busiest one."""
        right = max(self.simulation.seconds * self.factor, 1e-9)
        used = [utilisation_of(self.simulation, self.network, c) for c in row.channels]
        text = f"{sum(used) / len(used):.0%}"
        self.axes.text(right * 1.008, y + 0.5, text, fontsize=7.5, color=style.MUTED, va="center")
        shares = busy.busy_shares(self.simulation, self.schedule, self.network, row.channels, SLOTS)
        top, low = y + (1 - BAR) / 2, y + (1 + BAR) / 2
        middle = top + 0.62 * (low - top)
        busiest = shares[int(np.argmax(shares.sum(axis=1)))]
        for cells, above, below in ((shares.mean(axis=0), top, middle), (busiest, middle + 0.04, low)):
            self.axes.imshow(
                cells[None, :], aspect="auto", interpolation="nearest", cmap=busy.colours(), norm=busy.NORM,
                extent=(0, right, below, above),
            )  # fmt: skip

    def _row(self, y: float, channel: int, transfers: NDArray[np.int64], bars: int, labels: bool) -> None:
        right = self.simulation.seconds * self.factor
        self.axes.axhspan(y + (1 - BAR) / 2, y + (1 + BAR) / 2, color=style.ROW, lw=0, zorder=0)
        share = utilisation_of(self.simulation, self.network, channel)
        self.axes.text(right * 1.008, y + 0.5, f"{share:.0%}", fontsize=7.5, color=style.MUTED, va="center")
        if not len(transfers):
            return
        start, end = self.start[transfers], self.end[transfers]
        lane, lanes = assign_lanes(start, end)
        if lanes > MAX_LANES:
            self._crowd(y, start, end, lanes)
            return
        self.coloured = True
        height = BAR / lanes
        low = y + (1 - BAR) / 2 + lane * height
        corners = np.stack(
            [
                np.stack([start, low], -1),
                np.stack([end, low], -1),
                np.stack([end, low + height], -1),
                np.stack([start, low + height], -1),
            ],
            axis=1,
        )
        edge = 0.6 if len(transfers) < 60 else 0.25 if len(transfers) < 400 else 0
        colours = self.colours(self.norm(self.phase[transfers]))
        self.axes.add_collection(
            PolyCollection(
                list(corners), facecolors=colours, edgecolors="white", linewidths=edge,
                rasterized=bars > MAX_VECTOR_BARS,
            )
        )  # fmt: skip
        if labels and lanes == 1:
            self._labels(y, transfers, start, end)

    def _labels(
        self, y: float, transfers: NDArray[np.int64], start: NDArray[np.float64], end: NDArray[np.float64]
    ) -> None:
        hops, names = self.schedule.hops(), self.network.names
        room = (WIDTH - LEFT - RIGHT) * 72 / (self.simulation.seconds * self.factor)  # points per time unit
        for transfer, begin, over in zip(transfers, start, end, strict=True):
            src, dst = hops[transfer]
            text = f"{names[self.network.host_of(src)]}→{names[self.network.host_of(dst)]}"
            if (over - begin) * room < 4.6 * len(text):
                continue
            red, green, blue, _ = self.colours(self.norm(self.phase[transfer]))
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.55
            self.axes.text(
                (begin + over) / 2, y + 0.52, text, ha="center", va="center", fontsize=7,
                color="white" if dark else style.INK,
            )  # fmt: skip

    def _crowd(self, y: float, start: NDArray[np.float64], end: NDArray[np.float64], most: int) -> None:
        """Draw the number of concurrent messages, if there are too many for bars."""
        self.crowded = True
        times = np.concatenate([start, end])
        steps = np.concatenate([np.ones(len(start)), -np.ones(len(end))])
        order = np.lexsort((steps, times))
        level = np.cumsum(steps[order]) / most * BAR
        floor = y + (1 + BAR) / 2
        self.axes.fill_between(
            times[order], floor, floor - level, step="post", color=style.ALARM, alpha=0.75, lw=0
        )
        self.axes.text(
            self.simulation.seconds * self.factor * 0.012, y + 0.52, f"up to {most} at once", fontsize=6.5,
            va="center", color=style.INK,
            bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "alpha": 0.8, "linewidth": 0},
        )  # fmt: skip

    def _bound(self) -> None:
        if self.bound <= 0:
            return
        self.axes.axvline(self.bound, color=style.INK, lw=0.9, ls=(0, (3, 2)), zorder=3)
        self.axes.annotate(
            f"bound {self.bound:.4g} {self.unit}", (self.bound, 1), (-3, 2),
            xycoords=("data", "axes fraction"), textcoords="offset points",
            ha="right", va="bottom", fontsize=8, color=style.INK,
        )  # fmt: skip
        self.axes.text(
            1.008, 1, "in use", transform=self.axes.transAxes, fontsize=7.5, color=style.MUTED, va="bottom"
        )

    def _colour_bar(self, tall: float) -> None:
        strip = style.colour_strip(self.figure, TOP, tall, "phase")
        values = np.linspace(0, max(self.schedule.phases - 1, 1), 256)[:, None]
        strip.imshow(
            values, aspect="auto", cmap=self.colours, extent=(0, 1, max(self.schedule.phases, 1) + 0.5, 0.5)
        )
        strip.set_yticks([1, self.schedule.phases], ["1", f"{self.schedule.phases:,}"])


def assign_lanes(start: NDArray[np.float64], end: NDArray[np.float64]) -> tuple[NDArray[np.int64], int]:
    """The first free lane for each bar in order of its start, and the number of lanes."""
    lane = np.zeros(len(start), dtype=np.int64)
    free_from: list[float] = []
    slack = 1e-9 * (float(end.max()) if len(end) else 0.0)
    for bar in np.argsort(start, kind="stable"):
        free = (n for n, time in enumerate(free_from) if time <= start[bar] + slack)
        if (number := next(free, len(free_from))) == len(free_from):
            free_from.append(0.0)
        free_from[number] = float(end[bar])
        lane[bar] = number
    return lane, max(len(free_from), 1)
