"""Graphs that are dragonflies, however they are wired between groups: minimal routes."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, groupby, pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragonflies import dragonfly
from hocket import _core
from hocket.planning.plan import plan_collective
from strategies import RATE, NetworkPlan

SIZES = [(4, 3, 2), (3, 4, 2), (5, 4, 2), (9, 4, 1), (6, 5, 2)]


def place(name: str, routers: int) -> tuple[str, str]:
    """Group and router, of a router or a host."""
    if name[0] == "s":
        group, router = name[1:].split(".")
        return group, router
    at = int(name[1:].split(".")[0])
    return str(at // routers), str(at % routers)


def loads(network: _core.Network) -> list[int]:
    load: Counter[int] = Counter()
    for src in range(network.ranks):
        for dst in range(network.ranks):
            load.update(network.route(src, dst))
    return [load[channel] for channel in range(network.channels)]


@settings(max_examples=30)
@given(st.sampled_from(SIZES), st.booleans(), st.integers(0, 2**32))
def test_messages_take_the_link_between_their_groups(
    sizes: tuple[int, int, int], even: bool, seed: int
) -> None:
    groups, routers, hosts = sizes
    rng = Random(seed)
    plan = dragonfly(groups, routers, hosts, rng, even=even)
    network = plan.build("graph")
    for src, a in enumerate(network.hosts):
        for dst, b in enumerate(network.hosts):
            ends = [network.channel_name(channel).split("->") for channel in network.route(src, dst)]
            if src == dst:
                assert not ends
                continue
            assert (ends[0][0], ends[-1][1]) == (plan.names[a], plan.names[b])
            assert all(before[1] == after[0] for before, after in pairwise(ends))
            visited = [place(name, routers) for name, _ in ends[1:]]
            here, there = place(plan.names[a], routers), place(plan.names[b], routers)
            assert visited[0] == here and visited[-1] == there
            assert [group for group, _ in visited] == sorted(
                (group for group, _ in visited), key=[here[0], there[0]].index
            )
            assert network.route(dst, src) == [channel ^ 1 for channel in reversed(network.route(src, dst))]
            assert len(visited) == len(set(visited)) <= (2 if here[0] == there[0] else 4)
    ranks = [int(node in network.hosts and rng.random() < 0.7) for node in range(network.nodes)]
    for part in [network] if sum(ranks) < 2 else [network, network.restricted_to(ranks)]:
        bounds = _core.lower_bounds(part, _core.Demand(part.ranks, 64))
        assert list(bounds.load) == loads(part)


def wired_anyhow(groups: int, routers: int, rng: Random) -> NetworkPlan:
    """One link between any two groups, from any router to any, and a host on each router."""
    names = [f"s{group}.{router}" for group in range(groups) for router in range(routers)]
    wired = [
        (f"s{group}.{a}", f"s{group}.{b}")
        for group in range(groups)
        for a, b in combinations(range(routers), 2)
    ]
    wired += [
        (f"s{a}.{rng.randrange(routers)}", f"s{b}.{rng.randrange(routers)}")
        for a, b in combinations(range(groups), 2)
    ]
    wired += [(router, f"n{at}.0") for at, router in enumerate(names)]
    names += [f"n{at}.0" for at in range(groups * routers)]
    rng.shuffle(names)
    rng.shuffle(wired)
    node = {name: at for at, name in enumerate(names)}
    links = [(node[a], node[b]) for a, b in wired]
    return NetworkPlan(names, [int(name[0] == "n") for name in names], links, [RATE] * len(links))


@pytest.mark.parametrize("routers", [3, 4, 5])
@pytest.mark.parametrize("seed", range(20))
def test_however_groups_are_wired(seed: int, routers: int) -> None:
    """Local, global, local, by the names alone: routers of three groups that are wired to each other are no group."""
    rng = Random(seed)
    groups = rng.randint(3, 13)
    plan = wired_anyhow(groups, routers, rng) if seed % 2 else dragonfly(groups, routers, 1, rng)
    network = plan.build("graph")
    leaves: dict[tuple[str, str], tuple[str, str]] = {}  # from group to group: the router with the link
    for link in plan.links:
        a, b = (place(plan.names[node], routers) for node in link)
        leaves |= {(a[0], b[0]): a, (b[0], a[0]): b} if a[0] != b[0] else {}
    for src, a in enumerate(network.hosts):
        for dst, b in enumerate(network.hosts):
            here, there = place(plan.names[a], routers), place(plan.names[b], routers)
            way = [here]
            if here[0] != there[0]:
                way += [leaves[here[0], there[0]], leaves[there[0], here[0]]]
            way = [at for at, _ in groupby([*way, there])]
            passed = [network.channel_name(channel).split("->")[0] for channel in network.route(src, dst)]
            assert src == dst or [place(name, routers) for name in passed[1:]] == way


@pytest.mark.parametrize("sizes", [(7, 3, 2), (13, 3, 1), (10, 3, 2)])
def test_plans_for_groups_of_three(sizes: tuple[int, int, int]) -> None:
    network = dragonfly(*sizes, Random(3)).build("graph")
    planned = plan_collective("all-to-all", network, 65536)
    assert planned.certificate.ok, planned.certificate.findings


def routers_passed(network: _core.Network) -> int:
    return max(len(network.route(src, dst)) for src in range(network.ranks) for dst in range(network.ranks))


def without(plan: NetworkPlan, link: int) -> NetworkPlan:
    links = plan.links[:link] + plan.links[link + 1 :]
    return NetworkPlan(plan.names, plan.ranks, links, plan.rates[1:])


@pytest.mark.parametrize("inside", [True, False])
def test_a_dragonfly_that_lacks_a_link_takes_shortest_paths(inside: bool) -> None:
    """From the routers that have lost it there is another way, for which minimal routes have no rule."""
    plan = dragonfly(9, 4, 1, Random(1))
    lost = next(
        i
        for i, (a, b) in enumerate(plan.links)
        if plan.names[a][0] == plan.names[b][0] == "s"
        and (place(plan.names[a], 4)[0] == place(plan.names[b], 4)[0]) == inside
    )
    whole, part = plan.build("graph"), without(plan, lost).build("graph")
    assert routers_passed(whole) == 5
    a, b = (place(plan.names[node], 4) for node in plan.links[lost])
    src, dst = (
        next(rank for rank, node in enumerate(part.hosts) if place(plan.names[node], 4) == end)
        for end in (a, b)
    )
    assert len(whole.route(src, dst)) == 3 < len(part.route(src, dst))
