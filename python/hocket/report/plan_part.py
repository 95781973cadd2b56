"""A network file and a plan file as sections of the page."""

from collections.abc import Iterator
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hocket import _core
from hocket._core import Network, Plan, Schedule
from hocket.network import KnownNetwork
from hocket.pictures import gantt, heat
from hocket.pictures.busy import Loads, draw_loads, draw_network
from hocket.pictures.channels import picture as places
from hocket.planning.plan import flow_of, ratio, simulation
from hocket.report.html import Html, Section, facts, paragraph, picture, section, table
from hocket.units import format_bytes, format_rate, format_time, format_total

MOST_SIMULATED: Final = 100_000  # messages, a few seconds; larger plans are drawn by their phases
MOST_BARS: Final = 4000  # messages; more are dots, not lines
ROWS: Final = 96
LISTED: Final = 12
_AT_ONCE: Final = 256  # channels


def network_sections(title: str, known: KnownNetwork, bytes: int) -> Iterator[Section]:
    """``bytes``: of a message of the all-to-all that the links carry in the pictures."""
    network = known.network
    demand = _core.Demand(network.ranks, bytes)
    bounds = _core.lower_bounds(network, demand)
    yield section(
        f"Network {title}",
        facts(
            *_network_facts(network),
            (f"all-to-all of {format_bytes(bytes)}", f"≥ {format_time(bounds.seconds, 4)}"),
            ("phases", f"≥ {bounds.phases:,}"),
        ),
        *(
            paragraph(rates.text, "alarm" if rates.assumed else "note")
            for rates in (known.host_rates, known.uplinks)
        ),
        level=1,
    )
    loads = Loads.of(
        network, np.asarray(bounds.load) * float(bytes), f"an all-to-all of {format_bytes(bytes)}"
    )
    yield section("The network and its bottleneck", *_network_parts(network, loads))
    yield section("Loads of links", *_load_parts(network, loads))


def plan_sections(title: str, plan: Plan) -> Iterator[Section]:
    """Sections on a plan file, with simulated times if the plan is not too large."""
    network, schedule, demand = plan.network, plan.schedule, plan.demand
    simulated = None
    if 0 < len(schedule) <= MOST_SIMULATED:
        simulated = simulation(network, schedule, plan.waits, flow_of(plan.waits))
    seconds = simulated.seconds if simulated is not None else plan.predicted_seconds
    told = facts(
        ("exchange", demand.pattern),
        ("algorithm", plan.algorithm),
        *_network_facts(network),
        ("messages", f"{len(schedule):,}"),
        ("largest message", format_bytes(demand.bytes)),
        ("phases", f"{schedule.phases:,}, bound {plan.bound_phases:,}"),
        ("predicted", format_time(seconds, 4)),
        ("bound", format_time(plan.bound_seconds, 4)),
        ("predicted / bound", f"{ratio(seconds, plan.bound_seconds):.3f}"),
        ("waits", f"{len(plan.waits):,}, window {plan.waits.window}"),
    )
    note = "Predicted: by Hocket's simulator, without per-message costs. Bound: no schedule on these routes is faster."
    if simulated is None:
        note = "Nothing is sent."
        if len(schedule):
            note = (
                f"More than {MOST_SIMULATED:,} messages are not simulated here: times are those that the plan "
                "states, and pictures go by its phases."
            )
    yield section(f"Plan {title}", told, paragraph(note, "note"), level=1)
    loads = Loads.of(network, carried(network, schedule), f"this {demand.pattern} exchange")
    yield section("The network and its bottleneck", *_network_parts(network, loads))
    if len(schedule) and network.channels:
        draw = partial(heat, schedule, network)
        if simulated is not None:
            draw = partial(gantt, simulated, schedule, network, max_rows=ROWS, bound=plan.bound_seconds)
        drawn = picture(
            "Messages on each channel over time", draw, "svg" if len(schedule) <= MOST_BARS else "png"
        )
        yield section("Links over time", drawn)
    used = np.asarray(simulated.channel_busy) / seconds if simulated is not None and seconds else None
    yield section("Loads of links", *_load_parts(network, loads, used))


def carried(network: Network, schedule: Schedule) -> NDArray[np.float64]:
    """Bytes that each channel carries."""
    lengths = np.asarray(schedule.lengths(), dtype=float)
    found = np.zeros(network.channels)
    for first in range(0, network.channels, _AT_ONCE):
        channels = list(range(first, min(first + _AT_ONCE, network.channels)))
        for channel, users in zip(channels, schedule.transfers_on(network, channels), strict=True):
            found[channel] = lengths[np.asarray(users, dtype=np.int64)].sum()
    return found


def _network_facts(network: Network) -> list[tuple[str, str]]:
    hosts = len(network.hosts)
    shape = network.shape.name
    shape += " " + " × ".join(map(str, network.sides)) if shape in ("torus", "mesh") else ""
    return [
        ("network", shape),
        ("hosts", f"{hosts:,}" + (f", {network.ranks:,} ranks" if network.ranks != hosts else "")),
        ("switches", f"{network.nodes - hosts:,}"),
        ("host speed", format_rate(network.host_rate)),
    ]


def _network_parts(network: Network, loads: Loads) -> Iterator[Html]:
    """The picture, or why there is none, and the bottleneck."""
    if (drawn := places(network)) is None:
        yield paragraph("Of this network only routes are known, so it is not drawn.", "note")
    else:
        yield picture("The network, its links by their load", partial(draw_network, drawn, loads))
        yield paragraph(
            f"Colour: time that {loads.unit} keeps a link busy, of that of the bottleneck, the busier "
            f"direction; orange: the bottleneck. {drawn.note}",
            "note",
        )
    if names := [_name(network, channel) for channel in loads.bottlenecks()]:
        some = ", ".join(names[:LISTED]) + (f", … ({len(names)} in all)" if len(names) > LISTED else "")
        yield paragraph(f"Bottleneck: {some}; busy for {format_time(loads.most, 4)} at full rate.", "alarm")


def _load_parts(network: Network, loads: Loads, used: NDArray[np.float64] | None = None) -> Iterator[Html]:
    """Bars of the channels, and a table of the busiest. ``used``: the share of the predicted time in which each
    channel carries something."""
    header = ["channel", "rate", "latency", "carries", "busy at full rate", "of the bottleneck"]
    rows = [
        [
            _name(network, int(c)),
            format_rate(network.rate(int(c))),
            format_time(network.latency(int(c))),
            format_total(round(loads.carried[c])),
            format_time(loads.seconds[c], 4),
            f"{100 * loads.shares[c]:.1f} %" if loads.most else "-",
            *([] if used is None else [f"{100 * used[c]:.1f} %"]),
        ]
        for c in np.argsort(-loads.seconds, kind="stable")[: LISTED * 2]
    ]
    if used is not None:
        header.append("in use")
    yield picture("Loads of the channels", partial(draw_loads, network, loads))
    yield table(header, rows, numbers=range(1, len(header)))
    if network.channels > len(rows):
        yield paragraph(f"The {len(rows)} busiest of {network.channels:,} channels.", "note")


def _name(network: Network, channel: int) -> str:
    return str(network.channel_name(channel)).replace("->", "→")
