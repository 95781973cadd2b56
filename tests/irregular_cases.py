"""Random irregular demands and the networks that carry them, by seed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st

from hocket import _core
from strategies import PAPER_B, PAPER_C, few_ranks, one_host, random_graph, random_tree, star, unequal

KILO = 1024
SHAPES = ("tree", "wide tree", "graph", "torus", "mesh", "hypercube", "star", "one host")
LOADS = ("sparse", "dense", "skewed", "equal", "one message", "to one", "from one", "empty rows")


# The networks of the figures to reach.
FIGURES: dict[str, Callable[[], _core.Network]] = {
    "torus": lambda: _core.Network.grid("torus", [8, 8], 1.25e8, 1e-6),
    "hypercube": lambda: _core.Network.grid("hypercube", [6], 1.25e8, 1e-6),
    "tree b": lambda: PAPER_B().build(),
    "tree c": lambda: PAPER_C().build(),
}


@dataclass
class Case:
    network: _core.Network
    demand: _core.Demand
    label: str

    def __repr__(self) -> str:
        return self.label


def random_network(rng: Random, shape: str) -> _core.Network:
    match shape:
        case "tree":
            return random_tree(rng, rng.randint(2, 12)).build()
        case "wide tree":
            return random_tree(rng, rng.randint(2, 10), ranks=few_ranks, switch_link=unequal).build()
        case "graph":
            return random_graph(rng, rng.randint(2, 10)).build("graph")
        case "torus" | "mesh":
            return _core.Network.grid(shape, [rng.randint(2, 5), rng.randint(2, 4)], 1.25e8, 1e-6)
        case "hypercube":
            return _core.Network.grid(shape, [rng.randint(1, 4)], 1.25e8, 1e-6)
        case "star":
            return star(rng.randint(2, 12)).build()
    return one_host(rng.randint(2, 5))


def random_demand(rng: Random, ranks: int, load: str) -> _core.Demand:
    """Messages of 1 KB to 8 MB; some cases leave ranks without any."""
    pairs = [(i, j) for i in range(ranks) for j in range(ranks) if i != j]
    one = rng.randrange(ranks)
    match load:
        case "sparse":
            pairs = rng.sample(pairs, min(len(pairs), 3 * ranks))
        case "one message":
            pairs = rng.sample(pairs, min(len(pairs), 1))
        case "to one":
            pairs = [pair for pair in pairs if pair[1] == one]
        case "from one":
            pairs = [pair for pair in pairs if pair[0] == one]
        case "empty rows":
            silent = rng.sample(range(ranks), ranks // 2)
            pairs = [pair for pair in pairs if pair[0] not in silent]
    size = {
        "equal": lambda: 64 * KILO,
        "skewed": lambda: int(KILO * 2 ** (13 * rng.random() ** 3)),
    }.get(load, lambda: rng.randint(1, 8) * 64 * KILO - rng.randint(0, 1) * rng.randrange(60 * KILO))
    sizes = [size() for _ in pairs]
    return _core.Demand.irregular(ranks, [i for i, _ in pairs], [j for _, j in pairs], sizes)


def cases() -> st.SearchStrategy[Case]:
    def make(drawn: tuple[str, str, int]) -> Case:
        shape, load, seed = drawn
        network = random_network(Random(seed), shape)
        return Case(
            network, random_demand(Random(seed + 1), network.ranks, load), f"{shape}, {load}, seed {seed}"
        )

    return st.tuples(st.sampled_from(SHAPES), st.sampled_from(LOADS), st.integers(0, 2**32 - 1)).map(make)


def regular(ranks: int, degree: int, seed: int, equal: bool = False) -> _core.Demand:
    """Regular demand: each rank sends to about `degree` others and hears from as many, by random permutations
    together."""
    rng = Random(seed)
    pairs = {pair for _ in range(degree) for pair in enumerate(rng.sample(range(ranks), ranks))}
    chosen = sorted((i, j) for i, j in pairs if i != j)
    sizes = [64 * KILO * (1 if equal else rng.randint(1, 8)) for _ in chosen]
    return _core.Demand.irregular(ranks, [i for i, _ in chosen], [j for _, j in chosen], sizes)


def pressure(network: _core.Network, demand: _core.Demand) -> float:
    """The largest load of a port or channel in seconds, where a message holds all it needs for as long as
    its slowest channel takes."""
    load: dict[tuple[str, int], float] = {}
    for src, dst, size in demand.list():
        route = network.route(src, dst)
        seconds = size / min((network.rate(channel) for channel in route), default=math.inf)
        needs = [("send", src, 1), ("receive", dst, 1)]
        for what, which, capacity in needs + [("channel", c, network.capacity(c)) for c in route]:
            load[what, which] = load.get((what, which), 0) + seconds / capacity
    return max(load.values(), default=0)
