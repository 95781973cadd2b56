"""All-to-alls through several ports of a host, and hosts that pass on messages of others."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

import hocket
from hocket import _core
from hocket.errors import HocketError
from hocket.network import read_network
from hocket.planning.plan import check
from strategies import LATENCY, RATE, NetworkPlan, star
from wired_switches import hung


def grid(kind: str, *sides: int, ports: int = 1) -> _core.Network:
    return _core.Network.grid(kind, list(sides), RATE, 0.0, ports=ports)


def proven(network: _core.Network, demand: _core.Demand) -> _core.Plan:
    planned = _core.plan(network, demand)
    certificate = check(
        network,
        demand,
        planned.schedule,
        planned.waits,
        _core.PortModel.of(planned.algorithm, demand.pattern),
    )
    assert certificate.ok, certificate.findings
    return planned


def most_at_once(schedule: _core.Schedule) -> tuple[int, int]:
    """The most messages that a rank sends, and receives, in a phase."""
    sends = Counter((phase, src) for phase, src, *_ in schedule.rows())
    receives = Counter((phase, dst) for phase, _, dst, *_ in schedule.rows())
    return max(sends.values()), max(receives.values())


@pytest.mark.parametrize(
    ("kind", "sides", "ports", "one_port", "bound"),
    [
        ("torus", (4, 4), 4, 15, 8),
        ("torus", (3, 3), 4, 8, 3),
        ("torus", (4, 4, 4), 6, 63, 32),
        ("hypercube", (4,), 4, 15, 8),
        ("hypercube", (5,), 5, 31, 16),
        ("hypercube", (6,), 6, 63, 32),
    ],
)
def test_all_ports_take_half_of_the_phases(
    kind: str, sides: tuple[int, ...], ports: int, one_port: int, bound: int
) -> None:
    several, one = grid(kind, *sides, ports=ports), grid(kind, *sides)
    demand = _core.Demand(one.ranks, 1000)
    assert _core.lower_bounds(several, demand).phases == bound
    assert _core.lower_bounds(one, demand).phases == max(one_port, bound)
    planned = proven(several, demand)
    assert planned.schedule.phases <= 1.1 * bound
    assert max(most_at_once(planned.schedule)) <= ports


def test_ports_of_a_switch_s_hosts() -> None:
    """Ports do not widen links: two ports on one link are as good as one."""
    plan = star(6)
    ports = [3 if ranks else 0 for ranks in plan.ranks]
    a, b = [x for x, _ in plan.links], [y for _, y in plan.links]
    network = _core.Network.tree(plan.names, plan.ranks, a, b, plan.rates, [LATENCY] * len(a), ports)
    planned = proven(network, _core.Demand(6, 1000))
    assert planned.schedule.phases == 5


@pytest.mark.parametrize(("side", "apart"), [(4, 3), (5, 4), (3, 4), (7, 3)], ids=str)
def test_a_fast_host_s_link_carries_a_message_of_each_port(side: int, apart: int) -> None:
    """Its link is as fast as all four of its switch: one message at a time took up to 2.7 times as long."""
    hosts = side * 3
    wires = {tuple(sorted((at, (at + step) % hosts))) for at in range(hosts) for step in (1, apart)}
    plan = hung(hosts, sorted(wires), 1)
    plan.rates[len(wires) :] = [4 * RATE] * hosts
    ends = [[link[end] for link in plan.links] for end in range(2)]
    many = [4 if ranks else 0 for ranks in plan.ranks]
    network = _core.Network.graph(
        plan.names, plan.ranks, *ends, plan.rates, [0.0] * len(plan.links), [], many
    )
    demand = _core.Demand(network.ranks, 1 << 20)
    planned = proven(network, demand)
    assert planned.predicted_seconds <= 1.02 * planned.bound_seconds


def test_the_verifier_counts_ports() -> None:
    demand = _core.Demand(9, 10)
    schedule = proven(grid("torus", 3, 3, ports=4), demand).schedule
    assert most_at_once(schedule) == (4, 4)
    assert set(_core.verify(grid("torus", 3, 3, ports=3), demand, schedule).counts) == {
        "send port overfull",
        "receive port overfull",
    }
    assert _core.verify(grid("torus", 3, 3, ports=4), demand, schedule).ok


@pytest.mark.parametrize("seed", range(12))
def test_ports_and_forwarding_hosts_of_random_graphs(seed: int) -> None:
    rng = Random(seed)
    hosts = rng.randint(3, 12)
    plan = NetworkPlan()
    for host in range(hosts):
        plan.node(1)
        if host:
            plan.link(rng.randrange(host), host)
    for _ in range(rng.randint(0, hosts)):
        plan.link(*rng.sample(range(hosts), 2))
    ports = [rng.randint(1, 4) for _ in range(hosts)]
    a, b = [x for x, _ in plan.links], [y for _, y in plan.links]
    network = _core.Network.graph(
        plan.names, plan.ranks, a, b, plan.rates, [LATENCY] * len(a), [], ports, [1] * hosts
    )
    planned = proven(network, _core.Demand(hosts, 1000))
    sends = Counter((phase, src) for phase, src, *_ in planned.schedule.rows())
    assert all(count <= ports[src] for (_, src), count in sends.items())
    for pattern in ("all-gather", "reduce-scatter"):
        proven(network, _core.Demand(hosts, 1000, pattern))
    plan_file = _core.Plan.decode(
        _core.Plan(
            network, planned.schedule, planned.waits, _core.Demand(hosts, 1000), planned.algorithm,
            planned.bound_phases, planned.bound_seconds, 0.0,
        ).encode()
    )  # fmt: skip
    again = plan_file.network
    assert (again.ports, again.forwards) == (ports, [1] * hosts)
    assert all(again.route(x, y) == network.route(x, y) for x in range(hosts) for y in range(hosts))


def test_a_ring_of_networkx_forwards() -> None:
    networkx = pytest.importorskip("networkx")
    network = hocket.Network.from_networkx(networkx.cycle_graph(4))
    assert network.hosts == ("0", "1", "2", "3")
    assert len(network.route(0, 2)) == 2
    again = hocket.Network.from_networkx(network.to_networkx())
    assert len(again.route(0, 2)) == 2


def test_hosts_that_cut_the_graph_are_named() -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.path_graph(3)
    networkx.set_node_attributes(graph, 1, "ranks")
    graph.add_edge(0, 2)
    graph.add_edge(2, 3)
    graph.nodes[3]["ranks"] = 1
    with pytest.raises(HocketError, match=r"do not forward lie between them.*forward = true"):
        hocket.Network.from_networkx(graph)


def test_ports_and_forwarding_in_a_file() -> None:
    network = read_network("examples/networks/ring.toml")
    assert (network.ports, network.forwards) == ([2] * 8, [1] * 8)
    assert read_network("examples/networks/ports.toml").ports == [4] * 16
