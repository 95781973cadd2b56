"""Graphs of switches and GPUs whose hosts are as fast as all the links of their switch, and published ones.

A graph: ranks of each node (0: a switch), and links (a, b, rate). Rates are in units of the slowest link.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field

RATE = 125e6  # bytes/s of one unit


@dataclass
class Graph:
    ranks: list[int] = field(default_factory=list)
    links: list[tuple[int, int, float]] = field(default_factory=list)

    def node(self, ranks: int = 0) -> int:
        self.ranks.append(ranks)
        return len(self.ranks) - 1


def with_fast_hosts(nodes: int, edges: Iterable[tuple[int, int, float]]) -> Graph:
    """A switch for every node, with one host whose link is as fast as all others of the switch."""
    graph = Graph([0] * nodes, list(edges))
    rates = [0.0] * nodes
    for a, b, rate in graph.links:
        rates[a] += rate
        rates[b] += rate
    for switch, rate in enumerate(rates):
        graph.links.append((switch, graph.node(1), rate))
    return graph


def torus(*sides: int) -> Graph:
    nodes = list(itertools.product(*map(range, sides)))
    at = {node: i for i, node in enumerate(nodes)}
    edges = {
        tuple(sorted((at[node], at[(*node[:d], (node[d] + 1) % side, *node[d + 1 :])])))
        for node in nodes
        for d, side in enumerate(sides)
    }
    return with_fast_hosts(len(nodes), [(a, b, 1.0) for a, b in sorted(edges)])


def hyperx(*sides: int) -> Graph:
    nodes = list(itertools.product(*map(range, sides)))
    differ = [
        (a, b, 1.0)
        for (a, x), (b, y) in itertools.combinations(enumerate(nodes), 2)
        if sum(i != j for i, j in zip(x, y, strict=True)) == 1
    ]
    return with_fast_hosts(len(nodes), differ)


DGX1 = [(0, 1, 1), (0, 2, 1), (0, 3, 2), (0, 4, 2), (1, 2, 2), (1, 3, 1), (1, 5, 2), (2, 3, 2), (2, 6, 1),
        (3, 7, 1), (4, 5, 1), (4, 6, 1), (4, 7, 2), (5, 6, 2), (5, 7, 1), (6, 7, 2)]  # fmt: skip


# GPUs (halves of an MI250) and links of 50 GB/s between them, as rocm-smi shows a box of 16.
MI250 = [(0, 1, 4), (0, 4, 2), (0, 8, 1), (1, 5, 1), (1, 9, 1), (1, 10, 1), (2, 3, 4), (2, 6, 1), (2, 9, 1),
         (2, 10, 1), (3, 7, 2), (3, 11, 1), (4, 5, 4), (4, 6, 1), (5, 6, 1), (5, 7, 1), (6, 7, 4), (8, 9, 4),
         (8, 12, 2), (9, 13, 1), (10, 11, 4), (10, 14, 1), (11, 15, 2), (12, 13, 4), (12, 14, 1), (13, 14, 1),
         (13, 15, 1), (14, 15, 4)]  # fmt: skip
