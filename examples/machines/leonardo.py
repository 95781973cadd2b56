"""Nodes of a job on Leonardo's Booster, as a Hocket network: a tree of leaves and cells.

    python examples/machines/leonardo.py lrdn0041 lrdn0084 lrdn0241 > leonardo.toml; hocket plan --network
    leonardo.toml …

Public facts. The Booster has 3456 nodes lrdn0001–lrdn3456 in 19 cells of a dragonfly+, most of six racks of 30
nodes; the Data-Centric partition (lrdn3457 and up) lies in cells of its own. A rack has three leaf switches; each
leaf is wired to each spine of its cell, each spine to spines of all other cells, by HDR, 200 Gbit/s; Booster nodes
have two dual-port adapters of HDR100 (400 Gbit/s in all), of which MPI with buffers in the host's memory uses two
ports: rails of 100 Gbit/s. Sources: Turisini, Amati, Cestari, "LEONARDO: A Pan-European Pre-Exascale Supercomputer
for HPC and AI Applications" (JLSRF 8, 2023); docs.hpc.cineca.it; PICO, tracer/maps/leonardo_info.md (three leaves a
rack, two cells a region of power); cells by number as the hosts of public jobs show.

Unknown, and assumed: which of a rack's three leaves a node hangs on (ten each, by number); which ports a process
drives; routing is adaptive, and other jobs are there: a leaf's and a cell's cables are one link as fast as all of them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Final

from hocket import _core

INTERFACE: Final = 25e9  # bytes/s of a node: two rails of 100 Gbit/s
INTERFACES: Final = 1
MEMORY: Final = 204.8e9  # bytes/s of a node: eight channels of DDR4-3200
LATENCY: Final = 0.3e-6  # seconds of a hop
CELL: Final = 180  # nodes
LEAF: Final = 10  # nodes
LEAF_UPLINKS: Final = 18 * 25e9  # bytes/s: a cable of HDR to each spine of the cell
CELL_UPLINKS: Final = 18 * 18 * 25e9  # bytes/s: cables of all spines of a cell to other cells


def network(hosts: Sequence[str], ranks: int = 1) -> tuple[_core.Network, list[int]]:
    """The network of a job's nodes, and for each node, in the order of its ranks, the number of its host there."""
    numbers = [
        int(match[1]) - 1 if (match := re.search(r"(\d+)$", host)) else at * CELL
        for at, host in enumerate(hosts)
    ]
    names, links, above = ["core"], [], {}
    for number in sorted(set(numbers)):
        cell = f"cell{number // CELL + 1}"
        leaf = f"{cell}-leaf{number % CELL // LEAF + 1}"
        for name, up, rate in ((cell, "core", CELL_UPLINKS), (leaf, cell, LEAF_UPLINKS)):
            if name not in above:
                above[name] = up
                names.append(name)
                links.append((name, up, rate))
        links.append((f"lrdn{number + 1:04}", leaf, INTERFACE))
    hosts_there = [f"lrdn{number + 1:04}" for number in sorted(set(numbers))]
    at = {name: place for place, name in enumerate([*names, *hosts_there])}
    core = _core.Network.tree(
        [*names, *hosts_there],
        [0] * len(names) + [ranks] * len(hosts_there),
        [at[a] for a, _, _ in links],
        [at[b] for _, b, _ in links],
        [rate for _, _, rate in links],
        [LATENCY] * len(links),
    )
    return core, [sorted(set(numbers)).index(number) for number in numbers]


if __name__ == "__main__":
    from hocket.network.writer import network_files

    files = network_files(
        network(sys.argv[1:] or ["lrdn0001", "lrdn0181"])[0], "leonardo.toml", "Nodes of Leonardo"
    )
    print(*files.values(), end="")
