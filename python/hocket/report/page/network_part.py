"""A network as a picture, with what an exchange makes its links carry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import plotly.graph_objects as go

from hocket.pictures import style
from hocket.pictures.channels import Group, bands
from hocket.report.page.charts import BESIDE, BUSY_SCALE, COLOURS, figure
from hocket.report.page.parts import Html, escaped, paragraph, table
from hocket.report.page.places import Line, Picture, picture
from hocket.units import format_rate, format_time, format_total

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hocket._core import Network

MOST_NAMES: Final = 48  # marks with their names written beside them
MOST_BARS: Final = 320
LISTED: Final = 12
_BINS: Final = 8
_BOW: Final = tuple(part / 8 for part in range(9))
_SAME: Final = 1 - 1e-9


@dataclass(frozen=True, slots=True)
class Loads:
    """Bytes that each channel carries in one exchange, and how long that takes at its full rate."""

    carried: NDArray[np.float64]  # bytes
    seconds: NDArray[np.float64]
    unit: str  # of the exchange, for texts

    @staticmethod
    def of(network: Network, carried: Sequence[float] | NDArray[np.float64], unit: str) -> Loads:
        bytes = np.asarray(carried, dtype=float)
        rates = np.array([network.rate(channel) for channel in range(network.channels)])
        return Loads(bytes, bytes / rates if len(rates) else bytes, unit)

    @property
    def most(self) -> float:
        return float(self.seconds.max(initial=0.0))

    def bottlenecks(self) -> list[int]:
        """Every channel that is as slow as the slowest."""
        return [int(c) for c in np.flatnonzero(self.seconds >= self.most * _SAME)] if self.most > 0 else []


def network_parts(network: Network, loads: Loads) -> list[Html | go.Figure]:
    """The picture, or why there is none, and the busiest links."""
    drawn = picture(network)
    parts: list[Html | go.Figure] = []
    if drawn is None:
        parts.append(paragraph("Of this network only routes are known, so it is not drawn.", "note"))
    else:
        parts.append(_figure(network, drawn, loads))
        parts.append(
            paragraph(
                f"Colour: time that {loads.unit} keeps a link busy, of that of the bottleneck, the busier "
                f"direction. {drawn.note}",
                "note",
            )
        )
    names = [_name(network, channel) for channel in loads.bottlenecks()]
    if names:
        some = ", ".join(names[:LISTED]) + (f", … ({len(names)} in all)" if len(names) > LISTED else "")
        parts.append(
            paragraph(f"Bottleneck: {some}; busy for {format_time(loads.most, 4)} at full rate.", "alarm")
        )
    return parts


def load_parts(
    network: Network, loads: Loads, used: NDArray[np.float64] | None = None
) -> list[Html | go.Figure]:
    """Bars of all channels, or lines by kind where there are many, and a table of the busiest. ``used``: the share of
    the predicted time in which each channel carries something."""
    order = np.argsort(-loads.seconds, kind="stable")
    header = ["channel", "rate", "latency", "carries", "busy at full rate", "of the bottleneck"]
    rows = [
        [
            _name(network, int(c)),
            format_rate(network.rate(int(c))),
            format_time(network.latency(int(c))),
            format_total(round(loads.carried[c])),
            format_time(loads.seconds[c], 4),
            f"{100 * loads.seconds[c] / loads.most:.1f} %" if loads.most else "-",
            *([] if used is None else [f"{100 * used[c]:.1f} %"]),
        ]
        for c in order[: LISTED * 2]
    ]
    if used is not None:
        header.append("in use")
    few = network.channels <= MOST_BARS
    parts: list[Html | go.Figure] = [_bars(network, loads) if few else _curves(network, loads)]
    parts.append(table(header, rows, numbers=range(1, len(header))))
    if network.channels > len(rows):
        parts.append(paragraph(f"The {len(rows)} busiest of {network.channels:,} channels.", "note"))
    return parts


def _bars(network: Network, loads: Loads) -> go.Figure:
    factor, unit = style.time_unit(loads.most)
    bars = []
    for number, band in enumerate(bands(network)):
        of = sorted(band.channels, key=lambda c: -loads.seconds[c])
        bars.append(
            go.Bar(
                name=f"{band.name} ({len(of)})",
                x=[escaped(_name(network, c)) for c in of],
                y=loads.seconds[of] * factor,
                marker_color=_colour(number, band.group),
                customdata=[format_total(round(loads.carried[c])) for c in of],
                hovertemplate=f"%{{x}}<br>%{{y:.4g}} {unit} at full rate, %{{customdata}}<extra></extra>",
            )
        )
    return figure(
        bars,
        440,
        xaxis={
            "type": "category",
            "showticklabels": network.channels <= 90,
            "tickangle": -60,
            "tickfont_size": 10,
            "title_text": "channels, by kind and load",
        },
        yaxis={"title_text": f"busy at full rate ({unit})", "rangemode": "tozero"},
        bargap=0.15,
        showlegend=True,
        legend=BESIDE,
    )


def _curves(network: Network, loads: Loads) -> go.Figure:
    """Curves of the sorted loads, if there are too many channels to show one by one."""
    factor, unit = style.time_unit(loads.most)
    lines = []
    for number, band in enumerate(bands(network)):
        of = np.sort(loads.seconds[band.channels])[::-1] * factor
        kept = np.unique(np.linspace(0, len(of) - 1, min(len(of), 400)).astype(int))
        lines.append(
            go.Scatter(
                mode="lines",
                name=f"{band.name} ({len(of):,})",
                line={"shape": "vh", "width": 2.5, "color": _colour(number, band.group)},
                x=np.array([0, *(100 * (kept + 1) / len(of))], dtype=np.float32),
                y=np.array([of[0], *of[kept]], dtype=np.float32),
                hovertemplate=f"%{{x:.1f}} % of the channels: %{{y:.4g}} {unit} or more<extra>{band.name}</extra>",
            )
        )
    return figure(
        lines,
        xaxis={"title_text": "channels of a kind, the most loaded first (%)", "range": [0, 100]},
        yaxis={"title_text": f"busy at full rate ({unit})", "rangemode": "tozero"},
        showlegend=True,
        legend=BESIDE,
    )


def _name(network: Network, channel: int) -> str:
    return str(network.channel_name(channel)).replace("->", "→")


def _colour(number: int, group: Group) -> str:
    return style.GROUP_COLOURS[group] if group in (Group.UP, Group.DOWN) else COLOURS[number % len(COLOURS)]


def _figure(network: Network, drawn: Picture, loads: Loads) -> go.Figure:
    share = [_share(line, loads) for line in drawn.lines]
    hottest = [number for number, part in enumerate(share) if part >= _SAME]
    traces = []
    for number in range(_BINS):
        low, high = number / _BINS, (number + 1) / _BINS
        of = [
            line
            for line, part in zip(drawn.lines, share, strict=True)
            if part < _SAME and (low <= part < high or (number == 0 and part < low))
        ]
        if of:
            traces.append(
                _lines(drawn, of, _scale_colour((number + 0.5) / _BINS), 1.3 + 1.8 * number / _BINS)
            )
    if hottest:
        of = [drawn.lines[number] for number in hottest]
        bottleneck = _lines(drawn, of, style.ALARM, 4 if len(of) <= 40 else 2.4)
        traces.append(bottleneck.update(name="bottleneck", showlegend=True))
    hidden = {"visible": False, "showgrid": False}
    return figure(
        [*traces, _middles(network, drawn, share, loads), *_marks(drawn)],
        drawn.height,
        xaxis=hidden,
        yaxis={**hidden, "scaleanchor": "x" if drawn.square else None},
        showlegend=True,
        margin={"l": 10, "r": 10, "t": 40, "b": 15},
    )


def _share(line: Line, loads: Loads) -> float:
    if not loads.most:
        return 0.0
    return float(
        max(loads.seconds[channel] for link in line.links for channel in (2 * link, 2 * link + 1))
        / loads.most
    )


def _scale_colour(share: float) -> str:
    return str(BUSY_SCALE[round(share * (len(BUSY_SCALE) - 1))][1])


def _lines(drawn: Picture, lines: list[Line], colour: str, width: float) -> go.Scatter:
    x: list[float | None] = []
    y: list[float | None] = []
    for line in lines:
        a, b = drawn.marks[line.a], drawn.marks[line.b]
        if line.stub == (0.0, 0.0):
            for part in _BOW if line.bend else (0.0, 1.0):
                x.append(a.x + part * (b.x - a.x))
                y.append(a.y + part * (b.y - a.y) + 4 * part * (1 - part) * line.bend)
            x.append(None)
            y.append(None)
            continue
        dx, dy = line.stub
        x += [a.x, a.x + dx, None, b.x, b.x - dx, None]
        y += [a.y, a.y + dy, None, b.y, b.y - dy, None]
    drawn_as = {"color": colour, "width": width}
    return go.Scatter(mode="lines", x=x, y=y, line=drawn_as, hoverinfo="skip", showlegend=False)


def _middles(network: Network, drawn: Picture, share: list[float], loads: Loads) -> go.Scatter:
    """Invisible marks in the middle of links, which show text under the pointer and carry the colour
    scale."""
    x, y, texts = [], [], []
    for line in drawn.lines:
        a, b = drawn.marks[line.a], drawn.marks[line.b]
        if line.stub == (0.0, 0.0):
            x.append((a.x + b.x) / 2)
            y.append((a.y + b.y) / 2 + line.bend)
        else:
            x.append(a.x + line.stub[0] * 0.7)
            y.append(a.y + line.stub[1] * 0.7)
        texts.append(_text(network, line, loads))
    return go.Scatter(
        mode="markers",
        x=x,
        y=y,
        text=texts,
        showlegend=False,
        hovertemplate="%{text}<extra></extra>",
        marker={
            "size": 4 if len(drawn.lines) > 400 else 6,
            "opacity": 0,
            "color": [100 * part for part in share],
            "cmin": 0,
            "cmax": 100,
            "colorscale": BUSY_SCALE,
            "line_width": 0,
            "colorbar": {
                "title_text": "busy, of the<br>bottleneck",
                "ticksuffix": " %",
                "thickness": 12,
                "len": 0.9,
                "outlinewidth": 0,
            },
        },
    )


def _text(network: Network, line: Line, loads: Loads) -> str:
    names = network.names
    link = max(line.links, key=lambda number: loads.seconds[2 * number : 2 * number + 2].max())
    a, b = network.links[link]
    more = f" (busiest of {len(line.links)} links)" if len(line.links) > 1 else ""
    there, back = loads.seconds[2 * link : 2 * link + 2]
    rate, latency = format_rate(network.rate(2 * link)), format_time(network.latency(2 * link))
    return (
        f"{escaped(names[a])} – {escaped(names[b])}{more}<br>{rate}, {latency}"
        f"<br>busy there {format_time(there, 4)}, back {format_time(back, 4)}"
    )


def _marks(drawn: Picture) -> list[go.Scatter]:
    marks = []
    named = len(drawn.marks) <= MOST_NAMES
    for hosts, name, marker in (
        (
            False,
            "switches",
            {"symbol": "circle", "color": "white", "line": {"color": style.INK, "width": 1.6}},
        ),
        (True, "hosts", {"symbol": "square", "color": style.INK, "line": {"width": 0}}),
    ):
        of = [mark for mark in drawn.marks if mark.hosts == hosts]
        if not of:
            continue
        many = any(len(mark.nodes) > 1 for mark in of)
        size = (15 if not hosts else 9) if len(of) <= 80 else 7 if not hosts or many else 5
        marks.append(
            go.Scatter(
                mode="markers+text" if named else "markers",
                name=name,
                x=[mark.x for mark in of],
                y=[mark.y for mark in of],
                text=[
                    escaped(mark.name) if len(mark.nodes) == 1 else f"{len(mark.nodes)} hosts" for mark in of
                ],
                customdata=[escaped(mark.name) for mark in of],
                textposition="bottom center" if hosts else "top center",
                textfont_size=11,
                hovertemplate="%{customdata}<extra></extra>",
                marker={**marker, "size": size},
                cliponaxis=False,
            )
        )
    return marks
