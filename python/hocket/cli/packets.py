"""The options of ``hocket simulate --model wormhole``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from hocket.cli.usage import Number, Whole, named, options
from hocket.errors import UsageError
from hocket.units import parse_link_rate, parse_time

if TYPE_CHECKING:
    from hocket._core import WormholeParameters

MODELS = ("flow", "wormhole")
# No option has a default here: what is not given is left to the core, and with --model flow none may be.
# Ranges are those of the core, whose integers hold no more than 32 bits.
OPTIONS = (
    click.option("--payload", type=Whole(1, 2**30), metavar="BYTES", help="Payload of a packet. [32]"),
    click.option("--header", type=Number(0, 10**6), metavar="BYTES", help="What a packet has besides on the wire. [0]"),
    click.option("--train", type=Whole(1, 2**20), metavar="K", help="Packets simulated as one: faster. [1]"),
    click.option("--buffer", type=Whole(1, 2**16), metavar="K", help="Packets behind a channel. [4]"),
    click.option("--virtual-channels", type=click.Choice(["none", "dateline", "balanced"]),
                 help="How a ring's buffers are divided. [dateline]"),
    click.option("--lanes", type=Whole(1, 16), metavar="K", help="Virtual channels per class. [1]"),
    click.option("--switching", type=click.Choice(["cut-through", "wormhole"]),
                 help="Whether a message holds its channels. [cut-through]"),
    click.option("--arbitration", type=click.Choice(["round-robin", "oldest-first"]),
                 help="Who goes first at a channel. [round-robin]"),
    click.option("--hop", metavar="TIME", help="What a router takes, besides latency. [0]"),
    click.option("--injection-rate", metavar="RATE", help="From a host into its router. [host speed]"),
    click.option("--ejection-rate", metavar="RATE", help="From a router into its host. [host speed]"),
    click.option("--port-per-rank", is_flag=True, default=None, help="Ranks of one host share no port."),
    click.option("--blocking", is_flag=True, default=None, help="A sender waits for the arrival."),
)  # fmt: skip
PARSED: dict[str, Callable[[str], float]] = {
    "hop": parse_time,
    "injection_rate": parse_link_rate,
    "ejection_rate": parse_link_rate,
}


# ``--model`` and all that belongs to the wormhole model; the latter arrive as keywords.
packet_options = options(
    click.option(
        "--model", type=click.Choice(MODELS), default="flow", show_default=True,
        help="Messages share channels as flows, or as packets with finite buffers.",
    ),
    *OPTIONS,
)  # fmt: skip


def refuse_packet_options(packets: dict[str, Any]) -> None:
    for name, value in packets.items():
        if value is not None:
            raise UsageError(f"--{name.replace('_', '-')} says nothing about flows",
                             remedy="add --model wormhole")  # fmt: skip


def packet_parameters(
    packets: dict[str, Any], startup: float, barrier_cost: str, token_cost: str, overhead: float
) -> WormholeParameters:
    from hocket import _core

    if named("--token-cost", parse_time, token_cost) > 0:
        raise UsageError(
            "--token-cost: the wormhole model has no tokens", remedy="use --flow barrier or free"
        )
    if overhead != 1:
        raise UsageError("--overhead is for flows", remedy="give a packet's header with --header")
    given = {name: value for name, value in packets.items() if value is not None}
    for name, parse in PARSED.items():
        if name in given:
            given[name] = named(f"--{name.replace('_', '-')}", parse, given[name])
    return _core.WormholeParameters(
        startup=startup,
        barrier=named("--barrier-cost", parse_time, barrier_cost),
        **given,
    )
