"""Every algorithm of the registry on every family of networks that it claims to serve."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from hocket import _core
from strategies import (
    balanced,
    chain,
    few_ranks,
    one_host,
    random_graph,
    random_tree,
    star,
    star_of_switches,
    unequal,
)

NAMES = [algorithm.name for algorithm in _core.Algorithm.all() if algorithm.pattern == "all-to-all"]
CONTENTION = {"send port overfull", "receive port overfull", "channel overfull"}


def grid(kind: str, *sides: int) -> Callable[[], _core.Network]:
    return lambda: _core.Network.grid(kind, list(sides), 1e9, 1e-6)


def tree(seed: int, hosts: int, fast: bool = False) -> Callable[[], _core.Network]:
    switch_link = unequal if fast else lambda _: 1.0
    return lambda: random_tree(Random(seed), hosts, ranks=few_ranks, switch_link=switch_link).build()


def graph(seed: int, hosts: int) -> Callable[[], _core.Network]:
    return lambda: random_graph(Random(seed), hosts).build("graph")


def routed(hosts: int) -> _core.Network:
    """Hosts on one crossbar: a channel into it and one out of it each, and a shared bus for neighbours."""
    names = [f"h{i}" for i in range(hosts)]
    channels = [f"{way}{i}" for i in range(hosts) for way in ("up", "down")] + ["bus"]
    routes = [
        (a, b, [2 * a, *([2 * hosts] if abs(a - b) == 1 else []), 2 * b + 1])
        for a in range(hosts)
        for b in range(hosts)
        if a != b
    ]
    rates = [1e9] * (2 * hosts) + [2e9]
    return _core.Network.routed(names, [1] * hosts, channels, rates, [1e-6] * len(channels), routes)


FAMILIES: dict[str, Callable[[], _core.Network]] = {
    "one rank": lambda: one_host(1),
    "one host": lambda: one_host(4),
    "star": lambda: star(9).build(),
    "star, power of two": lambda: star(16).build(),
    "chain": lambda: chain([4, 1, 0, 3]).build(),
    "star of switches": lambda: star_of_switches([4, 4, 4, 4]).build(),
    "three levels": lambda: balanced([3, 3, 3]).build(),
    **{f"tree {seed}": tree(seed, 3 + seed % 17) for seed in range(30)},
    **{f"unequal tree {seed}": tree(100 + seed, 3 + seed % 17, fast=True) for seed in range(30)},
    "torus 5": grid("torus", 5),
    "torus 2x2": grid("torus", 2, 2),
    "torus 4x3": grid("torus", 4, 3),
    "torus 2x3x4": grid("torus", 2, 3, 4),
    "mesh 7": grid("mesh", 7),
    "mesh 4x4": grid("mesh", 4, 4),
    "mesh 3x1x2": grid("mesh", 3, 1, 2),
    "hypercube 0": grid("hypercube", 0),
    "hypercube 1": grid("hypercube", 1),
    "hypercube 4": grid("hypercube", 4),
    **{f"graph {seed}": graph(200 + seed, 2 + seed) for seed in range(12)},
    "routed": lambda: routed(6),
}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", NAMES)
def test_algorithm_keeps_its_word(name: str, family: str) -> None:
    network = FAMILIES[family]()
    demand = _core.Demand(network.ranks, 1000)
    algorithm = _core.Algorithm.find(name)
    if reason := algorithm.why_not(network, demand):
        with pytest.raises(_core.InputError, match="cannot serve this"):
            algorithm.make(network, demand)
        assert not reason.endswith(".")
        return
    schedule = algorithm.make(network, demand)
    certificate = _core.verify(network, demand, schedule)
    assert certificate.complete, certificate.findings
    assert len(schedule) == demand.messages
    if algorithm.contention_free:
        assert certificate.ok, certificate.findings
        assert schedule.phases >= _core.lower_bounds(network, demand).phases
    else:
        assert set(certificate.counts) <= CONTENTION


def test_equal_trees_and_grids_have_algorithms_of_their_own_and_others_packing() -> None:
    for family, expected in {
        "star": "tree",
        "chain": "tree",
        "torus 4x3": "product",
        "graph 3": "packing",
    }.items():
        network = FAMILIES[family]()
        assert _core.plan_exchange(network, _core.Demand(network.ranks, 1)).algorithm == expected


def test_faster_switch_links_are_used() -> None:
    """Two switches of eight hosts, an inter-switch link of four host speeds: 16 phases instead of 64."""
    plan = chain([8, 8])
    plan.rates[0] *= 4
    network = plan.build()
    demand = _core.Demand(16, 1)
    assert _core.lower_bounds(network, demand).phases == 16
    schedule = _core.Algorithm.find("packing").make(network, demand)
    certificate = _core.verify(network, demand, schedule)
    assert certificate.ok
    assert certificate.worst_channel_use == 4
    assert schedule.phases <= 1.5 * 16


def test_a_slower_switch_link_still_carries_one_message() -> None:
    plan = chain([3, 3])
    plan.rates[0] /= 10
    network = plan.build()
    assert network.capacity(0) == 1
    assert _core.lower_bounds(network, _core.Demand(6, 1000)).seconds == pytest.approx(
        9 * 1000 / plan.rates[0]
    )


@pytest.mark.parametrize("name", NAMES)
def test_demand_of_another_size_is_refused(name: str) -> None:
    algorithm = _core.Algorithm.find(name)
    with pytest.raises(_core.InputError, match="number of ranks"):
        algorithm.make(star(8).build(), _core.Demand(16, 1))


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(
        _core.InputError,
        match=r"is called 'fastest'.*tree, product, fat-tree, nested-shifts, dragonfly, packing",
    ):
        _core.Algorithm.find("fastest")


def test_every_entry_says_what_it_is() -> None:
    assert len(set(NAMES)) == len(NAMES)
    for algorithm in _core.Algorithm.all():
        assert algorithm.summary
        assert algorithm.source


def test_baselines_are_what_the_libraries_do() -> None:
    network = star(4).build()
    demand = _core.Demand(4, 1)
    rows = {
        name: [row[:3] for row in _core.Algorithm.find(name).make(network, demand).rows()]
        for name in ("linear", "ring", "pairwise")
    }
    assert rows["linear"] == [(0, src, dst) for src in range(4) for dst in range(4) if src != dst]
    assert rows["ring"] == [(step - 1, src, (src + step) % 4) for step in (1, 2, 3) for src in range(4)]
    assert rows["pairwise"] == [(step - 1, src, src ^ step) for step in (1, 2, 3) for src in range(4)]
