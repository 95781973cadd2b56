"""Histograms of throughput over all routes and over all phases, side by side, as Stricker and Hardwick's talk
"From AAPC to Random Permuters and Sorters" (1996) draws its hell, purgatory and heaven."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import ArrayLike, NDArray

from hocket import _core
from hocket.errors import UsageError
from hocket.pictures import style

# From 0 to the limit; a prime, so that a half, a third, … of a link falls inside a bin, not on an edge.
BINS: Final = 61
HEADROOM: Final = 1.08  # above the highest bar
MEGA: Final = 1e6
WIDTH, LEFT, RIGHT, GAP = 9.0, 0.85, 0.35, 0.75  # inches, as the next line
TOP, PLOT, BETWEEN, BOTTOM = 1.2, 1.5, 0.95, 0.75


class Simulated(Protocol):
    """Times of transfers, as every model of a schedule returns them."""

    @property
    def seconds(self) -> float: ...
    @property
    def posted(self) -> ArrayLike:
        """Seconds, per transfer."""

    @property
    def end(self) -> ArrayLike:
        """Seconds, per transfer."""


@dataclass(frozen=True)
class Stage:
    """Throughputs in bytes per second."""

    name: str
    routes: NDArray[np.float64]  # a message's bytes over its time, one for each message that crosses a wire
    phases: NDArray[np.float64]  # the slowest of these of each phase
    limit: float  # of a node
    per_node: float  # bytes that a rank sends over the time of the whole exchange
    note: str = ""
    phase: str = "phase"  # what a phase is called


def stage(
    name: str,
    simulation: Simulated,
    schedule: _core.Schedule,
    network: _core.Network,
    note: str = "",
    limit: float | None = None,
    phase: str = "phase",
) -> Stage:
    """The throughputs of one simulated schedule. A message's time is from its sender's first step,
    per-message cost included, to its last byte's arrival; messages between ranks of one host are left out.
    ``limit``: bytes/s that a node could reach; without it the speed of a host's link."""
    seconds = np.asarray(simulation.end, float) - np.asarray(simulation.posted, float)
    lengths = np.asarray(schedule.lengths(), float)
    if len(seconds) != len(lengths):
        raise UsageError(
            f"a simulation of {len(seconds):,} messages does not belong to a schedule of {len(lengths):,}",
            remedy="simulate this schedule",
        )
    hosts = np.array([network.host_of(rank) for rank in range(network.ranks)])
    ends = hosts[np.asarray(schedule.hops(), int).reshape(-1, 2)]
    timed = (ends[:, 0] != ends[:, 1]) & (seconds > 0)
    speed = np.full(len(seconds), np.inf)
    speed[timed] = lengths[timed] / seconds[timed]
    begin = np.asarray(schedule.phase_begin(), int)
    used = begin[:-1][np.diff(begin) > 0]  # no empty phases: reduceat would take the next one's first message
    slowest = np.minimum.reduceat(speed, used) if len(used) else np.empty(0)
    per_node = float(lengths.sum()) / network.ranks / simulation.seconds if simulation.seconds > 0 else 0.0
    top = float(network.host_rate) if limit is None else limit
    return Stage(name, speed[timed], slowest[np.isfinite(slowest)], top, per_node, note, phase)


def histogram(values: NDArray[np.float64], limit: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Counts in equal bins from 0 to the limit, and the edges of the bins. Every value counts: one beyond the
    limit, by rounding or by a copy in memory, in the last bin."""
    counts, edges = np.histogram(np.minimum(values, limit), bins=BINS, range=(0.0, limit))
    return counts, edges


def draw_throughput(stages: Sequence[Stage], path: str | Path, *, title: str = "") -> Path:
    """Draws a pair of histograms per stage, one pair below the other, to an SVG, PNG or PDF file."""
    path = style.check(path)
    if not stages:
        raise UsageError("no stage to draw", remedy="give at least one")
    for each in stages:
        if not len(each.routes):
            raise UsageError(
                f"{each.name}: no message crosses a link, so that there is no throughput to draw",
                remedy="give a network of more hosts",
            )
    rows = len(stages)
    height = TOP + rows * PLOT + (rows - 1) * BETWEEN + BOTTOM
    with style.context():
        figure = style.new_figure(WIDTH, height)
        wide = (WIDTH - LEFT - GAP - RIGHT) / 2
        for row, each in enumerate(stages):
            top = TOP + row * (PLOT + BETWEEN)
            bottom = 1 - (top + PLOT) / height
            pair = [
                figure.add_axes((x / WIDTH, bottom, wide / WIDTH, PLOT / height))
                for x in (LEFT, LEFT + wide + GAP)
            ]
            draw_stage((pair[0], pair[1]), each, label_x=row + 1 == rows)
            share = each.per_node / each.limit
            text = f"{each.per_node / MEGA:.3g} MB/s per node, {share:.0%} of {each.limit / MEGA:.3g} MB/s"
            baseline = 1 - (top - 0.24) / height
            figure.text(LEFT / WIDTH, baseline, each.name, fontsize=10.5, fontweight="bold")
            figure.text(
                (LEFT + wide + GAP) / WIDTH, baseline, "; ".join(filter(None, (text, each.note))),
                fontsize=8.5, color=style.MUTED,
            )  # fmt: skip
        left, right = "every message's bytes over its time", "the slowest message of each phase"
        subtitle = f"left: {left}; right: {right}; dashed: mean"
        style.headline(figure, title or "Throughput of an exchange", subtitle, left=LEFT / WIDTH)
        beyond = any((each.routes > each.limit * (1 + 1e-6)).any() for each in stages)
        style.footnote(figure, LEFT / WIDTH, "the last bar counts all that is faster" if beyond else "")
        style.save(figure, path)
    return path


def draw_stage(axes: tuple[Axes, Axes], stage: Stage, *, label_x: bool = True) -> None:
    """Fills a pair of axes: routes on the left, phases on the right; MB/s from 0 to the speed of a link."""
    for place, values, noun, colour in (
        (axes[0], stage.routes, "route", "#0072b2"),
        (axes[1], stage.phases, stage.phase, "#009e73"),
    ):
        counts, edges = histogram(values, stage.limit)
        place.bar(
            edges[:-1] / MEGA, counts, width=np.diff(edges) / MEGA, align="edge", color=colour, linewidth=0
        )
        place.set_xlim(0, stage.limit / MEGA)
        place.set_ylim(0, HEADROOM * max(int(counts.max()), 1))
        place.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        place.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))
        style.plain(place)
        place.tick_params(axis="y", labelsize=8)
        if label_x:
            place.set_xlabel("MB/s per processor", color=style.MUTED)
        text = style.counted(len(values), noun)
        if len(values):
            mean = float(values.mean())
            text += f", mean {mean / MEGA:.3g} MB/s"
            place.axvline(min(mean, stage.limit) / MEGA, color=style.ALARM, linewidth=1.2, linestyle="--")
        place.text(0.0, 1.0, text, transform=place.transAxes, fontsize=8, color=style.MUTED, va="bottom")
