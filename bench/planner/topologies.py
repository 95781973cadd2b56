"""Topologies of the literature as networkx graphs of switches, with hosts: what `Network.from_networkx` reads."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from random import Random
from typing import Any

import networkx as nx

# Links between the GPUs of published boxes, and how many times as fast as the slowest each is.
DGX1 = [(0, 1, 1), (0, 2, 1), (0, 3, 2), (0, 4, 2), (1, 2, 2), (1, 3, 1), (1, 5, 2), (2, 3, 2), (2, 6, 1),
        (3, 7, 1), (4, 5, 1), (4, 6, 1), (4, 7, 2), (5, 6, 2), (5, 7, 1), (6, 7, 2)]  # fmt: skip
# GPUs (halves of an MI250) and links of 50 GB/s between them, as rocm-smi shows a box of 16.
MI250 = [(0, 1, 4), (0, 4, 2), (0, 8, 1), (1, 5, 1), (1, 9, 1), (1, 10, 1), (2, 3, 4), (2, 6, 1), (2, 9, 1),
         (2, 10, 1), (3, 7, 2), (3, 11, 1), (4, 5, 4), (4, 6, 1), (5, 6, 1), (5, 7, 1), (6, 7, 4), (8, 9, 4),
         (8, 12, 2), (9, 13, 1), (10, 11, 4), (10, 14, 1), (11, 15, 2), (12, 13, 4), (12, 14, 1), (13, 14, 1),
         (13, 15, 1), (14, 15, 4)]  # fmt: skip


def with_hosts(switches: Any, hosts: int) -> Any:
    """A copy of a graph of switches with so many hosts on each; hosts have one rank."""
    graph = nx.Graph()
    for number, node in enumerate(sorted(switches)):
        graph.add_node(("s", node), ranks=0)
        for host in range(hosts):
            graph.add_node(("h", number, host), ranks=1)
            graph.add_edge(("s", node), ("h", number, host))
    graph.add_edges_from((("s", a), ("s", b)) for a, b in switches.edges)
    return nx.relabel_nodes(graph, {node: "-".join(map(str, _flat(node))) for node in graph})


def that_forward(links: list[tuple[int, int, int]], ports: int) -> Any:
    """Hosts without switches that pass on what is for others, with links of so many times 1 Gbit/s."""
    graph = nx.Graph()
    for a, b, units in links:
        graph.add_edge(f"n{a}", f"n{b}", rate=units * 125e6, latency=0)
    nx.set_node_attributes(graph, {name: {"ranks": 1, "forward": True, "ports": ports} for name in graph})
    return graph


def _flat(node: Any) -> list[Any]:
    return [each for part in node for each in (_flat(part) if isinstance(part, tuple) else [part])]


def jellyfish(switches: int, degree: int, hosts: int, seed: int) -> Any:
    """A random regular graph (Singla et al., NSDI 2012)."""
    seeds = itertools.count(seed, 1000)
    graphs = (nx.random_regular_graph(degree, switches, seed=attempt) for attempt in seeds)
    return with_hosts(next(filter(nx.is_connected, graphs)), hosts)


def kautz(degree: int, diameter: int, hosts: int) -> Any:
    """The Kautz graph of words of so many letters, undirected; an edge both of whose directions exist is one link."""
    letters = range(degree + 1)
    every = itertools.product(letters, repeat=diameter)
    words = [w for w in every if all(a != b for a, b in itertools.pairwise(w))]
    graph = nx.Graph()
    graph.add_nodes_from(words)
    graph.add_edges_from((w, (*w[1:], x)) for w in words for x in letters if x != w[-1] and w != (*w[1:], x))
    return with_hosts(graph, hosts)


def hyperx(*sides: int, hosts: int) -> Any:
    """Switches in a grid, all of a line wired to each other (Ahn et al., SC 2009)."""
    return with_hosts(hyperx_of_switches(*sides), hosts)


def hyperx_of_hosts(*sides: int) -> Any:
    """The same, with hosts that forward in place of switches."""
    graph = nx.convert_node_labels_to_integers(hyperx_of_switches(*sides))
    return that_forward([(a, b, 1) for a, b in graph.edges], sum(sides) - len(sides))


def hyperx_of_switches(*sides: int) -> Any:
    places = list(itertools.product(*map(range, sides)))
    return wired(places, lambda a, b: sum(x != y for x, y in zip(a, b, strict=True)) == 1)


def wired(nodes: list[Any], are_wired: Callable[[Any, Any], bool]) -> Any:
    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(pair for pair in itertools.combinations(nodes, 2) if are_wired(*pair))
    return graph


def slim_fly(q: int, hosts: int) -> Any:
    """The graph of McKay, Miller and Širáň for a prime q = 4w + 1 (Besta and Hoefler, SC 2014)."""
    root = next(x for x in range(2, q) if len({pow(x, k, q) for k in range(q - 1)}) == q - 1)
    even = {pow(root, k, q) for k in range(0, q - 1, 2)}
    odd = {pow(root, k, q) for k in range(1, q - 1, 2)}
    graph = nx.Graph()
    for x, y, other in itertools.product(range(q), repeat=3):
        if (y - other) % q in even:
            graph.add_edge((0, x, y), (0, x, other))
        if (y - other) % q in odd:
            graph.add_edge((1, x, y), (1, x, other))
        graph.add_edge((0, x, (other * x + y) % q), (1, other, y))
    return with_hosts(graph, hosts)


def polarfly(q: int, hosts: int) -> Any:
    """Points of the projective plane over a prime field, wired where orthogonal (Lakhotia et al., SC 2022)."""
    points = [(1, y, z) for y in range(q) for z in range(q)] + [(0, 1, z) for z in range(q)] + [(0, 0, 1)]
    graph = wired(points, lambda a, b: sum(x * y for x, y in zip(a, b, strict=True)) % q == 0)
    return with_hosts(graph, hosts)


def xpander(degree: int, lift: int, hosts: int, seed: int) -> Any:
    """A random lift of a complete graph (Valadarsky et al., CoNEXT 2016)."""
    rng = Random(seed)
    graph = nx.Graph()
    for a, b in itertools.combinations(range(degree + 1), 2):
        for i, j in enumerate(rng.sample(range(lift), lift)):
            graph.add_edge((a, i), (b, j))
    return with_hosts(graph, hosts)
