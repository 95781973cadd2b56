"""All-to-alls in which ranks pass parts of messages on, where hosts forward."""

from __future__ import annotations

from random import Random

import pytest

from forwarding_hosts import DGX1, Links, hosts_of, random_links, ring
from hocket import _core
from hocket.planning.bounds import free_routes
from hocket.planning.plan import plan_demand

RATE = 125e6
BYTES = 3 << 18
NEAR_ENOUGH = 1.02  # of the bound: then nothing else is tried


def linked(links: Links, ports: int = 16, switches: int = 0) -> _core.Network:
    """Hosts that forward, with links of so many units; the last nodes are ``switches``."""
    hosts = hosts_of(links) - switches
    names = [f"n{i}" for i in range(hosts)] + [f"s{i}" for i in range(switches)]
    a, b, units = ([link[i] for link in links] for i in range(3))
    ranks, all_ports = [1] * hosts + [0] * switches, [ports] * hosts + [1] * switches
    rates = [RATE * unit for unit in units]
    return _core.Network.graph(names, ranks, a, b, rates, [0.0] * len(a), [], all_ports, ranks)


def planned(network: _core.Network, algorithm: str = "relays", bytes: int = BYTES) -> _core.Plan:
    found = plan_demand(network, _core.Demand(network.ranks, bytes), algorithm)
    assert found.certificate.ok, found.certificate.findings[:3]
    return found


def over_bound(plan: _core.Plan) -> float:
    free = free_routes(plan.network, plan.demand)
    assert free is not None
    assert plan.predicted_seconds >= plan.bound_seconds * (1 - 1e-9)
    return plan.predicted_seconds / free.seconds


def test_a_dgx1_takes_eight_thirds() -> None:
    """Eight steps of thirds (Cai et al., "Synthesizing optimal collective algorithms", 2021), by default."""
    plan = planned(linked(DGX1), "auto")
    assert (plan.algorithm, plan.schedule.phases) == ("relays", 8)
    assert plan.predicted_seconds == pytest.approx(8 / 3 * BYTES / RATE, rel=1e-12)


@pytest.mark.parametrize("hosts", [6, 8, 9, 16])
def test_rings_meet_the_bound(hosts: int) -> None:
    assert over_bound(planned(linked(ring(hosts)), "auto")) == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("seed", range(24))
def test_random_hosts_come_near_the_bound(seed: int) -> None:
    assert over_bound(planned(linked(random_links(seed)))) <= 1.05


def test_32_hosts_of_three_links() -> None:
    rng = Random(3)
    while True:
        stubs = [host for host in range(32) for _ in range(3)]
        rng.shuffle(stubs)
        pairs = {tuple(sorted(pair)) for pair in zip(stubs[::2], stubs[1::2], strict=True)}
        if len(pairs) == 48 and all(a != b for a, b in pairs):
            break
    assert over_bound(planned(linked([(a, b, 1) for a, b in sorted(pairs)]))) <= 1.05


def test_two_boxes_behind_a_switch() -> None:
    """Rings of four with two units, and a card of one unit each on a common switch."""
    inside = [(4 * box + i, 4 * box + (i + 1) % 4, 2) for box in range(2) for i in range(4)]
    network = linked([*inside, *((host, 8, 1) for host in range(8))], switches=1)
    assert over_bound(planned(network)) <= 1.05


def test_small_messages_are_not_cut() -> None:
    assert all(length == 100 for *_, length in planned(linked(ring(6)), bytes=100).schedule.rows())


def test_the_same_hosts_have_the_same_schedule() -> None:
    network = linked(random_links(5))
    assert planned(network).schedule.rows() == planned(network).schedule.rows()


@pytest.mark.parametrize(
    ("network", "why"),
    [
        (_core.Network.grid("torus", [8], RATE, 0.0), "no host forwards"),
        (
            linked([(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 0, 1)], ports=1),
            "a host has fewer ports than links",
        ),
    ],
)
def test_who_is_not_served(network: _core.Network, why: str) -> None:
    found = _core.Algorithm.find("relays", "all-to-all")
    assert found.why_not(network, _core.Demand(network.ranks, BYTES)) == why


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.slow] * (seed > 9)) for seed in range(24)]
)
def test_whatever_is_faster_is_taken(seed: int) -> None:
    """Relays where they are, and never where messages are to go whole."""
    network = linked(random_links(seed))
    chosen, whole = (
        planned(network, "auto"),
        plan_demand(network, _core.Demand(network.ranks, BYTES), whole=True),
    )
    assert whole.schedule.direct
    least = min(planned(network).predicted_seconds, whole.predicted_seconds)
    assert chosen.predicted_seconds <= NEAR_ENOUGH * least


def test_messages_that_go_whole_are_not_cut_by_name() -> None:
    with pytest.raises(_core.InputError, match="'relays' cannot serve this: it cuts messages"):
        plan_demand(linked(DGX1), _core.Demand(8, BYTES), "relays", whole=True)


def test_hosts_send_over_their_own_link_to_a_neighbour() -> None:
    """Balanced routes would lead past a slow link, which ranks could then not use."""
    network = linked(DGX1)
    for a, b, _ in DGX1:
        assert len(network.route(a, b)) == len(network.route(b, a)) == 1
