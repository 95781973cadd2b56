"""`critical`: phases without contention, cut messages, near the bound."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from hocket import _core
from irregular_cases import FIGURES, KILO, Case, cases, pressure, regular
from strategies import star

CRITICAL = _core.Algorithm.find("critical", "irregular")


@settings(max_examples=150, deadline=None)
@given(cases())
def test_phases_are_free_of_contention_and_complete(case: Case) -> None:
    schedule = CRITICAL.make(case.network, case.demand)
    certificate = _core.verify(case.network, case.demand, schedule)
    assert certificate.ok, certificate.findings
    # Observed, not proven: 1.31 in 4,000 cases.
    assert schedule.lockstep_seconds(case.network) <= 1.4 * pressure(case.network, case.demand)


@settings(max_examples=60, deadline=None)
@given(cases())
def test_a_message_ends_in_every_phase(case: Case) -> None:
    schedule = CRITICAL.make(case.network, case.demand)
    assert schedule.phases <= case.demand.messages
    left = {(src, dst): size for src, dst, size in case.demand.list()}
    ended = set()
    for phase, src, dst, *_, length in schedule.rows():
        left[src, dst] -= length
        if left[src, dst] == 0:
            ended.add(phase)
    assert ended == set(range(schedule.phases))


@settings(max_examples=30, deadline=None)
@given(cases())
def test_the_same_demand_gives_the_same_schedule(case: Case) -> None:
    first, again = (CRITICAL.make(case.network, case.demand) for _ in range(2))
    assert first.rows() == again.rows()


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("degree", [4, 16, 31])
@pytest.mark.parametrize("equal", [True, False])
def test_phases_come_near_the_bound(name: str, degree: int, equal: bool) -> None:
    network = FIGURES[name]()
    demand = regular(network.ranks, degree, seed=degree, equal=equal)
    schedule = CRITICAL.make(network, demand)
    assert schedule.lockstep_seconds(network) <= 1.1 * _core.lower_bounds(network, demand).one_port_seconds
    if equal:
        assert len(schedule) == demand.messages
    else:
        assert len(schedule) <= 1.7 * demand.messages


def test_messages_are_cut_where_whole_ones_leave_ports_idle() -> None:
    """Rows and columns of 4 MB; whole messages take 6 MB of time, whatever the phases."""
    sizes = [[3, 1, 0], [1, 1, 2], [0, 2, 2]]
    network = star(6).build()
    src, dst, mega = zip(*((i, 3 + j, sizes[i][j]) for i in range(3) for j in range(3)), strict=True)
    demand = _core.Demand.irregular(6, src, dst, [size << 20 for size in mega])
    schedule = CRITICAL.make(network, demand)
    assert len(schedule) > demand.messages
    assert schedule.lockstep_seconds(network) == pytest.approx(4 * 2**20 / network.host_rate)


def test_a_per_message_cost_makes_fewer_phases() -> None:
    network = FIGURES["torus"]()
    demand = regular(network.ranks, 16, seed=1)
    assert CRITICAL.make(network, demand, alpha=1.0).phases < CRITICAL.make(network, demand).phases


def test_messages_within_a_host_take_ports_that_are_idle() -> None:
    """Two hosts of two ranks: what stays within a host needs no phase of its own."""
    network = _core.Network.tree(["s", "a", "b"], [0, 2, 2], [0, 0], [1, 2], [1e8] * 2, [1e-6] * 2)
    demand = _core.Demand.irregular(4, [0, 1, 2, 3], [2, 0, 3, 1], [KILO] * 4)
    schedule = CRITICAL.make(network, demand)
    assert _core.verify(network, demand, schedule).ok
    assert schedule.phases == 1


def test_no_messages_no_phases() -> None:
    network = star(4).build()
    schedule = CRITICAL.make(network, _core.Demand.irregular(4, [], [], []))
    assert (schedule.phases, len(schedule)) == (0, 0)
