"""`critical`: phases without contention, cut messages, near the bound."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings

from hocket import _core
from irregular_cases import KILO, Case, cases, pressure
from strategies import PAPER_B, PAPER_C, star

CRITICAL = _core.find_scheduler("critical", "irregular")


def regular(ranks: int, degree: int, seed: int, equal: bool = False) -> _core.Demand:
    """Everyone sends to `degree` others and hears from as many: the next ones after a shuffle."""
    rng = Random(seed)
    place = rng.sample(range(ranks), ranks)
    shifts = rng.sample(range(1, ranks), degree)
    pairs = [(place[i], place[(i + shift) % ranks]) for i in range(ranks) for shift in shifts]
    sizes = [64 * KILO * (1 if equal else rng.randint(1, 8)) for _ in pairs]
    return _core.Demand.irregular(ranks, [i for i, _ in pairs], [j for _, j in pairs], sizes)


@settings(max_examples=150, deadline=None)
@given(cases())
def test_phases_are_free_of_contention_and_complete(case: Case) -> None:
    schedule = CRITICAL.make(case.network, case.demand)
    certificate = _core.verify(case.network, case.demand, schedule)
    assert certificate.ok, certificate.findings
    load, longest = pressure(case.network, case.demand)
    # Never seen above: the phases of resources that nobody can serve at once.
    assert _core.lockstep_seconds(case.network, schedule) <= 1.5 * load + longest


@settings(max_examples=60, deadline=None)
@given(cases())
def test_a_message_ends_in_every_phase(case: Case) -> None:
    schedule = CRITICAL.make(case.network, case.demand)
    assert schedule.phases <= case.demand.messages
    left = Counter({(src, dst): size for src, dst, size in case.demand.list()})
    transfer = 0
    for phase in range(schedule.phases):
        ended = 0
        for src, dst in schedule.phase(phase):
            left[src, dst] -= sum(piece[3] for piece in schedule.pieces(transfer))
            ended += left[src, dst] == 0
            transfer += 1
        assert ended > 0


@settings(max_examples=30, deadline=None)
@given(cases())
def test_the_same_demand_gives_the_same_schedule(case: Case) -> None:
    first, again = (CRITICAL.make(case.network, case.demand) for _ in range(2))
    assert [first.phase(p) for p in range(first.phases)] == [again.phase(p) for p in range(again.phases)]
    assert [first.pieces(i) for i in range(len(first))] == [again.pieces(i) for i in range(len(again))]


NETWORKS = {
    "torus": lambda: _core.build_grid("torus", [8, 8], 1.25e8, 1e-6),
    "hypercube": lambda: _core.build_grid("hypercube", [6], 1.25e8, 1e-6),
    "tree b": lambda: PAPER_B().build(),
    "tree c": lambda: PAPER_C().build(),
}


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("degree", [4, 16, 31])
@pytest.mark.parametrize("equal", [True, False])
def test_phases_come_near_the_bound(name: str, degree: int, equal: bool) -> None:
    network = NETWORKS[name]()
    demand = regular(network.ranks, degree, seed=degree, equal=equal)
    schedule = CRITICAL.make(network, demand)
    assert _core.lockstep_seconds(network, schedule) <= 1.15 * _core.lower_bounds(network, demand).seconds
    if equal:
        assert len(schedule) == demand.messages
    else:
        assert len(schedule) <= 2.5 * demand.messages


def test_a_long_message_is_cut_beside_short_ones() -> None:
    """Two short messages into one rank and a long one into another: without a cut their sender would idle."""
    network = star(4).build()
    demand = _core.Demand.irregular(4, [0, 1, 1, 2, 2], [3, 0, 3, 0, 3], [4 << 20, 3 << 20, 1 << 20, 1 << 20, 3 << 20])
    schedule = CRITICAL.make(network, demand)
    assert _core.lockstep_seconds(network, schedule) == pytest.approx(_core.lower_bounds(network, demand).seconds)


def test_a_startup_makes_fewer_phases() -> None:
    network = NETWORKS["torus"]()
    demand = regular(network.ranks, 16, seed=1)
    assert CRITICAL.make(network, demand, startup=1.0).phases < CRITICAL.make(network, demand).phases


def test_messages_within_a_host_take_ports_that_are_idle() -> None:
    """Two hosts of two ranks: what stays within a host needs no phase of its own."""
    network = _core.build_network(["s", "a", "b"], [0, 2, 2], [0, 0], [1, 2], [1e8] * 2, [1e-6] * 2)
    demand = _core.Demand.irregular(4, [0, 1, 2, 3], [2, 0, 3, 1], [KILO] * 4)
    schedule = CRITICAL.make(network, demand)
    assert _core.verify(network, demand, schedule).ok
    assert schedule.phases == 1


def test_no_messages_no_phases() -> None:
    network = star(4).build()
    schedule = CRITICAL.make(network, _core.Demand.irregular(4, [], [], []))
    assert (schedule.phases, len(schedule)) == (0, 0)
