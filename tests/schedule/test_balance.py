"""Balanced routes: never worse, and as even as they can be where that is known."""

from __future__ import annotations

import itertools
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from strategies import NetworkPlan, few_ranks, one_host, random_graph, shortest_hops, star
from wired_switches import hyperx, random_regular


def bounds(network: _core.Network) -> _core.Bounds:
    return _core.lower_bounds(network, _core.Demand(network.ranks, 1000))


def balanced(network: _core.Network) -> _core.Network:
    return network.balanced(_core.Demand(network.ranks, 1000))


@pytest.mark.parametrize(
    ("sides", "before", "after"), [([8, 8], 80, 64), ([4], 3, 2), ([6], 6, 5), ([8, 4, 2], 80, 64)], ids=str
)
def test_ties_of_tori(sides: list[int], before: int, after: int) -> None:
    up = _core.Network.grid("torus", sides, 1e9, 0, ties=_core.Network.ties_by_rule("up", sides))
    assert max(bounds(up).load) == before
    assert max(bounds(balanced(up)).load) == after


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_no_table_of_ties_beats_the_balanced_one(data: st.DataObject) -> None:
    side = data.draw(st.sampled_from([4, 6, 8, 10]))
    row = "".join(data.draw(st.lists(st.sampled_from("+-"), min_size=side, max_size=side)))
    network = _core.Network.grid("torus", [side, 3], 1e9, 0, ties=[row, ""])
    after = balanced(network)
    assert max(bounds(after).load) <= max(bounds(network).load)
    assert max(bounds(after).load) == -(-side * side // 8) * 3


def test_ties_that_cannot_be_better_stay() -> None:
    network = _core.Network.grid("torus", [8, 4], 1e9, 0, ties=["-+-+-+-+", "+-+-"])
    assert balanced(network).ties == network.ties


def leaf_spine(leaves: int, spines: int, hosts: int) -> NetworkPlan:
    plan = NetworkPlan()
    below, above = [plan.node(0) for _ in range(leaves)], [plan.node(0) for _ in range(spines)]
    for leaf, spine in itertools.product(below, above):
        plan.link(leaf, spine)
    for leaf in below:
        for _ in range(hosts):
            plan.node(1, leaf)
    return plan


def grid_of_switches(side: int) -> NetworkPlan:
    """A torus of switches with one host each, as a graph."""
    plan = NetworkPlan()
    switches = [plan.node(0) for _ in range(side * side)]
    for x, y in itertools.product(range(side), repeat=2):
        plan.link(switches[x * side + y], switches[(x + 1) % side * side + y])
        plan.link(switches[x * side + y], switches[x * side + (y + 1) % side])
    for switch in switches:
        plan.node(1, switch)
    return plan


@pytest.mark.parametrize(("leaves", "spines", "hosts"), [(4, 3, 4), (6, 4, 3), (8, 5, 6)])
def test_spines_are_shared_evenly(leaves: int, spines: int, hosts: int) -> None:
    """No spine serves more than its share of the hosts beyond a leaf."""
    network = leaf_spine(leaves, spines, hosts).build("graph")
    after = balanced(network)
    beyond = (leaves - 1) * hosts
    switches = leaves + spines
    uplinks = [a < switches and b < switches for a, b in network.links for _ in range(2)]
    most = max(load for load, up in zip(bounds(after).load, uplinks, strict=True) if up)
    assert most == -(-beyond // spines) * hosts


def test_a_torus_of_switches_comes_near_the_mean() -> None:
    assert max(bounds(balanced(grid_of_switches(8).build("graph"))).load) <= 65  # the mean is 64


def test_routes_of_a_torus_of_switches_are_the_same_every_time_and_stay() -> None:
    network = grid_of_switches(5).build("graph")
    after = balanced(network)
    assert balanced(network).next_hops == after.next_hops
    assert balanced(after).next_hops == after.next_hops


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 14))
def test_balanced_routes_of_graphs_are_no_worse(seed: int, hosts: int) -> None:
    rng = Random(seed)
    plan = random_graph(rng, hosts)
    for host in plan.hosts:
        plan.ranks[host] = few_ranks(rng)
    network = plan.build("graph")
    after = balanced(network)
    assert bounds(after).seconds <= bounds(network).seconds
    assert bounds(after).load == bounds(network).load  # without tables a graph has these routes already
    ends = [end for a, b in plan.links for end in ((a, b), (b, a))]
    for src, dst in itertools.product(range(network.ranks), repeat=2):
        nodes = [plan.host_of[src], *(ends[channel][1] for channel in after.route(src, dst))]
        assert nodes[-1] == plan.host_of[dst]
        assert len(set(nodes)) == len(nodes)


def test_ways_are_shortest_where_the_hosts_own_links_are_the_busiest() -> None:
    for plan in (hyperx(4, 1), random_regular(24, 6, 1, 1)):
        network = plan.build("graph")
        distance = shortest_hops(network)
        for src, dst in itertools.product(range(network.ranks), repeat=2):
            assert len(network.route(src, dst)) == distance[plan.host_of[src]][plan.host_of[dst]]


def test_long_ways_are_given_up() -> None:
    """Tables that go all the way round a ring of switches."""
    plan = NetworkPlan()
    switches = [plan.node(0) for _ in range(5)]
    for i in switches:
        plan.link(i, (i + 1) % 5)
    for i in switches:
        plan.node(1, i)
    a, b = [x for x, _ in plan.links], [y for _, y in plan.links]
    hops = [(i, None, 2 * i) for i in switches]
    network = _core.Network.graph(plan.names, plan.ranks, a, b, plan.rates, [0.0] * len(a), hops)
    assert max(bounds(network).load) == 10
    assert max(bounds(balanced(network)).load) == 4


def test_routes_without_choice() -> None:
    for network in (star(4).build(), _core.Network.grid("mesh", [4, 4], 1e9, 0), one_host(3)):
        with pytest.raises(_core.InputError, match="only a torus and a graph"):
            balanced(network)
    with pytest.raises(_core.InputError, match="all-to-all only"):
        _core.Network.grid("torus", [4], 1e9, 0).balanced(_core.Demand(4, 1, "all-gather"))
