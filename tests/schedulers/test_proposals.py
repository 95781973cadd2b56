"""Phases that ranks agree on by proposals, as simulated in the core."""

from __future__ import annotations

import sys
from math import log2
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as examples

from hocket import _core
from irregular_cases import Case, cases, regular
from strategies import one_host, star

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "irregular"))
from testsets import demand as demand_of
from testsets import random_matrix


def make(network: _core.Network, demand: _core.Demand, seed: int = 1) -> _core.Schedule:
    return _core.find_scheduler("proposals", "irregular").make(network, demand, seed=seed)


def degree(demand: _core.Demand) -> int:
    sends, receives = [0] * demand.ranks, [0] * demand.ranks
    for src, dst, _ in demand.list():
        sends[src] += 1
        receives[dst] += 1
    return max(sends + receives)


@given(case=cases())
@examples(max_examples=150)
def test_every_message_once_in_partial_permutations(case: Case) -> None:
    schedule = make(case.network, case.demand)
    certificate = _core.verify(case.network, case.demand, schedule)
    assert certificate.complete, certificate.findings
    assert set(certificate.counts) <= {"channel overfull"}, certificate.findings
    assert len(schedule) == case.demand.messages
    assert schedule.phases <= max(2 * degree(case.demand) - 1, 0)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_nothing_to_send(ranks: int) -> None:
    nothing = _core.Demand.irregular(ranks, [0, 0], [0, ranks - 1], [5, 0])
    assert make(one_host(ranks), nothing).phases == 0
    run = _core.run_proposals(nothing)
    assert (run.phases, run.rounds, run.messages) == (0, 0, 0)


@pytest.mark.parametrize(("ranks", "density"), [(64, 4), (64, 16), (64, 32), (256, 8), (128, 100)])
def test_about_as_few_phases_as_with_the_whole_demand(ranks: int, density: int) -> None:
    """100 messages a rank need phases beyond the 64 that a reply tells about."""
    demand = demand_of(random_matrix(ranks, density, "uniform", seed=0))
    phases = make(star(ranks).build(), demand).phases
    assert density <= phases <= density + log2(density) + 1


def test_the_seed_decides_and_nothing_else() -> None:
    network, demand = star(24).build(), regular(24, 6, seed=3)
    first, again, other = (make(network, demand, seed).rows() for seed in (7, 7, 8))
    assert first == again != other


def test_the_clock_counts_messages_and_their_latency() -> None:
    demand = _core.Demand.irregular(2, [0, 1], [1, 0], [8, 8])
    run = _core.run_proposals(demand, overhead=1.0, latency=10.0)
    # Learning of sources, a proposal and a reply: each is sent, under way and received. After the first and in the end
    # a reduction and a broadcast, of one step each between two ranks. Further rounds of the four pass without messages.
    assert run.messages == 6
    assert run.seconds == 3 * (1 + 10 + 1) + 2 * 2 * (10 + 2)


def test_a_rank_holds_memory_for_its_own_messages_only() -> None:
    few, many = (_core.run_proposals(regular(ranks, 8, seed=1)) for ranks in (32, 512))
    assert many.bytes < 1.5 * few.bytes
    assert many.most_messages < 5 * few.most_messages


@pytest.mark.slow
def test_sixteen_thousand_ranks() -> None:
    """Specification of the schedules at the size of whole machines: at most 0.2 s with 32 messages per rank."""
    run = _core.run_proposals(regular(16_384, 32, seed=1))
    assert run.seconds < 0.2
