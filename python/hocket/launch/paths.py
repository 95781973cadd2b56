"""The environment in which connections of a program take the paths of its plan."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from hocket.errors import UsageError
from hocket.network import NetworkDescription
from hocket.network.host_rates import host_rates
from hocket.network.parts import AssumedRate
from hocket.network.paths.choose import choose, table_for_ranks
from hocket.system.cache import keep

VARIABLE: Final = "HOCKET_PATHS"
WORDS: Final = ("hold", "spread", "off")
TABLE: Final = "HOCKET_PATHS_TABLE"
# Ports at which MPI libraries listen: UCX, libfabric, Open MPI's btl tcp.
_LISTENING: Final = {
    "UCX_TCP_PORT_RANGE": "{0}-{0}",
    "FI_TCP_PORT_LOW_RANGE": "{0}",
    "FI_TCP_PORT_HIGH_RANGE": "{0}",
    "OMPI_MCA_btl_tcp_port_min_v4": "{0}",
}
PACING: Final = "HOCKET_PACING"
VARIABLES: Final = (VARIABLE, TABLE, PACING, *_LISTENING)
_PAYLOAD: Final = 0.95  # of a link's rate; headers take the rest of frames of 1,500 bytes


def paths_environment(
    description: NetworkDescription, environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Variables for every rank: the ports of its connections, the port at which MPI libraries listen, and the rate
    at which connections send during scheduled calls, where the network states or has measured rates.

    Nothing where the network has no paths, packets are sprayed, or ``HOCKET_PATHS`` is off. What the user has
    set stays. Raises UsageError for a wrong word.
    """
    word = environment.get(VARIABLE) or "hold"
    if word not in WORDS:
        raise UsageError(
            f"{VARIABLE}='{word}' is none of {', '.join(WORDS)}", remedy=f"correct or unset {VARIABLE}"
        )
    paths = description.paths
    if paths is None or paths.spraying or word == "off":
        return {}
    network = replace(description, paths=None).build()
    table = table_for_ranks(network, paths, choose(network, paths))
    listening = {
        name: form.format(paths.listen) for name, form in _LISTENING.items() if name not in environment
    }
    rates = host_rates(description)
    known = rates and not any(isinstance(rate, AssumedRate) for rate in rates)
    pacing = {PACING: str(int(_PAYLOAD * max(rates)))} if known and PACING not in environment else {}
    return {VARIABLE: word, TABLE: str(keep("paths", table.encode(), ".txt")), **pacing, **listening}
