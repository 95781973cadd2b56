"""Networks of the core: what is refused, and where messages travel."""

from __future__ import annotations

import itertools
import math
from random import Random

import pytest
from hypothesis import given, settings

from hocket import _core
from strategies import RATE, NetworkPlan, chain, few_ranks, random_graph, shortest_hops, star, tree_plans


def refused(plan: NetworkPlan, kind: str = "tree") -> tuple[str, int, int]:
    """Message, node and link of the complaint."""
    with pytest.raises(_core.NetworkProblem) as caught:
        plan.build(kind)
    message, node, link = caught.value.args
    return message, node, link


def test_a_cycle_names_the_link_that_closes_it() -> None:
    plan = chain([1, 1, 1])
    plan.link(0, 2)
    message, _, link = refused(plan)
    assert "closes a cycle" in message
    a, b = plan.links[link]
    assert f"'{plan.names[a]}' and '{plan.names[b]}'" in message
    assert {a, b} <= {0, 1, 2}


def test_two_links_between_two_switches_are_a_cycle() -> None:
    plan = chain([2, 2])
    plan.link(1, 0)
    assert "closes a cycle" in refused(plan)[0]


def test_a_node_without_links() -> None:
    plan = star(3)
    plan.node(1)
    message, node, _ = refused(plan)
    assert message == "'n4' is not connected to anything"
    assert node == 4
    assert "not connected to anything" in refused(plan, "graph")[0]


@pytest.mark.parametrize("kind", ["tree", "graph"])
def test_two_parts(kind: str) -> None:
    plan = star(3)
    other = plan.node(0)
    plan.node(1, other)
    message, node, _ = refused(plan, kind)
    assert "is not connected to" in message
    assert node >= 0


def test_a_host_wired_twice() -> None:
    plan = chain([2, 2])
    host = plan.hosts[0]
    plan.link(host, 1)
    message, node, link = refused(plan)
    assert message == f"host '{plan.names[host]}' is wired twice"
    assert (node, link) == (host, len(plan.links) - 1)


@pytest.mark.parametrize("kind", ["tree", "graph"])
def test_a_link_to_itself(kind: str) -> None:
    plan = star(2)
    plan.link(0, 0)
    message, _, link = refused(plan, kind)
    assert (message, link) == ("'s0' is linked to itself", 2)


@pytest.mark.parametrize("rate", [0.0, -1e9, math.nan, math.inf, 1.0, 1e14])
def test_absurd_rates(rate: float) -> None:
    plan = star(3)
    plan.rates[1] = rate
    message, _, link = refused(plan)
    assert "is not between 1 kB/s and 10 TB/s" in message
    assert link == 1
    with pytest.raises(_core.NetworkProblem, match="rate"):
        _core.Network.grid("torus", [3, 3], rate, 0)
    with pytest.raises(_core.NetworkProblem, match="rate"):
        _core.Network.routed(["a", "b"], [1, 1], ["c"], [rate], [0], [(0, 1, [0]), (1, 0, [0])])


@pytest.mark.parametrize("latency", [-1e-6, math.nan, math.inf, 100.0])
def test_absurd_latencies(latency: float) -> None:
    with pytest.raises(_core.NetworkProblem, match="latency"):
        _core.Network.tree(["a", "b"], [1, 1], [0], [1], [1e9], [latency])


@pytest.mark.parametrize("kind", ["tree", "graph"])
def test_a_name_used_twice(kind: str) -> None:
    plan = star(3)
    plan.names[3] = "n1"
    message, node, _ = refused(plan, kind)
    assert (message, node) == ("the name 'n1' is used twice", 3)


def test_an_empty_name() -> None:
    plan = star(3)
    plan.names[2] = ""
    assert refused(plan) == ("a node has an empty name", 2, -1)


@pytest.mark.parametrize("character", ["\x1b", "\n", "\0", "\x7f"])
def test_a_name_with_a_control_character(character: str) -> None:
    plan = star(3)
    plan.names[2] = f"n{character}"
    assert refused(plan) == ("the name of a node has a control character", 2, -1)
    plan.names[2] = "é [b]"
    plan.build()


def test_no_hosts() -> None:
    assert refused(NetworkPlan(["a", "b"], [0, 0], [(0, 1)], [1e9]))[0] == "the network has no hosts"
    assert refused(NetworkPlan())[0] == "the network has no hosts"


