"""Exchanges in two levels: the verifier accepts what is planned, for ranks on hosts in any order."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from hocket.costs.model import costs_for
from hocket.network import read_network
from hocket.planning import aggregation
from hocket.planning.network_check import check_same_network
from strategies import RATE, random_graph

MEMORY = 1 << 30
NETWORKS = ("star:{}", "chain:2,{}", "torus:{}", "tree:({},(2),(3))")


def between(shape: str, hosts: int) -> _core.Network:
    return read_network(shape.format(hosts))


@st.composite
def placements(draw: st.DrawFn) -> tuple[_core.Network, list[int]]:
    """A network of one rank a host, and the host of every rank: as many as it has hosts, and more."""
    network = between(draw(st.sampled_from(NETWORKS)), draw(st.integers(2, 5)))
    more = draw(st.lists(st.integers(0, network.ranks - 1), min_size=1, max_size=12))
    host_of = [*range(network.ranks), *more]
    return network, draw(st.permutations(host_of))


def scheduled(network: _core.Network, host_of: Sequence[int], demand: _core.Demand) -> _core.TwoLevelExchange:
    groups = _core.group_by_host(host_of)
    planned = _core.plan_exchange(network, groups.scheduled_between(demand))
    return _core.TwoLevelExchange(groups, demand, planned.schedule)


def accepted(
    network: _core.Network,
    exchange: _core.TwoLevelExchange,
    ports: _core.PortModel = _core.PortModel.one_port,
) -> None:
    waits = _core.Waits.derive(network, exchange.schedule, 2)
    certificate = _core.verify_two_level(network, exchange, waits, MEMORY, ports)
    assert certificate.ok and certificate.contention_free and certificate.complete, certificate.findings


def traffic(ranks: int, seed: int) -> _core.Demand:
    random = Random(seed)
    pairs = [(src, dst) for src in range(ranks) for dst in range(ranks) if src != dst]
    chosen = random.sample(pairs, random.randint(1, len(pairs)))
    src, dst = [a for a, _ in chosen], [b for _, b in chosen]
    return _core.Demand.irregular(ranks, src, dst, [random.randint(1, 99) for _ in chosen])


@settings(max_examples=25, deadline=None)
@given(placements(), st.integers(1, 70))
def test_all_to_alls(place: tuple[_core.Network, list[int]], bytes: int) -> None:
    network, host_of = place
    exchange = scheduled(network, host_of, _core.Demand(len(host_of), bytes))
    accepted(network, exchange)
    hosts = network.ranks
    assert len(exchange.schedule) == hosts * (hosts - 1)  # one message between two hosts


@settings(max_examples=25, deadline=None)
@given(placements(), st.integers(0, 2**32))
def test_irregular_exchanges(place: tuple[_core.Network, list[int]], seed: int) -> None:
    network, host_of = place
    demand = traffic(len(host_of), seed)
    if all(host_of[src] == host_of[dst] for src, dst, _ in demand.list()):
        return
    accepted(network, scheduled(network, host_of, demand))


@settings(max_examples=25, deadline=None)
@given(placements(), st.data(), st.sampled_from(["all-gather", "all-reduce"]))
def test_blocks(place: tuple[_core.Network, list[int]], data: st.DataObject, pattern: str) -> None:
    network, host_of = place
    sizes = data.draw(st.lists(st.integers(0, 80), min_size=len(host_of), max_size=len(host_of)))
    if sum(sizes) < network.ranks:
        sizes = [7] * len(host_of)
    demand = _core.Demand(len(host_of), max(sizes), pattern, contributions=sizes)
    groups = _core.group_by_host(host_of)
    planned = _core.plan_exchange(network, groups.scheduled_between(demand))
    ports = _core.PortModel.of(planned.algorithm, planned.demand.pattern)
    accepted(network, _core.TwoLevelExchange(groups, demand, planned.schedule), ports)


@pytest.mark.parametrize("name", ["all-to-all", "all-gather", "all-reduce"])
@pytest.mark.parametrize("seed", range(12))
def test_a_plan_file_keeps_routes_that_were_balanced_by_unequal_ranks(name: str, seed: int) -> None:
    rng = Random(seed)
    if seed % 2:
        plan = random_graph(rng, 8)
        for host in plan.hosts:
            plan.ranks[host] = rng.randint(1, 6)
        whole = plan.build("graph")
    else:  # hosts without switches
        ends = list(range(rng.randint(4, 7)))
        names, ranks = [f"n{host}" for host in ends], [rng.randint(1, 6) for _ in ends]
        after = [*ends[1:], 0]
        whole = _core.Network.graph(
            names, ranks, ends, after, [RATE] * len(ends), [0.0] * len(ends), [], [], [1] * len(ends)
        )
    demand = aggregation.find_demand(name, whole.ranks, 100)
    planned = aggregation.plan_two_level(whole, demand, costs_for(whole, None, ""))
    assert planned.two_level.certificate.ok, planned.two_level.certificate.findings
    plan = _core.Plan.decode(planned.encode())
    between = plan.network
    check_same_network(plan, whole.one_rank_a_host(), "plan", "network")
    first = [ranks[0] for ranks in whole.host_groups().ranks]
    for src, dst in itertools.product(range(between.ranks), repeat=2):
        assert between.route(src, dst) == whole.route(first[src], first[dst])
    demand = aggregation.demand_of_ranks(whole, plan.demand)
    exchange = _core.TwoLevelExchange(whole.host_groups(), demand, plan.schedule)
    ports = _core.PortModel.of(plan.algorithm, exchange.between.pattern)
    assert _core.verify_two_level(between, exchange, plan.waits, MEMORY, ports).ok


def test_messages_that_stay_on_their_host_are_not_compared() -> None:
    network = read_network("star:3*2")
    demand = _core.Demand.irregular(6, [0, 1, 0, 2, 5], [1, 0, 2, 4, 3], [8] * 5)
    plan = aggregation.plan_two_level(network, demand, costs_for(network, None, ""), most_compared=5)
    assert plan.two_level.direct_messages == 3
    assert plan.two_level.direct_seconds > 0
    unasked = aggregation.plan_two_level(network, demand, costs_for(network, None, ""))
    assert unasked.two_level.direct_seconds is None


def test_memory_is_laid_out_as_the_runtime_does() -> None:
    """Rows of those that send, in them blocks of those that get; aggregates by leader, what goes out first."""
    network = read_network("star:2")
    exchange = scheduled(network, [1, 0, 1], _core.Demand(3, 10))  # rank 0 leads host 1
    assert exchange.groups.ranks == [[1], [0, 2]]
    assert exchange.memory == [2 * 30, 2 * 60]
    # Host 1: its own aggregate first (2 x 2 blocks), then that for host 0.
    assert (0, 10, 0, 2, 0, 10) in exchange.puts and (2, 20, 2, 0, 0, 10) in exchange.puts
    assert (0, 40, 0, 1, 0, 10) in exchange.puts and (2, 50, 2, 1, 0, 10) in exchange.puts
    # Incoming bytes from host 0 lie behind the 60 outgoing ones, and the room of its own two-level message.
    assert (0, 100, 1, 0, 0, 10) in exchange.takes and (2, 110, 1, 2, 0, 10) in exchange.takes


def test_time_is_copies_and_what_is_between_hosts() -> None:
    network = read_network("star:4*4")
    hosts = network.one_rank_a_host()
    found = []
    for bytes in (8, 8192):
        exchange = scheduled(hosts, [rank // 4 for rank in range(16)], _core.Demand(16, bytes))
        waits = _core.Waits.derive(hosts, exchange.schedule, 1)
        costs = _core.ModelParameters(alpha=1e-6)
        profile = _core.memory.Profile.built_in()
        time = exchange.predict(hosts, waits, costs, profile, 10**6)
        assert time.seconds == pytest.approx(time.put + time.between + time.take)
        assert time.between == _core.simulate(hosts, exchange.schedule, waits, "window:1", costs).seconds
        found.append(time)
    assert 0 < found[0].put < found[1].put and 0 < found[0].take < found[1].take
    assert exchange.predict(hosts, waits, costs, profile, 1) is None


def test_what_cannot_be_two_level() -> None:
    alone = _core.group_by_host([0, 0, 0])
    apart = _core.group_by_host([0, 1, 2])
    mixed = _core.group_by_host([0, 1, 1])
    assert "one host" in alone.why_not(_core.Demand(3, 1))
    assert "several" in apart.why_not(_core.Demand(3, 1))
    assert "other ranks" in mixed.why_not(_core.Demand(4, 1))
    assert mixed.why_not(_core.Demand(3, 1)) == ""
    with pytest.raises(_core.InputError, match="reduce-scatters"):
        _core.demand_between(mixed, _core.Demand(3, 1, "reduce-scatter"))
