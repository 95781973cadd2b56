"""Graphs of switches and GPUs whose hosts are as fast as all the links of their switch, and published ones.

A graph: ranks of each node (0: a switch), and links (a, b, rate). Rates are in units of the slowest link.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

from hocket import _core

RATE = 125e6  # bytes/s of one unit


@dataclass
class Graph:
    ranks: list[int] = field(default_factory=list)
    links: list[tuple[int, int, float]] = field(default_factory=list)
    forwarding: bool = False  # hosts pass on what is for others

    def node(self, ranks: int = 0) -> int:
        self.ranks.append(ranks)
        return len(self.ranks) - 1

    def build(self) -> _core.Network:
        names = [f"{'n' if ranks else 's'}{i}" for i, ranks in enumerate(self.ranks)]
        a, b, rates = ([link[i] for link in self.links] for i in range(3))
        return _core.build_graph(names, self.ranks, a, b, [RATE * rate for rate in rates], [0.0] * len(a))


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


def kautz(degree: int, length: int) -> Graph:
    """Words of ``length`` letters out of degree + 1, no two neighbours alike; linked to their shifts."""
    words = [
        word
        for word in itertools.product(range(degree + 1), repeat=length)
        if all(x != y for x, y in itertools.pairwise(word))
    ]
    at = {word: i for i, word in enumerate(words)}
    edges = {
        tuple(sorted((at[word], at[(*word[1:], letter)])))
        for word in words
        for letter in range(degree + 1)
        if letter != word[-1]
    }
    return with_fast_hosts(len(words), [(a, b, 1.0) for a, b in sorted(edges)])


def slim_fly(q: int) -> Graph:
    """McKay, Miller and Širáň's graphs for a prime q = 1 modulo 4 (Besta and Hoefler, "Slim Fly", 2014)."""
    primitive = next(x for x in range(2, q) if len({pow(x, k, q) for k in range(q - 1)}) == q - 1)
    powers = [pow(primitive, k, q) for k in range(q - 1)]
    steps = (set(powers[::2]), set(powers[1::2]))
    number = lambda part, x, y: part * q * q + x * q + y  # noqa: E731
    edges = {
        (number(part, x, y), number(part, x, z))
        for part in (0, 1) for x in range(q) for y in range(q) for z in range(y)
        if (y - z) % q in steps[part]
    } | {
        (number(0, x, y), number(1, m, c))
        for x in range(q) for y in range(q) for m in range(q) for c in range(q)
        if y == (m * x + c) % q
    }  # fmt: skip
    return with_fast_hosts(2 * q * q, [(a, b, 1.0) for a, b in sorted(edges)])


def random_regular(nodes: int, degree: int, seed: int) -> Graph:
    """A Jellyfish: stubs paired at random until no link is double or goes home."""
    rng = Random(seed)
    while True:
        stubs = [node for node in range(nodes) for _ in range(degree)]
        rng.shuffle(stubs)
        edges = {tuple(sorted(pair)) for pair in zip(stubs[::2], stubs[1::2], strict=True)}
        if len(edges) == nodes * degree // 2 and all(a != b for a, b in edges):
            return with_fast_hosts(nodes, [(a, b, 1.0) for a, b in sorted(edges)])


DGX1 = [(0, 1, 1), (0, 2, 1), (0, 3, 2), (0, 4, 2), (1, 2, 2), (1, 3, 1), (1, 5, 2), (2, 3, 2), (2, 6, 1),
        (3, 7, 1), (4, 5, 1), (4, 6, 1), (4, 7, 2), (5, 6, 2), (5, 7, 1), (6, 7, 2)]  # fmt: skip


def dgx1() -> Graph:
    """Eight V100 of six NVLinks each, two to some neighbours."""
    return with_fast_hosts(8, [(a, b, float(rate)) for a, b, rate in DGX1])


# GPUs (halves of an MI250) and links of 50 GB/s between them, as rocm-smi shows a box of 16.
MI250 = [(0, 1, 4), (0, 4, 2), (0, 8, 1), (1, 5, 1), (1, 9, 1), (1, 10, 1), (2, 3, 4), (2, 6, 1), (2, 9, 1),
         (2, 10, 1), (3, 7, 2), (3, 11, 1), (4, 5, 4), (4, 6, 1), (5, 6, 1), (5, 7, 1), (6, 7, 4), (8, 9, 4),
         (8, 12, 2), (9, 13, 1), (10, 11, 4), (10, 14, 1), (11, 15, 2), (12, 13, 4), (12, 14, 1), (13, 14, 1),
         (13, 15, 1), (14, 15, 4)]  # fmt: skip


def mi250(boxes: int) -> Graph:
    """Zhao et al., "ForestColl": 50 GB/s a link, a network card of 16 GB/s a GPU, one switch."""
    graph = Graph()
    gpus = [[graph.node(1) for _ in range(16)] for _ in range(boxes)]
    for box in gpus:
        graph.links += [(box[a], box[b], 50.0 * links) for a, b, links in MI250]
    if boxes > 1:
        switch = graph.node()
        graph.links += [(gpu, switch, 16.0) for box in gpus for gpu in box]
    return graph


def a100(boxes: int, rails: int = 1) -> Graph:
    """Zhao et al.: a switch of 300 GB/s a GPU in a box, a network card of 25 GB/s a GPU; cards of even and odd
    GPUs have a switch each where there are two ``rails``."""
    graph = Graph(forwarding=rails > 1)
    gpus = [[graph.node(1) for _ in range(8)] for _ in range(boxes)]
    for box in gpus:
        inside = graph.node()
        graph.links += [(gpu, inside, 300.0) for gpu in box]
    if boxes > 1:
        outside = [graph.node() for _ in range(rails)]
        for box in gpus:
            for i, gpu in enumerate(box):
                card = graph.node()
                graph.links += [(gpu, card, 25.0), (card, outside[i % rails], 25.0)]
    return graph


GRAPHS = {
    "torus 4x4": lambda: torus(4, 4),
    "HyperX 4x4": lambda: hyperx(4, 4),
    "Kautz K(3,2)": lambda: kautz(3, 2),
    "MI250x2": lambda: mi250(2),
    "A100x2": lambda: a100(2),
    "DGX-1": dgx1,
    "Slim Fly 5": lambda: slim_fly(5),
    "torus 5x5": lambda: torus(5, 5),
    "torus 3x6": lambda: torus(3, 6),
    "HyperX 3x5": lambda: hyperx(3, 5),
    "Kautz K(2,4)": lambda: kautz(2, 4),
    "Jellyfish 16 of 4": lambda: random_regular(16, 4, 1),
    "Jellyfish 32 of 5": lambda: random_regular(32, 5, 2),
    "A100x4": lambda: a100(4),
    "torus 4x4x4": lambda: torus(4, 4, 4),
    "Jellyfish 64 of 6": lambda: random_regular(64, 6, 3),
}
