"""tree-packing: all-gathers, reductions and broadcasts on hosts as fast as all links of their switch."""

from __future__ import annotations

from bisect import bisect, insort
from collections import defaultdict
from collections.abc import Callable
from random import Random

import pytest

from hocket import _core
from strategies import LATENCY, RATE, NetworkPlan, chain, star

BYTES = 1 << 20
BEYOND = 1 << 60


def fast_hosts(switches: int, edges: list[tuple[int, int]], hosts: int = 1, rate: float = 1.0) -> NetworkPlan:
    """Switches with so many hosts each; a switch's hosts together are ``rate`` times as fast as its other links."""
    plan = NetworkPlan()
    links = [0] * switches
    for _ in range(switches):
        plan.node(0)
    for a, b in edges:
        plan.link(a, b)
        links[a] += 1
        links[b] += 1
    for switch in range(switches):
        for _ in range(hosts):
            plan.node(1, switch, RATE * links[switch] * rate / hosts)
    return plan


def torus(a: int, b: int) -> NetworkPlan:
    edges = [(x * b + y, (x + 1) % a * b + y) for x in range(a) for y in range(b)]
    return fast_hosts(a * b, edges + [(x * b + y, x * b + (y + 1) % b) for x in range(a) for y in range(b)])


def hyperx(a: int, b: int) -> NetworkPlan:
    rows = [(x * b + y, x * b + z) for x in range(a) for y in range(b) for z in range(y)]
    return fast_hosts(
        a * b, rows + [(x * b + y, z * b + y) for x in range(a) for z in range(x) for y in range(b)]
    )


def random_fabric(seed: int) -> NetworkPlan:
    """Switches in a ring with some chords, hosts of random speeds and numbers of ranks, some with two links."""
    rng = Random(seed)
    switches = rng.randint(3, 9)
    plan = NetworkPlan()
    for _ in range(switches):
        plan.node(0)
    for a in range(switches):
        plan.link(a, (a + 1) % switches, RATE * rng.choice([1, 1, 2, 3.5]))
    for _ in range(rng.randint(0, switches)):
        a, b = rng.sample(range(switches), 2)
        plan.link(a, b, RATE * rng.choice([1, 2]))
    for switch in range(switches):
        for _ in range(rng.randint(0 if switch else 1, 2)):
            host = plan.node(rng.choice([1, 1, 1, 2, 3]), switch, RATE * rng.choice([1, 2, 4, 6.5]))
            if rng.random() < 0.3:
                plan.link(host, rng.randrange(switches), RATE)
    plan.node(1, 0)
    return plan


def two_boxes(latency: float) -> _core.Network:
    """Two switches with 16 hosts each, half of which have a cable to one of the other box, a tenth as fast (DGX-2)."""
    links = [(17 * box, 17 * box + host, 10 * RATE) for box in range(2) for host in range(1, 17)]
    links += [(host, 16 + host, RATE) for host in range(2, 17, 2)]
    names = [f"{'n' if at % 17 else 's'}{at}" for at in range(34)]
    a, b, rates = zip(*links, strict=True)
    ranks = [int(name[0] == "n") for name in names]
    return _core.Network.graph(
        names, ranks, a, b, rates, [latency] * len(a), [], [1 + at % 2 for at in range(34)], ranks
    )


def add(parts: list[tuple[int, int]], part: tuple[int, int]) -> None:
    """A part that is not there yet; with those that it touches it becomes one."""
    begin, end = part
    at = bisect(parts, part)
    if at > 0:
        assert parts[at - 1][1] <= begin, "twice"
    if at < len(parts):
        assert end <= parts[at][0], "twice"
    if at < len(parts) and parts[at][0] == end:
        end = parts.pop(at)[1]
    if at > 0 and parts[at - 1][1] == begin:
        begin = parts.pop(at - 1)[0]
    insort(parts, (begin, end))


