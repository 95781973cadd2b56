"""Digests of the planner's results for a set of networks; imported by a second process too."""

from __future__ import annotations

import hashlib
from random import Random

from hocket import _core
from irregular_cases import random_demand
from strategies import random_graph, random_tree, unequal


def fingerprints() -> dict[str, str]:
    """One digest per network and algorithm, of schedule, waits and plan."""
    networks = {f"tree {seed}": random_tree(Random(seed), 30).build() for seed in range(6)}
    networks |= {
        f"unequal {seed}": random_tree(Random(seed), 20, switch_link=unequal).build() for seed in range(6)
    }
    networks |= {f"graph {seed}": random_graph(Random(seed), 16).build("graph") for seed in range(4)}
    networks["torus"] = _core.Network.grid("torus", [4, 4], 1e9, 1e-6)
    networks["odd torus"] = _core.Network.grid("torus", [5, 5], 1e9, 1e-6)  # repair searches long here
    found = {}
    for label, network in networks.items():
        contributions = [4096 + i for i in range(network.ranks)]
        demands = {
            "all-to-all": _core.Demand(network.ranks, 4096),
            "all-gather": _core.Demand(network.ranks, 4096, "all-gather", contributions),
            "irregular": random_demand(Random(network.ranks), network.ranks, "sparse"),
        }
        for algorithm in _core.Algorithm.all():
            demand = demands[algorithm.pattern]
            if algorithm.why_not(network, demand):
                continue
            schedule = algorithm.make(network, demand)
            waits = _core.Waits.derive(network, schedule)
            plan = _core.Plan(network, schedule, waits, demand, algorithm.name, 0, 0.0, 0.0)
            text = repr((schedule.rows(), [waits.of(i) for i in range(len(schedule))])).encode()
            found[f"{label} {algorithm.name}"] = hashlib.sha256(text + plan.encode()).hexdigest()
    return found
