"""Broadcasts and reduces: pieces down chains of groups and down trees that share no channel."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from hocket.network import read_network
from hocket.planning.plan import check, flow_of, plan_collective, simulation
from strategies import RATE, NetworkPlan, few_ranks, random_graph, star, tree_plans, unequal

MIB = 1 << 20


def one_giver(ranks: int, size: int, root: int) -> _core.Demand:
    contributions = [0] * ranks
    contributions[root] = size
    return _core.Demand(ranks, size, "all-gather", contributions)


def made(name: str, network: _core.Network, size: int, root: int = 0, alpha: float = 0.0) -> _core.Schedule:
    """Verified: every byte arrives once, and no two messages of a phase share a port or a channel."""
    algorithm = _core.Algorithm.find(name, "all-gather")
    demand = one_giver(network.ranks, size, root)
    assert algorithm.why_not(network, demand) == ""
    schedule = algorithm.make(network, demand, alpha)
    certificate = check(network, demand, schedule, _core.Waits.derive(network, schedule), algorithm.ports)
    assert certificate.ok, certificate.findings
    return schedule


def ratio(network: _core.Network, schedule: _core.Schedule, size: int, root: int = 0) -> float:
    bound = _core.lower_bounds(network, one_giver(network.ranks, size, root)).seconds
    return float(schedule.lockstep_seconds(network) / bound)


def refuses(name: str, network: _core.Network, root: int = 0) -> str:
    return str(
        _core.Algorithm.find(name, "all-gather").why_not(network, one_giver(network.ranks, 1000, root))
    )


@settings(max_examples=80, deadline=None)
@given(tree_plans(2, 16, ranks=few_ranks, switch_link=unequal), st.integers(0, 99))
def test_chains_of_groups_meet_the_bound_of_any_tree(plan: NetworkPlan, root: int) -> None:
    network = plan.build()
    root %= network.ranks
    schedule = made("group-chain", network, 4 * MIB, root)
    if len(plan.hosts) > 1:
        assert ratio(network, schedule, 4 * MIB, root) <= 1.02


@settings(max_examples=80, deadline=None)
@given(tree_plans(1, 12, ranks=few_ranks, switch_link=unequal), st.integers(0, 99), st.integers(1, 3000))
def test_any_number_of_bytes_arrives(plan: NetworkPlan, root: int, size: int) -> None:
    network = plan.build()
    made("group-chain", network, size, root % network.ranks)


@pytest.mark.parametrize("hosts", [*range(2, 40), 64, 65, 130])
def test_on_one_switch_groups_double(hosts: int) -> None:
    """K + about log2 N phases instead of K + N: groups of 1, 2, 4 … of which each adds one."""
    network = star(hosts).build()
    schedule = made("group-chain", network, 4 * MIB)
    pieces = len({row[5] for row in schedule.rows()})
    others = hosts - 1
    groups = others // 64 + bin(others % 64).count("1")
    assert schedule.phases <= pieces + groups + min(others.bit_length(), 7)


def test_every_piece_passes_a_link_once() -> None:
    network = read_network("chain:3,3,2")
    schedule = made("group-chain", network, MIB)
    pieces = len({row[5] for row in schedule.rows()})
    uses = [0] * network.channels
    for _, src, dst, *_ in schedule.rows():
        for channel in network.route(src, dst):
            uses[channel] += 1
    assert max(uses) == pieces


@pytest.mark.parametrize(
    "source",
    ["torus:4x4", "torus:3x5", "torus:2x12", "torus:2x3x4", "torus:2x2x2", "torus:3x3x3", "torus:7", "mesh:3x4",
     "mesh:9", "mesh:3x3x3", "hypercube:4", "torus:4x4*2", "torus:3x3*3"],
)  # fmt: skip
@pytest.mark.parametrize("place", [0.0, 0.5, 0.99])
def test_trees_that_share_no_channel_meet_the_bound_of_grids(source: str, place: float) -> None:
    network = read_network(source)
    root = int(place * network.ranks)
    schedule = made("disjoint-trees", network, 16 * MIB, root)
    assert ratio(network, schedule, 16 * MIB, root) <= 1.02


@st.composite
def wired_hosts(draw: st.DrawFn) -> NetworkPlan:
    """Hosts wired to each other at random, all connected; and one switch, since messages pass no host in a graph."""
    hosts, rng = draw(st.integers(2, 8)), Random(draw(st.integers(0, 1 << 30)))
    plan = NetworkPlan()
    for host in range(hosts):
        plan.node(rng.choice([1, 1, 2]), rng.randrange(host) if host else None)
    for _ in range(draw(st.integers(0, 2 * hosts))):
        a, b = rng.randrange(hosts), rng.randrange(hosts)
        if a != b and (a, b) not in plan.links and (b, a) not in plan.links:
            plan.link(a, b)
    switch = plan.node(0)
    for host in range(hosts):
        plan.link(switch, host)
    return plan


def narrowest_cut(plan: NetworkPlan, root: int) -> int:
    """Links between hosts into any set of them without the root, the fewest."""
    hosts = [host for host in plan.hosts if host != root]
    links = [link for link in plan.links if max(link) < len(plan.hosts)]
    cuts = []
    for chosen in range(1, 1 << len(hosts)):
        inside = {host for i, host in enumerate(hosts) if chosen >> i & 1}
        cuts.append(sum((a in inside) != (b in inside) for a, b in links))
    return min(cuts)


@settings(max_examples=60, deadline=None)
@given(wired_hosts(), st.integers(0, 99))
def test_trees_that_share_no_channel_meet_every_cut(plan: NetworkPlan, root: int) -> None:
    """There are as many trees as the narrowest cut has channels (Edmonds)."""
    network = plan.build("graph")
    root %= network.ranks
    schedule = made("disjoint-trees", network, 16 * MIB, root)
    least = 16 * MIB / narrowest_cut(plan, plan.host_of[root]) / RATE
    assert schedule.lockstep_seconds(network) <= 1.02 * least


@pytest.mark.parametrize("seed", range(20))
def test_chains_where_routes_are_given(seed: int) -> None:
    """Any graph: a chain of which messages would meet is refused, the others are free of contention."""
    network = random_graph(Random(seed), 9).build("graph")
    if not refuses("group-chain", network):
        made("group-chain", network, 100_000)


@pytest.mark.parametrize(
    "source", ["fat-tree:k=4", "fat-tree:4x4x2", "fat-tree:8x8x4", "dragonfly:4x2x2", "dragonfly:5x4x4"]
)
@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
def test_reduces_go_by_the_ways_back(source: str, collective: str) -> None:
    network = read_network(source)
    planned = plan_collective(collective, network, 4 * MIB, alpha=0.0)
    assert planned.certificate.ok, planned.certificate.findings
    assert planned.schedule.lockstep_seconds(network) <= 1.1 * planned.bound_seconds


@pytest.mark.parametrize("seed", range(12))
def test_explicit_routes_are_turned_round_too(seed: int) -> None:
    plan = random_graph(Random(seed), 7)
    graph = plan.build("graph")
    host_of = plan.host_of
    routes = [
        (host_of[a], host_of[b], graph.route(a, b))
        for a in range(graph.ranks)
        for b in range(graph.ranks)
        if host_of[a] != host_of[b] and host_of.index(host_of[a]) == a and host_of.index(host_of[b]) == b
    ]
    rates = [rate for rate in plan.rates for _ in range(2)]
    names = [f"c{i}" for i in range(len(rates))]
    network = _core.Network.routed(plan.names, plan.ranks, names, rates, [0.0] * len(rates), routes)
    for collective in ("reduce", "reduce-scatter"):
        assert plan_collective(collective, network, 5000).certificate.ok


def test_what_they_do_not_serve() -> None:
    assert "wired to each other" in refuses("disjoint-trees", star(4).build())
    everyone = _core.Demand(4, 100, "all-gather", [])
    assert _core.Algorithm.find("group-chain", "all-gather").why_not(star(4).build(), everyone)


def test_a_per_message_cost_is_worth_larger_pieces() -> None:
    network = star(32).build()
    free, dear = made("group-chain", network, MIB), made("group-chain", network, MIB, alpha=5e-5)
    assert len(dear) < len(free) / 4

    def seconds(schedule: _core.Schedule) -> float:
        return float(schedule.lockstep_seconds(network, alpha=5e-5))

    assert seconds(dear) < seconds(free)
    chain = _core.Algorithm.find("switch-ring", "all-gather").make(network, one_giver(32, MIB, 0), 5e-5)
    assert seconds(dear) < 0.8 * seconds(chain)


@pytest.mark.parametrize("source", ["star:64", "torus:4x4x4", "fat-tree:8x8x4", "mesh:8x8"])
@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
@pytest.mark.timeout(60)  # half a second suffices
def test_planning_for_64_ranks_ends(source: str, collective: str) -> None:
    network = read_network(source)
    demand = next(one for one in _core.Collective.all() if one.name == collective).demand(64, MIB, 0)
    planned = _core.plan_exchange(network, demand, None, "", 5e-5, 1)
    assert planned.schedule.phases > 0


@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
@pytest.mark.parametrize("source", ["star:16", "chain:8,8", "fat-tree:4x4x2"])
def test_one_message_at_a_time_is_usual(source: str, collective: str) -> None:
    """Two that follow each other go to different ranks: on the wire of their sender they are in each other's way."""
    network = read_network(source)
    demand = next(one for one in _core.Collective.all() if one.name == collective).demand(
        network.ranks, MIB, 0
    )
    usual = _core.plan_exchange(network, demand, None, "", 5e-5, 1)
    two = _core.plan_exchange(network, demand, 2, usual.algorithm, 5e-5, 1)
    assert (usual.waits.window, two.waits.window) == (1, 2)
    costs = _core.ModelParameters(alpha=5e-5)
    took, took_two = (
        simulation(network, p.schedule, p.waits, flow_of(p.waits), costs).seconds for p in (usual, two)
    )
    assert took < 0.95 * took_two


def test_gathers_of_several_contributions_have_two_under_way() -> None:
    network = read_network("star:4")
    for contributions in ([], [MIB, 0, 1, 0]):
        demand = _core.Demand(4, MIB, "all-gather", contributions)
        assert _core.plan_exchange(network, demand).waits.window == 2
