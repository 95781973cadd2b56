"""Nodes of a job on Fugaku, as a Hocket network: the part of TofuD that the job has for itself.

    python examples/machines/fugaku.py 4x4x4 > fugaku.toml; hocket plan --network fugaku.toml …

Public facts. TofuD has six dimensions: X, Y and Z, and within a unit of 12 nodes a, b and c of 2, 3 and 2; each node
has 10 ports of two lanes of 28.05 Gbit/s, 6.8 GB/s in each direction after encoding, and six network interfaces
(TNIs) of 6.8 GB/s each, 40.8 GB/s in all; routes go dimension by dimension. Sources: Ajima et al., "The Tofu
Interconnect D" (CLUSTER 2018); Ajima et al., "Tofu: A 6D Mesh/Torus Interconnect for Exascale Computers" (Computer
42(11), 2009), also for how a job of one, two or three dimensions lies in the six: each side is a ring that goes up
one of X, Y, Z at the first coordinate of a, b or c and down again at the second, so that neighbours in the job are
neighbours in the machine.

Unknown, and assumed: which side lies along which pair of dimensions (all are treated alike, as if b had two
coordinates, too); the order of dimensions on a route (a, b, c last); the wires around X, Y and Z are not used, because
a job does not own them. An odd side cannot go up and down: it is a line here.
"""

from __future__ import annotations

import sys
from itertools import product
from typing import Final

from hocket import _core

INTERFACE: Final = 6.8e9  # bytes/s of a port, and of one of the interfaces
INTERFACES: Final = 6
MEMORY: Final = 1024e9  # bytes/s, four stacks of HBM2
LATENCY: Final = 0.12e-6  # seconds of a hop


def network(sides: tuple[int, ...], ranks: int = 1) -> tuple[_core.Network, list[int]]:
    """The network of a job's nodes, and for each node of the job, in the order of its ranks (the last coordinate runs
    fastest), the number of its host there."""
    real = [side for side in sides if side > 1] or [1]
    folded = [side > 2 and side % 2 == 0 for side in real]
    lengths = [side // 2 if fold else side for side, fold in zip(real, folded, strict=True)]
    depths = [2 for fold in folded if fold]
    places = []
    for node in product(*map(range, real)):
        along, across = [], []
        for at, side, fold in zip(node, real, folded, strict=True):
            up = not fold or at < side // 2
            along.append(at if up else side - 1 - at)
            if fold:
                across.append(0 if up else 1)
        number = 0
        for at, side in zip([*along, *across], [*lengths, *depths], strict=True):
            number = number * side + at
        places.append(number)
    grid = [side for side in [*lengths, *depths] if side > 1]
    kind = "mesh" if grid else "torus"
    return _core.Network.grid(
        kind, grid or [1], INTERFACE, LATENCY, [], ranks, [], INTERFACES if grid else 1
    ), places


if __name__ == "__main__":
    from hocket.network.writer import network_files

    shape = tuple(int(side) for side in (sys.argv[1:] or ["4x4x4"])[0].split("x"))
    (text,) = network_files(
        network(shape)[0], "fugaku.toml", f"Fugaku, a job of {shape}; hosts by X Y Z a b c"
    ).values()
    print(text, end="")
