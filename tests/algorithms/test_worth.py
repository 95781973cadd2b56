"""Tests of which irregular exchanges gain by a schedule, and of the time of a schedule with tokens."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings

from hocket import _core
from irregular_cases import KILO, Case, cases
from strategies import PAPER_C, one_host, star

SIZE = 64 * KILO


def to_one(ranks: int, senders: int, size: int = SIZE) -> _core.Demand:
    return _core.Demand.irregular(ranks, list(range(1, senders + 1)), [0] * senders, [size] * senders)


@pytest.mark.parametrize(("degree", "worth"), [(6, False), (28, True)])
def test_few_flows_need_no_schedule(degree: int, worth: bool) -> None:
    """The networks and demands where posting everything takes 1.07 and 1.63 times the bound."""
    network = PAPER_C().build()
    shifts = Random(1).sample(range(1, 32), degree)
    pairs = [(src, (src + shift) % 32) for src in range(32) for shift in shifts]
    demand = _core.Demand.irregular(32, [a for a, _ in pairs], [b for _, b in pairs], [SIZE] * len(pairs))
    assert _core.worth_scheduling(network, demand) == worth


def test_small_messages_need_no_schedule() -> None:
    network = star(30).build()
    for size, worth in ((16383, False), (16384, True)):
        assert _core.worth_scheduling(network, to_one(30, 20, size)) == worth


def test_limits() -> None:
    network = star(30).build()
    demand = to_one(30, 10)
    assert not _core.worth_scheduling(network, demand)
    assert _core.worth_scheduling(network, demand, senders=10)
    assert not _core.worth_scheduling(network, demand, senders=11)
    assert _core.worth_scheduling(network, demand, flows=10)
    assert not _core.worth_scheduling(network, demand, flows=11)
    assert not _core.worth_scheduling(network, demand, message_bytes=SIZE + 1, flows=1)


def test_few_large_messages_are_few_flows() -> None:
    """Where few messages hold most of the bytes, the many small ones do not count."""
    network = star(40).build()
    sizes = [2048 * KILO] * 4 + [16 * KILO] * 30
    demand = _core.Demand.irregular(40, list(range(1, 35)), [0] * 34, sizes)
    assert not _core.worth_scheduling(network, demand)
    assert not _core.worth_scheduling(network, demand, senders=5)
    assert _core.worth_scheduling(network, demand, senders=4)


@pytest.mark.parametrize(("senders", "worth"), [(29, False), (31, True)])
def test_senders_count_where_their_host_is_a_bottleneck(senders: int, worth: bool) -> None:
    """Skewed demands: host 0 has most to take, from few; host 1 takes small messages from many, which gains
    nothing unless it is busy for three quarters of the time (30 messages)."""
    network = star(40).build()
    to_first = [(src, 0, 4 * SIZE) for src in range(30, 40)]
    to_second = [(src, 1, SIZE) for src in range(2, 2 + senders)]
    demand = _core.Demand.irregular(40, *map(list, zip(*to_first, *to_second, strict=True)))
    assert _core.worth_scheduling(network, demand) == worth
    assert not _core.worth_scheduling(network, demand, senders=32)


def test_what_crosses_no_wire_needs_no_schedule() -> None:
    network = one_host(40)
    inside = _core.Demand.irregular(40, list(range(1, 20)), [0] * 19, [SIZE] * 19)
    assert not _core.worth_scheduling(network, inside, flows=1, senders=1)
    nothing = _core.Demand.irregular(40, [], [], [])
    assert not _core.worth_scheduling(network, nothing, message_bytes=0, flows=0, senders=0)


@settings(max_examples=60, deadline=None)
@given(cases())
def test_tokens_never_take_longer_than_phases(case: Case) -> None:
    for name in ("RS_NL", "RS_NLH", "list", "critical"):
        schedule = _core.find_algorithm(name, "irregular").make(case.network, case.demand, seed=3)
        seconds = _core.token_seconds(case.network, schedule)
        assert seconds <= _core.lockstep_seconds(case.network, schedule) * (1 + 1e-9)
        ideal = _core.ModelParameters()
        simulated = _core.simulate(case.network, schedule, None, "token", ideal).seconds
        # Shares are the least that a message gets: in the simulation it also has what others leave.
        rel = 0.01 if case.network.equal_rates else 0.15
        assert seconds == pytest.approx(simulated, rel=rel, abs=2e-5 * (schedule.phases + 1))
