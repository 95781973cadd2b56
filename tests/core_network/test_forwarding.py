"""Forwarding tables of the core: where messages travel, and which tables are refused."""

from __future__ import annotations

import itertools
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from strategies import NetworkPlan, random_graph

Hop = tuple[int, int | None, int]


def build(plan: NetworkPlan, hops: list[Hop]) -> _core.Network:
    a, b = [x for x, _ in plan.links], [y for _, y in plan.links]
    return _core.Network.graph(plan.names, plan.ranks, a, b, plan.rates, [1e-6] * len(a), hops)


def walk(plan: NetworkPlan, hops: list[Hop], src: int, dst: int) -> list[int] | None:
    """The channels from host to host, by the rules of docs/networks.md; None where they lead nowhere."""
    own = {(at, to): channel for at, to, channel in hops}
    leaving, route, at = plan.adjacency(), [], src
    while at != dst:
        direct = [channel for channel, to in leaving[at] if to == dst]
        only = leaving[at][0][0] if plan.ranks[at] and len(leaving[at]) == 1 else None
        channel = own.get((at, dst), direct[0] if direct else own.get((at, None), only))
        if channel is None or len(route) > len(plan.names):
            return None
        route.append(channel)
        at = next(to for c, to in leaving[at] if c == channel)
    return route


def any_hops(plan: NetworkPlan, rng: Random) -> list[Hop]:
    """Tables that mostly follow a shortest path to somewhere, and sometimes anything."""
    shortest = plan.build("graph")
    ends = [end for a, b in plan.links for end in ((a, b), (b, a))]
    hops: dict[tuple[int, int | None], int] = {}
    for src, dst in itertools.permutations(range(len(plan.hosts)), 2):
        for channel in shortest.route(
            plan.host_of.index(plan.hosts[src]), plan.host_of.index(plan.hosts[dst])
        ):
            hops[ends[channel][0], plan.hosts[dst]] = channel
    for _ in range(rng.choice([0, 0, 1, 3])):
        at = rng.randrange(len(plan.names))
        to = rng.choice([None, *(host for host in plan.hosts if host != at)])
        hops[at, to] = rng.choice(plan.adjacency()[at])[0]
    for key in rng.sample(sorted(hops, key=str), rng.choice([0, 0, 1])):
        del hops[key]
    return [(at, to, channel) for (at, to), channel in hops.items()]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 9))
def test_routes_follow_the_tables(seed: int, hosts: int) -> None:
    rng = Random(seed)
    plan = random_graph(rng, hosts)
    hops = any_hops(plan, rng)
    if not hops:
        return
    wanted = {(x, y): walk(plan, hops, x, y) for x, y in itertools.permutations(plan.hosts, 2)}
    if None in wanted.values():
        with pytest.raises(_core.RouteProblem, match=r"run in a circle|do not say where"):
            build(plan, hops)
        return
    network = build(plan, hops)
    assert network.next_hops == hops
    rank = {host: plan.host_of.index(host) for host in plan.hosts}
    for (src, dst), route in wanted.items():
        assert network.route(rank[src], rank[dst]) == route


def ring() -> NetworkPlan:
    """Three switches in a ring, a host at each; link i goes from switch i to the next."""
    plan = NetworkPlan()
    switches = [plan.node(0) for _ in range(3)]
    for i in switches:
        plan.link(i, (i + 1) % 3)
    for i in switches:
        plan.node(1, i)
    return plan


ROUND: list[Hop] = [(0, None, 0), (1, None, 2), (2, None, 4)]


def test_one_way_round() -> None:
    network = build(ring(), ROUND)
    assert [network.channel_name(c) for c in network.route(0, 2)] == ["n3->s0", "s0->s1", "s1->s2", "s2->n5"]


@pytest.mark.parametrize(
    ("hops", "message", "node", "entry"),
    [
        ([*ROUND[:2], (2, None, 3)], "messages from 'n4' to 'n3' run in a circle: s1 -> s2 -> s1", 1, 1),
        ([ROUND[0], (1, None, 1), ROUND[2]], "from 'n3' to 'n5' run in a circle: s0 -> s1 -> s0", 0, 0),
        (ROUND[:2], "no route from 'n4' to 'n3': at 's2' the tables do not say where", 2, -1),
        ([*ROUND, (7, None, 0)], "names an unknown node", -1, 3),
        ([*ROUND, (0, 77, 0)], "names an unknown node", -1, 3),
        ([*ROUND, (0, 5, 1)], "of 's0' uses a channel that does not leave it", 0, 3),
        ([*ROUND, (0, 5, 99)], "of 's0' uses a channel that does not leave it", 0, 3),
        ([*ROUND, (0, 5, 5), (0, 5, 0)], "'s0' has two entries for 'n5'", 0, 4),
        ([*ROUND, (1, None, 2)], r"'s1' has two entries for '\*'", 1, 3),
    ],
)
def test_tables_that_are_refused(hops: list[Hop], message: str, node: int, entry: int) -> None:
    with pytest.raises(_core.RouteProblem, match=message) as caught:
        build(ring(), hops)
    assert (caught.value.args[1], caught.value.args[3]) == (node, entry)


def test_entries_for_hosts_without_ranks_are_left_alone() -> None:
    """A part of a network is like that: its routes are those of the whole."""
    plan = ring()
    whole = build(plan, [*ROUND, (0, 5, 5)])
    plan.ranks[4] = 0
    part = build(plan, [*ROUND, (0, 5, 5), (0, 4, 0)])
    assert part.route(0, 1) == whole.route(0, 2)


def test_only_graphs_have_tables() -> None:
    with pytest.raises(TypeError):
        _core.Network.tree(["a", "b"], [1, 1], [0], [1], [1e9], [0.0], [(0, None, 0)])