def test_links_to_nowhere() -> None:
    plan = star(2)
    plan.link(0, 99)
    assert refused(plan)[::2] == ("a link joins an unknown node", 2)


def test_too_many_ranks() -> None:
    plan = star(2)
    plan.ranks[1] = 2**32 - 1
    assert "more than 4194304 ranks" in refused(plan)[0]


def test_lists_of_different_lengths() -> None:
    with pytest.raises(_core.InputError, match="differ in length"):
        _core.Network.tree(["a", "b"], [1, 1], [0], [1], [1e9], [])
    with pytest.raises(_core.InputError, match="one rank count per node"):
        _core.Network.tree(["a", "b"], [1], [0], [1], [1e9], [0])


def test_ranks_and_channels_that_do_not_exist() -> None:
    network = star(3).build()
    for call in (network.rate, network.latency, network.capacity, network.channel_name):
        call(5)
        with pytest.raises(_core.InputError, match="no such channel"):
            call(6)
    for src, dst in [(0, 3), (3, 0)]:
        with pytest.raises(_core.InputError, match="no such rank"):
            network.route(src, dst)
    with pytest.raises(_core.InputError, match="no such rank"):
        network.host_of(3)


@settings(max_examples=150)
@given(tree_plans(1, 12))
def test_routes_of_trees(plan: NetworkPlan) -> None:
    network = plan.build()
    host_of = plan.host_of
    assert network.ranks == len(host_of)
    assert network.hosts == plan.hosts
    for src, dst in itertools.product(range(network.ranks), repeat=2):
        assert network.route(src, dst) == plan.tree_route(host_of[src], host_of[dst])


def test_a_route_longer_than_any_array() -> None:
    plan = chain([1, *[0] * 300, 1])
    network = plan.build()
    a, b = plan.hosts
    assert network.route(0, 1) == plan.tree_route(a, b)
    assert network.route(1, 0) == plan.tree_route(b, a)
    assert len(network.route(0, 1)) == 303


@pytest.mark.parametrize("middle", [0, 150, 299])
def test_long_routes_from_a_root_in_the_middle(middle: int) -> None:
    """The core roots a tree at its first switch: both ways down from there are long."""
    plan = NetworkPlan()
    order = [*range(middle, 300), *range(middle)]
    node = {place: plan.node(0) for place in order}
    for place in range(299):
        plan.link(node[place], node[place + 1])
    for place in (0, 299):
        plan.node(1, node[place])
    network = plan.build()
    assert network.route(0, 1) == plan.tree_route(plan.hosts[0], plan.hosts[1])


def test_channels_and_rates() -> None:
    plan = chain([2, 1])
    plan.rates[0] = 4 * plan.rates[1]
    network = plan.build()
    assert network.channel_name(0) == "s0->s1"
    assert network.channel_name(1) == "s1->s0"
    assert [network.capacity(c) for c in range(network.channels)] == [4, 4] + [1] * 6
    assert network.host_rate == plan.rates[1]
    assert not network.equal_rates
    assert star(3).build().equal_rates


