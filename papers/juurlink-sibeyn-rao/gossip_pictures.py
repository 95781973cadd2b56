"""Gossip algorithms compared: time per byte against message length, and which algorithm wins where.

    python papers/juurlink-sibeyn-rao/gossip_pictures.py

Writes results/gossip-times-ring.png and results/gossip-regions-tori.png.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from compare import network_name
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.ticker import LogLocator

from hocket import _papers
from hocket.errors import UsageError
from hocket.pictures import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's, darkest contrast first, then lighter tones for what rarely wins.
COLOURS: Final = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#b8a800",
    "#6b7785",
    "#7f4fa8",
    "#a8765a",
)
MARKS: Final = "osD^vP*Xph"
LEFT: Final = 0.95  # inches, as the next two
PLOT: Final = 5.0
HEIGHT: Final = 5.0


@dataclass(frozen=True)
class TimePerByte:
    """Nanoseconds per byte of message, by algorithm; nan where it was not timed."""

    network: str  # "ring of 64"
    lengths: Sequence[int]  # bytes
    curves: Mapping[str, Sequence[float]]
    note: str = ""


@dataclass(frozen=True)
class Regions:
    """Fastest algorithm in the plane of side and r = t_s / (L·t_l)."""

    network: str  # "rings", "square tori"
    sides: Sequence[int]
    ratios: Sequence[float]  # r, rising
    winners: Sequence[Sequence[str]]  # [r][side]
    note: str = ""


def time_per_byte(
    sides: list[int],
    lengths: Sequence[int],
    alpha: float,
    per_byte: float,
    *,
    wraparound: bool = True,
    shared: bool = False,
    half_duplex: bool = False,
    effort: int = 10_000_000,
) -> TimePerByte:
    """From the cost formulas. `alpha` in seconds, `per_byte` in seconds over one link."""
    if alpha < 0 or per_byte <= 0 or any(length <= 0 for length in lengths):
        raise UsageError(
            "times and message lengths must be positive", remedy="give them in seconds and bytes"
        )
    curves: dict[str, list[float]] = {}
    for length in lengths:
        plans = _papers.gossip.candidates(
            sides,
            alpha / (length * per_byte),
            wraparound=wraparound,
            shared=shared,
            half_duplex=half_duplex,
            effort=effort,
        )
        for plan in plans:
            # plan.time counts items over a link, so that the length cancels.
            curves.setdefault(plan.name, []).append(plan.time * per_byte * 1e9)
    note = f"t_s = {alpha * 1e6:g} µs, t_l = {per_byte * 1e9:g} ns per byte"
    note += ", one message out or in at a time" if half_duplex else ", all ports at once"
    return TimePerByte(network_name(sides, wraparound), list(lengths), dict(sorted(curves.items())), note)


def regions(
    sides: Sequence[int],
    ratios: Sequence[float],
    *,
    dimensions: int = 1,
    wraparound: bool = True,
    shared: bool = False,
    half_duplex: bool = False,
    effort: int = 2_000_000,
) -> Regions:
    """The winner by formula on cubes of these sides; a tie goes to the algorithm that is tried first."""
    winners = [
        [
            _papers.gossip.best(
                [side] * dimensions,
                r,
                wraparound=wraparound,
                shared=shared,
                half_duplex=half_duplex,
                effort=effort,
            ).name
            for side in sides
        ]
        for r in ratios
    ]
    kinds = {1: ("rings", "linear arrays"), 2: ("square tori", "square meshes")}
    torus, mesh = kinds.get(
        dimensions, (f"{dimensions}-dimensional tori", f"{dimensions}-dimensional meshes")
    )
    note = "channels may be shared" if shared else "no channel is shared"
    note += ", one message out or in at a time" if half_duplex else ""
    return Regions(torus if wraparound else mesh, list(sides), list(ratios), winners, note)


def draw_time_per_byte(data: TimePerByte, path: str | Path, *, title: str = "", most: int = 8) -> Path:
    """Draws a curve per algorithm; of more than `most`, those that come closest to the best anywhere."""
    path = style.check(path)
    names = _closest(data, most)
    with style.context():
        figure, axes, left = _figure(names)
        for i, name in enumerate(names):
            axes.plot(
                data.lengths,
                data.curves[name],
                color=COLOURS[i % len(COLOURS)],
                marker=MARKS[i % len(MARKS)],
                markersize=4,
                linewidth=1.4,
                label=name,
            )
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(list(data.lengths)[:: -(-len(data.lengths) // 9)])
        axes.xaxis.set_major_formatter(lambda x, _: _bytes(x))
        axes.minorticks_off()
        # Curves may span less than a decade, or many.
        axes.yaxis.set_major_locator(LogLocator(subs=_subs(data)))
        axes.yaxis.set_major_formatter(lambda y, _: _number(y))
        axes.grid(axis="y", color=style.FAINT, zorder=0)
        for side in ("right", "top"):
            axes.spines[side].set_visible(False)
        axes.set_xlabel("message length")
        axes.set_ylabel("time per byte (ns)")
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8)
        style.headline(figure, title or f"Gossip on a {data.network}", data.note, left=left)
        left_out = len(data.curves) - len(names)
        style.footnote(
            figure, left, f"{style.counted(left_out, 'slower algorithm')} left out" if left_out else ""
        )
        style.save(figure, path)
    return path


def draw_regions(data: Regions, path: str | Path, *, title: str = "") -> Path:
    """Draws which algorithm wins where, each region with its name."""
    path = style.check(path)
    names = _by_area(data)
    cells = np.array([[names.index(name) for name in row] for row in data.winners])
    if cells.shape != (len(data.ratios), len(data.sides)) or cells.size == 0:
        raise UsageError("the map of winners has gaps", remedy="give one winner per side and r")
    with style.context():
        shares = [float(np.mean(cells == i)) for i in range(len(names))]
        labels = [f"{name}, {share:.0%}" for name, share in zip(names, shares, strict=True)]
        figure, axes, left = _figure(labels)
        colours = [COLOURS[i % len(COLOURS)] for i in range(len(names))]
        axes.pcolormesh(
            np.arange(len(data.sides) + 1),
            np.arange(len(data.ratios) + 1),
            cells,
            cmap=ListedColormap(colours),
            norm=BoundaryNorm(np.arange(len(names) + 1) - 0.5, len(names)),
            edgecolors="white",
            linewidth=0.4,
        )
        for i, name in enumerate(names):
            x, y = _middle(cells == i)
            if shares[i] >= 0.04:
                axes.text(x, y, name, ha="center", va="center", color="white", fontsize=9, fontweight="bold")
            axes.bar(0, 0, color=colours[i], label=labels[i])
        _ticks(axes.set_xticks, axes.set_xticklabels, data.sides)
        _ticks(axes.set_yticks, axes.set_yticklabels, data.ratios)
        axes.set_xlim(0, len(data.sides))
        axes.set_ylim(0, len(data.ratios))
        axes.tick_params(length=0)
        for side in ("left", "right", "top", "bottom"):
            axes.spines[side].set_visible(False)
        axes.set_xlabel("side n")
        axes.set_ylabel("r = t_s / (L·t_l)")
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8)
        style.headline(figure, title or f"The fastest gossip on {data.network}", data.note, left=left)
        style.save(figure, path)
    return path


def _figure(labels: Sequence[str]) -> tuple[Figure, Axes, float]:
    """Room for a legend of these labels right of the plot, and where the plot begins."""
    legend = 0.8 + 0.068 * max(map(len, labels))  # inches, at 8 points
    width = LEFT + PLOT + legend
    figure = style.new_figure(width, HEIGHT)
    return figure, figure.add_axes((LEFT / width, 0.15, PLOT / width, 0.68)), LEFT / width


def _subs(data: TimePerByte) -> tuple[int, ...]:
    """Which multiples of the powers of ten are labelled, so that there are about five or more."""
    times = np.array([list(curve) for curve in data.curves.values()], dtype=float)
    times = times[times > 0]  # one processor takes none
    decades = float(np.log10(times.max() / times.min())) if times.size else 0
    return (1,) if decades > 5 else (1, 2, 5) if decades > 1 else tuple(range(1, 10))


def _closest(data: TimePerByte, most: int) -> list[str]:
    """Algorithms by how close they come to the best anywhere; kept in the order given."""
    if not data.curves or any(len(curve) != len(data.lengths) for curve in data.curves.values()):
        raise UsageError("every algorithm needs a time for each length", remedy="fill gaps with nan")
    table = np.array([list(curve) for curve in data.curves.values()], dtype=float)
    excess = np.nanmin(table / np.nanmin(table, axis=0), axis=1)
    kept = sorted(np.argsort(excess, kind="stable")[:most])
    names = list(data.curves)
    return [names[i] for i in kept]


def _by_area(data: Regions) -> list[str]:
    flat = [name for row in data.winners for name in row]
    return sorted(set(flat), key=lambda name: (-flat.count(name), name))


def _middle(inside: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> tuple[float, float]:
    """The centre of the cell of a region that is deepest inside it."""
    depth = np.zeros(inside.shape)
    now = inside.copy()
    while now.any():
        depth[now] += 1
        padded = np.pad(now, 1)
        # A cell survives if its neighbours in the row and in the column do.
        now = now & padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    deepest = np.argwhere(depth == depth.max())
    # Names are wide: of the deepest, a cell with many of its kind on both sides.
    rooms = [min(_run(inside[y, x:]), _run(inside[y, x::-1])) for y, x in deepest]
    best = [cell for cell, room in zip(deepest, rooms, strict=True) if room == max(rooms)]
    y, x = best[len(best) // 2]
    return float(x) + 0.5, float(y) + 0.5


def _run(cells: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> int:
    """Number of true cells before the first false one."""
    return int(np.logical_and.accumulate(cells).sum())


def _ticks(set_ticks: object, set_labels: object, values: Sequence[float]) -> None:
    every = max(1, -(-len(values) // 12))
    places = range(0, len(values), every)
    assert callable(set_ticks) and callable(set_labels)
    set_ticks([i + 0.5 for i in places])
    set_labels([_number(values[i]) for i in places])


def _number(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= value < 1e6 else f"{value:.3g}"


def _bytes(length: float) -> str:
    for factor, unit in ((1 << 20, "M"), (1 << 10, "k")):
        if length >= factor:
            return f"{length / factor:g}{unit}"
    return f"{length:g}"


def main() -> None:
    results = Path(__file__).parent / "results"
    curves = time_per_byte([64], [1 << i for i in range(4, 21)], alpha=10e-6, per_byte=8e-9)
    draw_time_per_byte(curves, results / "gossip-times-ring.png")
    ratios = [2.0**i for i in range(-2, 13)]
    winners = regions([3, 4, 6, 8, 9, 12, 16, 24, 27, 32], ratios, dimensions=2)
    draw_regions(winners, results / "gossip-regions-tori.png")


if __name__ == "__main__":
    main()
