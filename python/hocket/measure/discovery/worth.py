"""Gains of schedules and of another order of ranks on a network, in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hocket.demand.collectives import ALL_GATHER, ALL_TO_ALL
from hocket.order import order_job, parse_wanted, whole_network
from hocket.order.job import ring_over_bound
from hocket.planning.candidates import MOST_MESSAGES, costs_of, forecast
from hocket.planning.plan import plan_collective
from hocket.units import format_bytes

if TYPE_CHECKING:
    from hocket.network import KnownNetwork

BYTES: Final = 64 * 1024
_LEAST_GAIN: Final = 0.97  # of the time: less is no gain that predictions tell


def worth(known: KnownNetwork) -> list[str]:
    """Sentences on an all-to-all of 64 KiB, scheduled, and on an all-gather in a better order."""
    network = known.network
    told = []
    if network.ranks >= 3 and network.ranks * (network.ranks - 1) <= MOST_MESSAGES and len(network.hosts) > 1:
        costs = costs_of(network, None, known.description)
        found = forecast(plan_collective(ALL_TO_ALL, network, BYTES), costs)
        ours = min((one.seconds for one in found.candidates if one.seconds), default=None)
        native = min((one.seconds for one in found.library if one.seconds), default=None)
        if ours and native:
            part = ours / native
            told.append(
                f"A scheduled all-to-all of {format_bytes(BYTES)} should take {part:.2f} of the time of the best "
                f"native algorithm ({costs.origin})."
                if part < _LEAST_GAIN
                else f"Native all-to-alls of {format_bytes(BYTES)} are as fast as scheduled ones here."
            )
    if len(network.hosts) > 2:
        wanted = parse_wanted(ALL_GATHER, network.ranks, BYTES)
        ordered = order_job(whole_network(network, None), wanted)
        before, after = (ring_over_bound(network, place) for place in (ordered.given, ordered.place))
        if before and after and after < _LEAST_GAIN * before:
            told.append(
                f"A native all-gather by a ring should take {after / before:.2f} of its time in the order that "
                "'hocket order' prints."
            )
    return told
