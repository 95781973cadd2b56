"""Pattern × router: how many messages each channel carries in each phase; without contention, how busy it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, Normalize, to_rgba
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from hocket import _core
from hocket.errors import UsageError
from hocket.pictures import busy, style
from hocket.pictures.channels import bands, utilisation_of

MOST_ROWS: Final = 900  # of cells in the picture; a cell is then the worst of several channels
MOST_COLUMNS: Final = 1200  # and of several phases
COLOURS: Final = 256
WIDTH, LEFT, RIGHT = 11.0, 1.75, 0.95  # inches, as the next line
TOP, BOTTOM, LEAST, TALLEST, SPACE = 0.95, 0.8, 0.5, 7.0, 0.09
PANEL, BETWEEN = 0.5, 0.2  # what several panels need besides
SLOTS: Final = 400  # of time
COUNTED_AT_ONCE: Final = (
    1 << 22
)  # uses of a channel in a phase, so that memory does not grow with the schedule
FINE_DPI: Final = 240


def worst_of_rows(cells: NDArray[np.uint32], most: int) -> NDArray[np.uint32]:
    """Reduce to at most ``most`` rows: the largest value of each block, all of one size but for the last."""
    step = -(-len(cells) // most)
    return np.maximum.reduceat(cells, np.arange(0, len(cells), step), axis=0)


@dataclass(frozen=True)
class Panel:
    """A schedule on a network, under its own name."""

    name: str
    schedule: _core.Schedule
    network: _core.Network


@dataclass
class Use:
    """Messages that share a channel in a phase."""

    cells: list[NDArray[np.uint32]]  # of each band: the worst of neighbouring channels (rows) and phases
    worst: int = 0
    total: int = 0  # the worst of each phase, in sum


def use_of(panel: Panel) -> Use:
    """Counts in parts of the schedule."""
    network, schedule = panel.network, panel.schedule
    kinds = bands(network)
    # Rows are shared out by the number of channels; a band has at least one.
    rows = [max(1, MOST_ROWS * len(band.channels) // network.channels) for band in kinds]
    step = -(-schedule.phases // MOST_COLUMNS)
    parts: list[list[NDArray[np.uint32]]] = [[] for _ in kinds]
    use = Use([])
    # Whole columns, or at least one.
    phases = max(1, COUNTED_AT_ONCE // (network.channels * step)) * step
    for first in range(0, schedule.phases, phases):
        counts = schedule.channel_use(network, first, min(first + phases, schedule.phases))
        worst = counts.max(axis=1)
        use.worst = max(use.worst, int(worst.max()))
        use.total += int(worst.sum(dtype=np.int64))
        columns = np.maximum.reduceat(counts, np.arange(0, len(counts), step), axis=0).T
        for part, band, most in zip(parts, kinds, rows, strict=True):
            part.append(worst_of_rows(columns[band.channels], most))
    use.cells = [np.concatenate(part, axis=1) for part in parts]
    return use


def heat(
    schedule: _core.Schedule,
    network: _core.Network,
    path: str | Path,
    *,
    title: str = "",
    name: str = "",
    simulation: _core.Simulation | None = None,
) -> Path:
    """Draws the messages on each channel (rows) in each phase (columns) to an SVG, PNG or PDF file.

    Where no two messages share a channel in a phase these are all 0 or 1. Then, given the simulation, the picture shows
    the share of time in which each channel is busy."""
    path = style.check(path)
    panel = Panel("", schedule, network)
    _refuse_empty([panel])
    by = f", by '{name}'" if name else ""
    about = f": {title}" if title else by
    use = use_of(panel)
    if simulation is not None and use.worst <= 1:
        _busy_heat(simulation, schedule, network, path, f"Time that each channel is busy{about}")
    else:
        _message_heat([panel], [use], path, f"Messages on each channel{about}")
    return path


def _refuse_empty(panels: Sequence[Panel]) -> None:
    if any(not len(panel.schedule) or not panel.network.channels for panel in panels):
        raise UsageError(
            "no message crosses a link, so that there is no heat to draw",
            remedy="give a network of more hosts",
        )


def _busy_heat(
    simulation: _core.Simulation, schedule: _core.Schedule, network: _core.Network, path: Path, title: str
) -> None:
    kinds = bands(network)
    factor, unit = style.time_unit(simulation.seconds)
    cells = []
    for band in kinds:
        shares = busy.busy_shares(simulation, schedule, network, band.channels, SLOTS)
        cells.append(mean_of_blocks(shares, max(1, MOST_ROWS * len(band.channels) // network.channels)))
    rows = [len(cell) for cell in cells]
    plot = min(TALLEST, max(LEAST * len(rows), 0.06 * sum(rows)))
    height = TOP + BOTTOM + plot + SPACE * (len(rows) - 1)
    wide, top = WIDTH - LEFT - RIGHT, TOP
    with style.context():
        figure = style.new_figure(WIDTH, height)
        for band, cell in zip(kinds, cells, strict=True):
            tall = plot * (0.5 / len(rows) + 0.5 * len(cell) / sum(rows))
            axes = figure.add_axes((LEFT / WIDTH, 1 - (top + tall) / height, wide / WIDTH, tall / height))
            top += tall + SPACE
            axes.imshow(
                cell, aspect="auto", interpolation="nearest", cmap=busy.colours(), norm=busy.NORM,
                extent=(0, simulation.seconds * factor, len(cell), 0),
            )  # fmt: skip
            used = [utilisation_of(simulation, network, channel) for channel in band.channels]
            name = f"{band.name}\n{style.counted(len(used), 'channel')}, {sum(used) / len(used):.0%}"
            _plain(axes, name, f"time ({unit})" if band is kinds[-1] else "", 8, integer=False)
        busy.colour_bar(figure, TOP, min(2.2, height - TOP - BOTTOM), "busy (%)")
        subtitle = (
            f"colour: share of time in which the channel carries a message; no two share a channel in a phase; "
            f"{style.counted(network.channels, 'channel')}"
        )
        style.headline(figure, title, subtitle, left=LEFT / WIDTH)
        merged = (
            "a point is the mean of several neighbouring channels; " if sum(rows) < network.channels else ""
        )
        note = f"{merged}beside the names: mean share of time × rate used"
        style.footnote(figure, LEFT / WIDTH, note)
        style.save(figure, path)


def mean_of_blocks(cells: NDArray[np.float64], rows: int) -> NDArray[np.float64]:
    """Reduce to at most ``rows`` rows: the mean of each block, all of one size but for the last."""
    step = -(-len(cells) // rows)
    starts = np.arange(0, len(cells), step)
    sizes = np.diff(np.append(starts, len(cells)))
    return np.asarray(np.add.reduceat(cells, starts, axis=0) / sizes[:, None])


def heats(panels: Sequence[Panel], path: str | Path, *, title: str) -> Path:
    """Draw several schedules side by side, in the same colours. Their networks have the same channels; routes
    may differ."""
    path = style.check(path)
    if not panels:
        raise UsageError("no schedule to draw", remedy="give at least one")
    _refuse_empty(panels)
    network = panels[0].network
    kinds = bands(network)
    if any(bands(panel.network) != kinds for panel in panels[1:]):
        raise UsageError("the networks have different channels", remedy="draw one picture for each")
    _message_heat(panels, [use_of(panel) for panel in panels], path, title)
    return path


def _message_heat(panels: Sequence[Panel], uses: Sequence[Use], path: Path, title: str) -> None:
    network = panels[0].network
    kinds = bands(network)
    rows = [len(cell) for cell in uses[0].cells]
    most = max(1, *(use.worst for use in uses))
    plot = min(TALLEST, max(LEAST * len(rows), 0.06 * sum(rows)))
    head = TOP + (PANEL if len(panels) > 1 else 0)
    height = head + BOTTOM + plot + SPACE * (len(rows) - 1)
    most_ticks = 8 if len(panels) == 1 else 4
    wide = (WIDTH - LEFT - RIGHT - BETWEEN * (len(panels) - 1)) / len(panels)
    with style.context():
        figure = style.new_figure(WIDTH, height)
        colours, norm = _colours(most)
        for column, (panel, use) in enumerate(zip(panels, uses, strict=True)):
            left, top = LEFT + column * (wide + BETWEEN), head
            if len(panels) > 1:
                _panel_head(figure, panel, use, left)
            for band, cell in zip(kinds, use.cells, strict=True):
                # At least half of an equal part, so that the name fits beside it.
                tall = plot * (0.5 / len(rows) + 0.5 * len(cell) / sum(rows))
                axes = figure.add_axes((left / WIDTH, 1 - (top + tall) / height, wide / WIDTH, tall / height))
                top += tall + SPACE
                axes.imshow(
                    cell, aspect="auto", interpolation="nearest", cmap=colours, norm=norm,
                    extent=(0.5, panel.schedule.phases + 0.5, len(cell), 0),
                )  # fmt: skip
                name = f"{band.name}\n{style.counted(len(band.channels), 'channel')}" if column == 0 else ""
                _plain(axes, name, "phase" if band is kinds[-1] else "", most_ticks, integer=True)
        _colour_bar(figure, colours, norm, most, head)
        subtitle = "rows: channels; columns: phases; colours: messages that share a channel"
        if len(panels) == 1:
            subtitle = (
                f"{style.counted(len(panels[0].schedule), 'message')} in "
                f"{style.counted(panels[0].schedule.phases, 'phase')} on "
                f"{style.counted(network.channels, 'channel')}; {_worst(uses[0], 'worst use of a channel')}"
            )
        style.headline(figure, title, subtitle, left=LEFT / WIDTH)
        style.footnote(figure, LEFT / WIDTH, _note(panels, uses))
        # Wide enough for a column per phase.
        style.save(figure, path, dpi=style.DPI if len(panels) == 1 else FINE_DPI)


def _worst(use: Use, what: str) -> str:
    return f"{what} {use.worst}, {use.total:,} in sum over the phases"


def _panel_head(figure: Figure, panel: Panel, use: Use, left: float) -> None:
    width, height = figure.get_size_inches()
    x, name, worst = left / width, 1 - (TOP + PANEL - 0.36) / height, 1 - (TOP + PANEL - 0.14) / height
    figure.text(x, name, panel.name, va="center", fontsize=10, fontweight="bold")
    figure.text(x, worst, _worst(use, "worst"), va="center", fontsize=8, color=style.MUTED)


def _note(panels: Sequence[Panel], uses: Sequence[Use]) -> str:
    drawn = [sum(cell.size for cell in use.cells) for use in uses]
    if drawn == [panel.schedule.phases * panel.network.channels for panel in panels]:
        return ""
    return "a point is the worst of several neighbouring channels or phases"


def _colours(most: int) -> tuple[ListedColormap, Normalize]:
    """Colours by number of messages: none is pale; from one on the darker the more."""
    steps = min(most + 1, COLOURS)
    shades = mpl.colormaps["inferno_r"](np.linspace(0.18, 0.92, steps - 1))
    return ListedColormap(np.vstack([to_rgba(style.ROW), shades])), Normalize(-0.5, most + 0.5)


def _plain(axes: Axes, name: str, below: str, ticks: int, *, integer: bool) -> None:
    """Names the band, if at all, and the horizontal axis with so many ticks at most."""
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)
    axes.set_yticks([])
    if name:
        axes.text(
            -0.12 / axes.get_position().width / WIDTH, 0.5, name,
            transform=axes.transAxes, ha="right", va="center", fontsize=8,
        )  # fmt: skip
    if below:
        axes.set_xlabel(below, color=style.MUTED)
        axes.xaxis.set_major_locator(MaxNLocator(ticks, integer=integer))
    else:
        axes.set_xticks([])


def _colour_bar(figure: Figure, colours: ListedColormap, norm: Normalize, most: int, top: float) -> None:
    tall = min(2.2, float(figure.get_size_inches()[1]) - top - BOTTOM)
    strip = style.colour_strip(figure, top, tall, "messages")
    values = np.linspace(0, most, min(most + 1, COLOURS))[:, None]
    strip.imshow(values[::-1], aspect="auto", cmap=colours, norm=norm, extent=(0, 1, -0.5, most + 0.5))
    ticks = list(range(most + 1)) if most <= 8 else [0, most // 2, most]
    strip.set_yticks(ticks, [f"{tick:,}" for tick in ticks])
