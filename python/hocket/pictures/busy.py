"""Channel utilisation over time, and the colours that show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import matplotlib as mpl
import numpy as np
from matplotlib.colors import ListedColormap, Normalize, to_rgba

from hocket import _core
from hocket.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

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
        users = _core.transfers_on(network, schedule, list(channels[first : first + AT_ONCE]))
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
    width, height = figure.get_size_inches()
    bar = figure.add_axes((1 - 0.62 / width, 1 - (top + tall) / height, 0.11 / width, tall / height))
    # The lowest colour, idle, stands apart.
    values = np.linspace(1, 1 / 255, 255)[:, None]
    bar.imshow(values, aspect="auto", cmap=colours(), norm=NORM, extent=(0, 1, 0, 1))
    bar.imshow([[0.0]], aspect="auto", cmap=colours(), norm=NORM, extent=(0, 1, -0.17, -0.05))
    bar.set_ylim(-0.17, 1)
    bar.set_xticks([])
    bar.yaxis.tick_right()
    bar.set_yticks([-0.11, 0.5, 1], ["idle", "50 %", "100 %"])
    bar.tick_params(length=0, labelsize=7.5)
    bar.set_title(title, fontsize=8, color=style.MUTED, pad=4)
    for spine in bar.spines.values():
        spine.set_visible(False)