def carry_out(network: _core.Network, demand: _core.Demand, schedule: _core.Schedule) -> None:
    """Carries the rows of an all-gather out, byte range by byte range, with nothing but routes and rates."""
    sizes = demand.contributions or [demand.bytes] * network.ranks
    # Per rank and origin: parts that lie apart, in order.
    held = [[[(0, size)] if origin == rank else [] for origin, size in enumerate(sizes)]
            for rank in range(network.ranks)]  # fmt: skip
    phases: dict[int, list[tuple[int, ...]]] = defaultdict(list)
    for phase, *row in schedule.rows():
        phases[phase].append(tuple(row))
    for phase in sorted(phases):
        messages = {(src, dst) for src, dst, *_ in phases[phase]}
        speed: dict[int, float] = defaultdict(float)
        for src, dst in messages:
            route = network.route(src, dst)
            for channel in route:
                speed[channel] += min(network.rate(other) for other in route)
        for channel, rate in speed.items():
            assert rate <= network.rate(channel) * (1 + 1e-6), (phase, network.channel_name(channel))
        news = []
        for src, dst, origin, _, offset, length in phases[phase]:
            parts = held[src][origin]
            at = bisect(parts, (offset, BEYOND)) - 1
            assert length == 0 or (at >= 0 and parts[at][1] >= offset + length), (phase, src, origin, offset)
            news.append((held[dst][origin], (offset, offset + length)))
        for parts, part in news:
            add(parts, part)
    for rank in range(network.ranks):
        assert [
            sum(end - begin for begin, end in held[rank][origin]) for origin in range(network.ranks)
        ] == sizes


def proven(network: _core.Network, demand: _core.Demand, algorithm: str = "tree-packing") -> float:
    """Plans and proves; the predicted time over the bound."""
    planned = _core.plan(network, demand, None, algorithm)
    assert planned.certificate.ok, planned.certificate.findings
    return float(planned.predicted_seconds / planned.bound_seconds)


@pytest.mark.parametrize("seed", range(16))
def test_any_fabric_and_any_contributions(seed: int) -> None:
    network = random_fabric(seed).build("graph")
    rng = Random(seed)
    unequal = [rng.choice([0, 1, 5000, BYTES, 3 * BYTES + 7]) for _ in range(network.ranks)]
    unequal[0] = BYTES
    one = [0] * network.ranks
    one[rng.randrange(network.ranks)] = BYTES
    algorithm = _core.Algorithm.find("tree-packing", "all-gather")
    for contributions in ([], unequal, one):
        demand = _core.Demand(network.ranks, BYTES, "all-gather", contributions)
        carry_out(network, demand, algorithm.make(network, demand))
        proven(network, demand)
    for pattern in ("reduce-scatter", "all-reduce"):
        assert proven(network, _core.Demand(network.ranks, BYTES, pattern)) >= 1


@pytest.mark.parametrize(
    ("plan", "most"),
    [(torus(4, 4), 1.10), (torus(3, 5), 1.10), (hyperx(4, 4), 1.10), (hyperx(3, 3), 1.10)],
    ids=["torus 4x4", "torus 3x5", "HyperX 4x4", "HyperX 3x3"],
)
def test_fast_hosts_come_near_the_narrowest_cut(plan: NetworkPlan, most: float) -> None:
    """Rings, and one message a host at a time, take up to six times as long."""
    network = plan.build("graph")
    for pattern in ("all-gather", "reduce-scatter"):
        demand = _core.Demand(network.ranks, BYTES, pattern)
        planned = _core.plan(network, demand)
        assert planned.algorithm == "tree-packing"
        assert planned.predicted_seconds <= most * planned.bound_seconds


def random_fast_hosts(seed: int) -> NetworkPlan:
    """Switches in a ring with chords, each with one host that is as fast as they together."""
    rng = Random(seed)
    switches = rng.randint(4, 14)
    edges = {(a, a + 1) for a in range(switches - 1)} | {(0, switches - 1)}
    for _ in range(rng.randint(switches, 3 * switches)):
        a, b = sorted(rng.sample(range(switches), 2))
        edges.add((a, b))
    return fast_hosts(switches, sorted(edges))


def random_boxes(seed: int) -> NetworkPlan:
    """Boxes of hosts by a fast switch each; every host has a slower card, on one switch outside."""
    rng = Random(seed)
    plan = NetworkPlan()
    outside = plan.node(0)
    hosts, inside = rng.randint(2, 6), RATE * rng.choice([4, 6, 12])
    for _ in range(rng.randint(2, 4)):
        switch = plan.node(0)
        for _ in range(hosts):
            host = plan.node(1, switch, inside)
            card = plan.node(0, host)
            plan.link(card, outside, RATE)
    return plan


