"""Parts of networks, as smaller communicators see them: the routes are those of the whole."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from hocket.network import read_network
from strategies import chain, few_ranks, random_graph, random_tree, sampled, star, unequal

EXAMPLES = Path(__file__).parents[2] / "examples" / "networks"
Routes = dict[tuple[int, int], list[int]]


def some_ranks(rng: Random, network: _core.Network) -> list[int]:
    """Fewer ranks on some hosts, none on others, at least one in all."""
    ranks = [rng.choice([0, rng.randint(0, most), most]) for most in network.ranks_per_node]
    if not any(ranks):
        ranks[rng.choice(network.hosts)] = 1
    return ranks


def routes(network: _core.Network) -> Routes:
    """Routes by nodes, which a part and its whole have in common."""
    everyone = range(network.ranks)
    return {
        (network.host_of(src), network.host_of(dst)): network.route(src, dst)
        for src in everyone
        for dst in everyone
    }


def check(whole: _core.Network, ranks: list[int]) -> _core.Network:
    part = whole.restricted_to(ranks)
    assert part.ranks_per_node == ranks
    assert part.hosts == [node for node, count in enumerate(ranks) if count]
    assert [part.host_of(rank) for rank in range(part.ranks)] == [
        node for node, count in enumerate(ranks) for _ in range(count)
    ]
    of_whole = routes(whole)
    assert all(of_whole[ends] == route for ends, route in routes(part).items())
    demand = _core.Demand(part.ranks, 1)
    schedule = _core.plan_exchange(part, demand).schedule
    assert _core.verify(part, demand, schedule).ok
    return part


@sampled(80)
@given(st.integers(0, 2**32 - 1), st.integers(2, 12))
def test_parts_of_graphs(seed: int, hosts: int) -> None:
    rng = Random(seed)
    whole = random_graph(rng, hosts).build("graph")
    check(whole, some_ranks(rng, whole))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_parts_of_trees(seed: int, hosts: int) -> None:
    rng = Random(seed)
    whole = random_tree(rng, hosts, ranks=few_ranks, switch_link=unequal).build()
    check(whole, some_ranks(rng, whole))


@pytest.mark.parametrize(
    "name",
    [
        "fat-tree:4x4x2", "dragonfly:5x4x2", "torus:4x5/up", "mesh:3x4", "hypercube:3",
        "forwarding.toml", "two-clusters.xml", "fat-tree.xml",
    ],
)  # fmt: skip
@pytest.mark.parametrize("seed", range(3))
def test_parts_of_other_networks(name: str, seed: int) -> None:
    whole = read_network(name if ":" in name else str(EXAMPLES / name))
    check(whole, some_ranks(Random(seed), whole))


def test_a_part_chosen_anew_would_follow_other_routes() -> None:
    """Shortest paths spread over the spines by where the ranks are."""
    whole = read_network("fat-tree:4x4x2")
    ranks = [count * (node % 3 > 0) for node, count in enumerate(whole.ranks_per_node)]
    part = check(whole, ranks)
    a, b = [x for x, _ in part.links], [y for _, y in part.links]
    rates, latencies = [part.rate(2 * i) for i in range(len(a))], [part.latency(2 * i) for i in range(len(a))]
    anew = _core.Network.graph(part.names, ranks, a, b, rates, latencies)
    assert routes(anew) != routes(part)


@pytest.mark.parametrize("seed", range(24))
def test_routes_are_the_same_for_any_number_of_ranks_on_every_host(seed: int) -> None:
    """One plan of one rank a host serves them all. Rounding made one in ten differ."""
    plan = random_graph(Random(seed), 10)
    one = plan.build("graph")
    for many in (3, 7):
        plan.ranks = [many * min(1, ranks) for ranks in plan.ranks]
        network = plan.build("graph")
        assert routes(network) == routes(one)


def test_speeds_of_a_part_are_those_of_its_hosts() -> None:
    plan = chain([2, 2])
    plan.rates[1] *= 10  # the first host's link
    whole = plan.build()
    fast = plan.links[1][1]
    part = whole.restricted_to([0 if node == fast else count for node, count in enumerate(plan.ranks)])
    assert (whole.host_rate, part.host_rate) == (plan.rates[1], plan.rates[0])
    assert (whole.capacity(0), part.capacity(2)) == (1, 10)


def test_refusals() -> None:
    whole = star(3).build()
    with pytest.raises(_core.NetworkProblem, match="'s0' has no ranks in the whole network"):
        whole.restricted_to([1, 1, 1, 1])
    with pytest.raises(_core.NetworkProblem, match="the network has no hosts"):
        whole.restricted_to([0, 0, 0, 0])
    with pytest.raises(_core.InputError, match="one rank count per node"):
        whole.restricted_to([1, 1])