@pytest.mark.parametrize("kinds", [1, 3, 1000])
def test_each_channel_has_what_its_link_has(kinds: int) -> None:
    """However many different links there are; links to hosts are the slowest here."""
    rng, plan = Random(kinds), random_graph(Random(kinds), 30)
    links = [
        (RATE * (1 if plan.ranks[a] or plan.ranks[b] else rng.randint(1, kinds)), rng.randint(1, kinds) / 1e6)
        for a, b in plan.links
    ]
    a, b = zip(*plan.links, strict=True)
    network = _core.Network.graph(
        plan.names, plan.ranks, a, b, *(list(each) for each in zip(*links, strict=True))
    )
    assert network.channels == 2 * len(links)
    assert network.host_rate == RATE
    assert network.equal_rates == (len({rate for rate, _ in links}) == 1)
    for channel in range(network.channels):
        assert (network.rate(channel), network.latency(channel)) == links[channel // 2]
        assert network.capacity(channel) == links[channel // 2][0] // RATE


@pytest.mark.parametrize("seed", range(12))
def test_graphs_always_take_the_same_paths(seed: int) -> None:
    plan = random_graph(Random(seed), 3 + seed)
    for host in plan.hosts:
        plan.ranks[host] = few_ranks(Random(host))
    network, again = plan.build("graph"), plan.build("graph")
    host_of = plan.host_of
    ends = [end for a, b in plan.links for end in ((a, b), (b, a))]
    distance = shortest_hops(network)
    for src, dst in itertools.product(range(network.ranks), repeat=2):
        route = network.route(src, dst)
        assert route == again.route(src, dst)
        assert len(route) >= distance[host_of[src]][host_of[dst]]
        nodes = [host_of[src], *(ends[channel][1] for channel in route)]
        assert nodes[-1] == host_of[dst]
        assert all(ends[c][0] == node for c, node in zip(route, nodes, strict=False))
        assert not any(plan.ranks[node] for node in nodes[1:-1])


def test_equal_ways_are_shared_by_destination() -> None:
    """Two leaves, two spines: the routes to different hosts use both spines."""
    plan = NetworkPlan(["l0", "l1", "p0", "p1"], [0] * 4)
    for leaf, spine in itertools.product((0, 1), (2, 3)):
        plan.link(leaf, spine)
    for leaf in (0, 0, 1, 1):
        plan.node(1, leaf)
    network = plan.build("graph")
    assert {network.channel_name(network.route(0, dst)[1]) for dst in (2, 3)} == {"l0->p0", "l0->p1"}


def test_hosts_do_not_forward() -> None:
    plan = NetworkPlan(["a", "b", "c"], [1, 1, 1])
    plan.link(0, 1)
    plan.link(1, 2)
    assert "is not connected to" in refused(plan, "graph")[0]


def routed(routes: list[tuple[int, int, list[int]]]) -> _core.Network:
    return _core.Network.routed(["a", "b"], [2, 1], ["x", "y", "z"], [1e9, 2e9, 4e9], [1e-6] * 3, routes)


def test_routed_networks() -> None:
    network = routed([(0, 1, [0, 2, 1]), (1, 0, [1, 0])])
    assert network.channels == 3
    assert [network.rate(c) for c in range(3)] == [1e9, 2e9, 4e9]
    assert network.route(0, 2) == network.route(1, 2) == [0, 2, 1]
    assert network.route(2, 0) == [1, 0]
    assert network.route(0, 1) == []
    assert network.host_rate == 2e9
    assert [network.capacity(c) for c in range(3)] == [1, 1, 2]
    assert network.channel_name(2) == "z"


def test_hosts_of_routed_networks_have_their_ports() -> None:
    """Two messages at once, which go different ways."""
    pairs = list(itertools.permutations(range(3), 2))
    ways = [(a, b, [channel]) for channel, (a, b) in enumerate(pairs)]
    made = [
        _core.Network.routed(list("abc"), [1] * 3, list("uvwxyz"), [1e9] * 6, [0.0] * 6, ways, ports)
        for ports in ([], [2, 2, 2])
    ]
    assert [network.ports for network in made] == [[], [2, 2, 2]]
    assert [_core.lower_bounds(network, _core.Demand(3, 1)).phases for network in made] == [2, 1]


@pytest.mark.parametrize(
    ("routes", "complaint"),
    [
        ([(0, 1, [0])], "no route from 'b' to 'a'"),
        ([(0, 1, [0]), (1, 0, [3])], "unknown channel"),
        ([(0, 1, [2**32 - 1]), (1, 0, [0])], "unknown channel"),
        ([(0, 1, [0]), (1, 0, [0]), (0, 2, [0])], "not a host"),
    ],
)
def test_bad_routes(routes: list[tuple[int, int, list[int]]], complaint: str) -> None:
    with pytest.raises(_core.NetworkProblem, match=complaint):
        routed(routes)


@settings(max_examples=100)
@given(tree_plans(2, 10))
def test_loads_and_bounds(plan: NetworkPlan) -> None:
    network = plan.build()
    demand = _core.Demand(network.ranks, 1000)
    load = [0] * network.channels
    for src, dst in itertools.permutations(range(network.ranks), 2):
        for channel in network.route(src, dst):
            load[channel] += 1
    bounds = _core.lower_bounds(network, demand)
    assert bounds.load == load
    assert bounds.phases == plan.bound_phases()
    seconds = [n * 1000 / network.rate(channel) for channel, n in enumerate(load)]
    assert bounds.seconds == pytest.approx(max(seconds))
    assert seconds[bounds.bottleneck] == max(seconds)
