"""Lower bounds of a measured exchange on a network."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hocket import _core
from hocket.demand.collectives import COLLECTIVES


def nodes_of_ranks(network: _core.Network, processors: Sequence[str], placement: str) -> Sequence[int] | None:
    """The node of each rank, given the processor names and HOCKET_PLACEMENT; None if some are unknown.

    ``order`` follows the places of the network; otherwise processors go by the names of hosts, whole or up to
    the first dot. Slurm's names and placement files are the runtime's to read.
    """
    if placement == "order":
        inside = len(processors) <= network.ranks
        return [network.host_of(rank) for rank in range(len(processors))] if inside else None
    if placement not in ("", "names"):
        return None
    nodes: dict[str, int] = {}
    for node in network.hosts:
        name = network.name_of(node)
        for spelling in {name, name.partition(".")[0]}:
            nodes[spelling] = -1 if spelling in nodes else node  # two hosts of one short name
    found = [nodes.get(name, nodes.get(name.partition(".")[0], -1)) for name in processors]
    return None if -1 in found else found


def bound_seconds(
    network: _core.Network,
    nodes: Sequence[int] | None,
    ranks: int,
    pattern: str,
    size: int,
    sizes: npt.NDArray[np.int64] | None = None,
) -> float | None:
    """Seconds; None if that is unknown. ``sizes``: of an irregular exchange, bytes from row to column.

    Where ranks are does not matter to an exchange of equal messages that fills the network, but for the root, rank 0.
    """
    if nodes is None and (ranks != network.ranks or sizes is not None):
        return None
    used = network
    if nodes is not None:
        counts = np.bincount(nodes, minlength=len(network.ranks_per_node))
        if (counts > np.asarray(network.ranks_per_node)).any():
            return None
        used = network.restricted_to([int(count) for count in counts])
    if sizes is None:
        root = 0 if nodes is None else int(_places(used, nodes)[0])
        demand = COLLECTIVES[pattern].demand(ranks, size, root)
    else:
        assert nodes is not None
        places = _places(used, nodes)
        source, target = np.nonzero(sizes)
        demand = _core.Demand.irregular(
            ranks, places[source].tolist(), places[target].tolist(), sizes[source, target].tolist()
        )
    return float(_core.lower_bounds(used, demand).seconds)


def _places(network: _core.Network, nodes: Sequence[int]) -> npt.NDArray[np.int64]:
    """The network's number of each rank: those of a host in their order."""
    free = defaultdict(list)
    for place in reversed(range(network.ranks)):
        free[network.host_of(place)].append(place)
    return np.array([free[node].pop() for node in nodes], np.int64)
