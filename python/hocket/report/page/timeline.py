"""A schedule over time: who carries or sends what when, as bars or, where there are many, as an image to zoom into."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import plotly.graph_objects as go

from hocket import _core
from hocket.pictures import style
from hocket.pictures.busy import busy_shares
from hocket.pictures.channels import Row, label, share_out
from hocket.pictures.gantt import assign_lanes
from hocket.report.page.charts import BUSY_SCALE, PHASE_SCALE, figure
from hocket.report.page.parts import Html, escaped, paragraph
from hocket.units import format_bytes, format_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hocket._core import Network, Schedule, Simulation

MOST_BARS: Final = 4000
MOST_ROWS: Final = 192  # with a row each; more share rows
SHARED_ROWS: Final = 72
SLOTS: Final = 1600  # points of time in an image
_BAR: Final = 0.82  # of a row
_ROW: Final = 15  # pixels


@dataclass(frozen=True, slots=True)
class Times:
    """Times of messages: simulated, in seconds, or by their phases alone."""

    start: NDArray[np.float64]
    end: NDArray[np.float64]
    phase: NDArray[np.int64]
    last: float
    simulated: bool

    @staticmethod
    def of(schedule: Schedule, simulation: Simulation | None) -> Times:
        begin = np.asarray(schedule.phase_begin(), dtype=np.int64)
        phase = np.repeat(np.arange(schedule.phases), np.diff(begin))
        if simulation is None:
            return Times(phase.astype(float), phase + 1.0, phase, float(schedule.phases), False)
        return Times(
            np.asarray(simulation.start), np.asarray(simulation.end), phase, simulation.seconds, True
        )

    @property
    def scale(self) -> tuple[float, str]:
        """Factor of times, and the title of the axis."""
        if not self.simulated:
            return 1.0, "phase"
        factor, unit = style.time_unit(self.last)
        return factor, f"time ({unit})"


Lane = tuple[str, str, "NDArray[np.int64]"]  # kind of row, its name, its messages


def channel_parts(
    network: Network, schedule: Schedule, simulation: Simulation | None, bound: float
) -> list[Html | go.Figure]:
    """Timeline of the channels. ``bound``: seconds, a lower bound of every schedule."""
    times = Times.of(schedule, simulation)
    if network.channels <= MOST_ROWS:
        users = _core.transfers_on(network, schedule, list(range(network.channels)))
        of = {channel: np.asarray(found, dtype=np.int64) for channel, found in enumerate(users)}
        lanes = [
            (row.band.name, label(network, row), of[row.channels[0]])
            for row in _rows(network, simulation, MOST_ROWS)
        ]
        return _drawn(network, schedule, times, lanes, bound, "A row is a channel: one direction of a link.")
    return _shared(network, schedule, simulation, times, bound)


def sender_parts(
    network: Network, schedule: Schedule, simulation: Simulation | None, bound: float
) -> list[Html | go.Figure]:
    """Timeline of the ranks' sends; of many ranks a sample at equal distances."""
    times = Times.of(schedule, simulation)
    src = np.array(schedule.hops(), dtype=np.int64).reshape(-1, 2)[:, 0]
    shown = np.unique(np.linspace(0, network.ranks - 1, min(network.ranks, MOST_ROWS // 2)).astype(int))
    order = np.argsort(src, kind="stable")
    first = np.searchsorted(src[order], np.arange(network.ranks + 1))
    names = network.names
    lanes = [
        ("ranks", f"{rank} {names[network.host_of(int(rank))]}", order[first[rank] : first[rank + 1]])
        for rank in shown
    ]
    note = "A row is a rank that sends."
    if len(shown) < network.ranks:
        note += f" Shown: {len(shown)} of {network.ranks:,} ranks, equally spaced."
    return _drawn(network, schedule, times, lanes, bound, note)


def _rows(network: Network, simulation: Simulation | None, most: int) -> list[Row]:
    """The rows of plots.gantt; where nothing is simulated all channels count as equally busy."""

    class Idle:
        channel_busy = np.zeros(network.channels)

    return share_out(network, simulation if simulation is not None else Idle(), most)


def _drawn(
    network: Network, schedule: Schedule, times: Times, lanes: Sequence[Lane], bound: float, note: str
) -> list[Html | go.Figure]:
    bars = sum(len(found) for _, _, found in lanes)
    if bars <= MOST_BARS:
        drawn = _bars(network, schedule, times, lanes)
        note += " A bar is a message; those that travel together divide the row."
    else:
        drawn = _image(times, lanes)
        by = "time" if times.simulated else "the phases, as no times were simulated"
        note += f" The rows have {bars:,} messages: of each of {SLOTS:,} steps of {by}, the last message is shown."
    return [
        _figure(drawn, times, lanes, bound),
        paragraph(f"{note} Drag to zoom, double-click to go back.", "note"),
    ]


def _tops(lanes: Sequence[Lane]) -> list[int]:
    """Positions of rows; each kind begins with an additional one for its name."""
    tops: list[int] = []
    y = 0
    for number, (kind, *_) in enumerate(lanes):
        y += number == 0 or kind != lanes[number - 1][0]
        tops.append(y)
        y += 1
    return tops


def _in_rows(cells: NDArray[np.floating[Any]], lanes: Sequence[Lane]) -> NDArray[np.float32]:
    """The cells of each lane in its row; nothing where names stand."""
    tops = _tops(lanes)
    rows = np.full((tops[-1] + 1 if tops else 1, cells.shape[1]), np.nan, dtype=np.float32)
    rows[tops] = cells
    return rows


def _bars(network: Network, schedule: Schedule, times: Times, lanes: Sequence[Lane]) -> go.Bar:
    factor, _ = times.scale
    hops, lengths = schedule.hops(), schedule.lengths()
    names = [escaped(network.name_of(network.host_of(rank))) for rank in range(network.ranks)]
    base: list[float] = []
    wide: list[float] = []
    y: list[float] = []
    tall: list[float] = []
    phases: list[int] = []
    texts: list[str] = []
    for top, (_, name, found) in zip(_tops(lanes), lanes, strict=True):
        if not len(found):
            continue
        start, end = times.start[found], times.end[found]
        lane, count = assign_lanes(start, end)
        base += list(start * factor)
        wide += list((end - start) * factor)
        y += list(top - _BAR / 2 + (lane + 0.5) * _BAR / count)
        tall += [_BAR / count] * len(found)
        for number in found:
            src, dst = hops[number]
            phases.append(int(times.phase[number]) + 1)
            when = f"{format_time(times.start[number], 4)} to {format_time(times.end[number], 4)}<br>"
            texts.append(
                f"<b>{names[src]} → {names[dst]}</b>, {format_bytes(lengths[number])}<br>"
                f"{when if times.simulated else ''}phase {phases[-1]}, on {escaped(name)}"
            )
    return go.Bar(
        orientation="h",
        base=np.array(base),
        x=np.array(wide),
        y=np.array(y, dtype=np.float32),
        width=np.array(tall, dtype=np.float32),
        hovertext=texts,
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
        marker={
            "color": np.array(phases),
            "cmin": 1,
            "cmax": max(schedule.phases, 2),
            "colorscale": PHASE_SCALE,
            "line": {"color": "white", "width": 0.6 if len(y) < 800 else 0.2},
            "colorbar": _colour_bar("phase"),
        },
    )


def _image(times: Times, lanes: Sequence[Lane]) -> go.Heatmap:
    """Phase of the last message in each step of time; empty where no message travels."""
    edges = np.linspace(0, times.last, SLOTS + 1)
    cells = np.full((len(lanes), SLOTS), np.nan, dtype=np.float32)
    for row, (_, _, found) in enumerate(lanes):
        if not len(found):
            continue
        order = found[np.argsort(times.start[found], kind="stable")]
        at = np.searchsorted(times.start[order], edges[1:], side="left") - 1
        travels = (at >= 0) & (times.end[order[np.maximum(at, 0)]] > edges[:-1])
        cells[row, travels] = times.phase[order[at[travels]]] + 1
    most = max(float(times.phase.max(initial=0)) + 1, 2)
    return go.Heatmap(
        z=_in_rows(cells, lanes),
        **_steps(times, SLOTS),
        zmin=1,
        zmax=most,
        colorscale=PHASE_SCALE,
        hoverongaps=False,
        hovertemplate="%{x:.4g}: phase %{z:.0f}<extra></extra>",
        ygap=1 if len(lanes) < 100 else 0,
        colorbar=_colour_bar("phase"),
    )


def _steps(times: Times, slots: int) -> dict[str, Any]:
    """Properties of an image whose columns are steps of time, and whose rows are rows."""
    factor, _ = times.scale
    step = times.last / slots * factor
    return {"x0": step / 2, "dx": step, "y0": 0, "dy": 1, "zsmooth": False}


def _shared(
    network: Network, schedule: Schedule, simulation: Simulation | None, times: Times, bound: float
) -> list[Html | go.Figure]:
    """Rows shared by channels of a kind, if there are many: the mean share of time that they carry
    something."""
    rows = _rows(network, simulation, SHARED_ROWS)
    if simulation is not None:
        slots = SLOTS
        shares = [
            busy_shares(simulation, schedule, network, row.channels, slots).mean(axis=0) for row in rows
        ]
    else:
        slots = min(SLOTS, schedule.phases)
        shares = list(map(_by_phase(network, schedule, slots), rows))
    cells = np.stack(shares) if rows else np.zeros((0, slots))
    lanes = [(row.band.name, label(network, row), np.zeros(0, np.int64)) for row in rows]
    image = go.Heatmap(
        z=_in_rows(100 * cells, lanes),
        **_steps(times, slots),
        zmin=0,
        zmax=100,
        colorscale=BUSY_SCALE,
        ygap=1,
        hovertemplate="%{x:.4g}: %{z:.0f} % busy<extra></extra>",
        colorbar=_colour_bar("busy", " %"),
    )
    note = (
        f"{network.channels:,} channels share {len(rows)} rows by kind, in the network's order: the colour is the "
        f"share of them that carry a message, in {slots:,} steps"
    )
    note += "." if times.simulated else " of phases; no times were simulated for so many messages."
    return [
        _figure(image, times, lanes, bound),
        paragraph(f"{note} Drag to zoom, double-click to go back.", "note"),
    ]


def _by_phase(network: Network, schedule: Schedule, slots: int) -> Callable[[Row], NDArray[np.float64]]:
    """Share of a slot's phases in which each channel carries messages, relative to the channel's capacity."""
    edges = np.linspace(0, schedule.phases, slots + 1).astype(int)
    capacity = np.maximum([network.capacity(c) for c in range(network.channels)], 1)
    busy = np.empty((slots, network.channels), dtype=np.float32)
    for slot in range(slots):
        use = np.asarray(_core.channel_use(network, schedule, int(edges[slot]), int(edges[slot + 1])))
        busy[slot] = np.minimum(use.reshape(-1, network.channels) / capacity, 1).mean(axis=0)
    return lambda row: np.asarray(busy[:, row.channels].mean(axis=1), dtype=float)


def _colour_bar(title: str, suffix: str = "") -> dict[str, Any]:
    return {
        "title_text": title,
        "ticksuffix": suffix,
        "thickness": 12,
        "outlinewidth": 0,
        "lenmode": "pixels",
        "len": 220,
        "y": 1,
        "yanchor": "top",
    }


def _figure(trace: go.Bar | go.Heatmap, times: Times, lanes: Sequence[Lane], bound: float) -> go.Figure:
    factor, title = times.scale
    tops = _tops(lanes)
    last = (tops[-1] if tops else 0) + 0.6
    drawn = figure(
        [trace],
        int(min(max(240, 125 + _ROW * (last + 0.6)), 2400)),
        xaxis={"title_text": title, "range": [0, times.last * factor * 1.002], "showgrid": False},
        yaxis={
            "range": [last, -0.6],
            "tickvals": tops,
            "ticktext": [escaped(name) for _, name, _ in lanes],
            "tickfont_size": 10.5,
            "showgrid": False,
        },
        bargap=0,
        barmode="overlay",
        plot_bgcolor=style.ROW,
        margin={"l": 120, "r": 30, "t": 55, "b": 50},
    )
    if times.simulated and 0 < bound <= times.last * 1.001:
        drawn.add_vline(
            x=bound * factor,
            line={"color": style.INK, "width": 1.5, "dash": "dash"},
            annotation={"text": f"bound {format_time(bound, 4)}", "font_size": 12, "yanchor": "bottom"},
            annotation_position="top left",
        )
    for number, (top, (kind, *_)) in enumerate(zip(tops, lanes, strict=True)):
        if number == 0 or kind != lanes[number - 1][0]:
            drawn.add_annotation(
                text=f"<b>{kind}</b>",
                xref="paper",
                x=0,
                xanchor="left",
                y=top - 1,
                showarrow=False,
                font_size=12,
            )
    return drawn