@pytest.mark.parametrize("kind", [random_fast_hosts, random_boxes])
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.slow] * (seed > 5)) for seed in range(12)]
)
def test_broadcasts_go_down_trees_that_pack_the_cut_exactly(
    kind: Callable[[int], NetworkPlan], seed: int
) -> None:
    """Few trees that are all under way at once: what is above the bound is the time in which they fill."""
    plan = kind(seed)
    ends = [[link[end] for link in plan.links] for end in range(2)]
    network = _core.Network.graph(plan.names, plan.ranks, *ends, plan.rates, [0.0] * len(plan.links))
    contributions = [0] * network.ranks
    contributions[Random(seed).randrange(network.ranks)] = 4 * BYTES
    demand = _core.Demand(network.ranks, 4 * BYTES, "all-gather", contributions)
    carry_out(network, demand, _core.Algorithm.find("tree-packing", "all-gather").make(network, demand))
    assert proven(network, demand) <= 1.04


@pytest.mark.parametrize(("parts", "most"), [(0, 1.01), (3, 1.10), (10, 1.27)])
def test_each_slot_costs_the_latency_of_links(parts: int, most: float) -> None:
    """``parts``: thousandths of the time of a contribution. What saves fill time then costs more than it saves."""
    latency = parts / 1000 * BYTES / (10 * RATE)
    demand = _core.Demand(32, BYTES, "all-gather")
    assert proven(two_boxes(latency), demand) <= most


def test_many_hosts_of_one_rank_each_way() -> None:
    """The bound of a fast host is its link, that of a slow one too: what comes into each is the same."""
    plan = chain([2, 2, 2])
    plan.link(0, 2)
    plan.rates[-2] = 5 * RATE
    assert proven(plan.build("graph"), _core.Demand(6, BYTES, "all-gather")) <= 1.10


def test_a_channel_that_carries_more_than_it_can_is_refused() -> None:
    plan = star(4)
    plan.rates[0] = 2 * RATE  # of host 0: two messages to the others at once, not three
    network = plan.build()
    demand = _core.Demand(4, 100, "all-gather", [100, 0, 0, 0])
    for phases, ok in (((0, 0, 1), True), ((0, 0, 0), False)):
        rows = [(phase, 0, dst, 0, _core.EVERYONE, 0, 100) for dst, phase in enumerate(phases, 1)]
        schedule = _core.Schedule.from_rows(4, 100, rows)
        certificate = _core.verify(network, demand, schedule, _core.PortModel.all_port)
        assert certificate.ok is ok
        assert ok or set(certificate.counts) == {"channel overfull"}


@pytest.mark.parametrize("seed", range(8))
def test_verifier_and_bound_count_the_same_messages_at_once(seed: int) -> None:
    """Messages share a fast link whatever the ports: all get a block in the one phase that the bound asks for."""
    rng = Random(seed)
    plan, fast = star(rng.randint(3, 9)), rng.randint(2, 9)
    plan.rates[0] = fast * RATE
    network, hosts = plan.build(), len(plan.hosts)
    demand = _core.Demand(hosts, 100, "all-gather", [100] + [0] * (hosts - 1))
    for at_once in range(1, hosts):
        rows = [((dst - 1) // at_once, 0, dst, 0, _core.EVERYONE, 0, 100) for dst in range(1, hosts)]
        schedule = _core.Schedule.from_rows(hosts, 100, rows)
        assert _core.verify(network, demand, schedule, _core.PortModel.all_port).ok is (at_once <= fast)
        assert _core.verify(network, demand, schedule, _core.PortModel.one_port).ok is (at_once == 1)
        bounds = _core.lower_bounds(network, demand)
        least = bounds.least_phases(network, demand, _core.PortModel.all_port)
        assert bounds.phases == least and (at_once > fast or schedule.phases >= least)
    assert (least == 1) is (fast >= hosts - 1)


def test_what_is_in_flight_is_refused_where_it_arrives_twice() -> None:
    network = torus(3, 3).build("graph")
    demand = _core.Demand(9, BYTES, "all-gather")
    rows = _core.Algorithm.find("tree-packing", "all-gather").make(network, demand).rows()
    for spoilt in (rows[:-1], [*rows, (rows[-1][0] + 1, *rows[-1][1:])]):
        certificate = _core.verify(
            network, demand, _core.Schedule.from_rows(9, BYTES, spoilt), _core.PortModel.all_port
        )
        assert not certificate.ok


def test_small_contributions_are_not_cut() -> None:
    network = torus(4, 4).build("graph")
    demand = _core.Demand(16, 64, "all-gather")
    schedule = _core.Algorithm.find("tree-packing", "all-gather").make(network, demand)
    assert {row[6] for row in schedule.rows()} == {64}
    assert network.latency(0) == LATENCY
