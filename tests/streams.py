"""Rates of streams that go on together in a network that is known, and the bottlenecks that it has."""

from __future__ import annotations

import math
from random import Random

import numpy as np

from hocket import _core
from strategies import NetworkPlan


class Simulated:
    """Max-min fair rates by progressive filling, with noise, a load of other streams, and several paths if wanted."""

    def __init__(self, network: _core.Network, noise: float = 0, traffic: float = 0, seed: int = 1) -> None:
        self.network, self.noise, self.traffic = network, noise, traffic
        self.random = Random(seed)
        self.hosts = network.ranks

    def route(self, a: int, b: int) -> list[int]:
        return list(self.network.route(a, b))

    def rates(self, streams: list[tuple[int, int]]) -> list[float]:
        others = [
            tuple(self.random.sample(range(self.hosts), 2)) for _ in range(int(self.traffic * self.hosts))
        ]
        found = self.fair([self.route(a, b) for a, b in [*streams, *others]])[: len(streams)]
        return [rate * (1 + self.noise * self.random.uniform(-1, 1)) for rate in found]

    def fair(self, routes: list[list[int]]) -> list[float]:
        channels = sorted({c for route in routes for c in route})
        number, none = {c: i for i, c in enumerate(channels)}, len(channels)
        longest = max(map(len, routes), default=0)
        on = np.array([[number[c] for c in route] + [none] * (longest - len(route)) for route in routes])
        free = np.array([*(self.network.rate(c) for c in channels), math.inf])
        rate = np.full(len(routes), -1.0)
        while (open_ := rate < 0).any():
            streams = np.bincount(on[open_].ravel(), minlength=none + 1)
            streams[none] = 0
            levels = np.where(streams > 0, free / np.maximum(streams, 1), math.inf)
            done = open_ & (levels <= levels.min() * (1 + 1e-9))[on].any(axis=1)
            rate[done] = levels.min()
            free -= np.bincount(on[done].ravel(), minlength=none + 1) * levels.min()
        return [float(each) for each in rate]


def probed(simulated: Simulated, seed: int = 1, most: int = 140) -> _core.TreeProbe:
    probe = _core.TreeProbe(simulated.hosts, seed, most)
    while streams := probe.next():
        probe.add(simulated.rates(streams))
    return probe


def found_sets(probe: _core.TreeProbe) -> set[frozenset[int]]:
    return {frozenset(each.hosts) for each in probe.bottlenecks}


def true_splits(plan: NetworkPlan) -> dict[frozenset[int], tuple[float, float]]:
    """For each split of two hosts or more on either side, by its smaller side: the rate of its link, and what all else
    would let through. Links with the same hosts behind them are one."""
    leaving = plan.adjacency()
    number = {host: rank for rank, host in enumerate(plan.hosts)}

    def behind(node: int, came: int) -> frozenset[int]:
        own = frozenset({number[node]} if plan.ranks[node] else ())
        return own.union(*(behind(to, node) for _, to in leaving[node] if to != came))

    everyone = frozenset(number.values())

    def split(node: int, came: int) -> frozenset[int]:
        side = behind(node, came)
        return min(side, everyone - side, key=lambda s: (len(s), 0 in s))

    def flow(node: int, came: int, of: frozenset[int]) -> float:
        """The most that hosts behind a link can send over it, links with the same hosts behind them apart."""
        if plan.ranks[node]:
            return math.inf
        ways = [(c, to) for c, to in leaving[node] if to != came]
        return sum(
            flow(to, node, of) if split(to, node) == of else min(plan.rates[c // 2], flow(to, node, of))
            for c, to in ways
        )

    found: dict[frozenset[int], tuple[float, float]] = {}
    for (a, b), rate in zip(plan.links, plan.rates, strict=True):
        least = split(b, a)
        if 2 <= len(least) <= len(everyone) - 2:
            least_rate = min(rate, found.get(least, (math.inf, 0.0))[0])
            found[least] = least_rate, min(flow(b, a, least), flow(a, b, least))
    return found
