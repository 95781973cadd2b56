"""Phases that ranks agree on with their partners: each port once a phase, in few rounds, with little memory."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import settings as examples

from hocket import _core
from irregular_cases import Case, cases, regular
from strategies import star


def random_demand(ranks: int, degree: int, seed: int) -> _core.Demand:
    """Random demand: each rank sends to `degree` others; some receive more."""
    lot = Random(seed)
    pairs = [
        (src, (src + step) % ranks) for src in range(ranks) for step in lot.sample(range(1, ranks), degree)
    ]
    return _core.Demand.irregular(ranks, [a for a, _ in pairs], [b for _, b in pairs], [64] * len(pairs))


def make(network: _core.Network, demand: _core.Demand, seed: int = 1) -> _core.Schedule:
    return _core.Algorithm.find("proposals", "irregular").make(network, demand, seed=seed)


@given(case=cases())
@examples(max_examples=80)
def test_every_byte_once_and_no_port_twice(case: Case) -> None:
    schedule = make(case.network, case.demand)
    certificate = _core.verify(case.network, case.demand, schedule)
    assert certificate.complete, certificate.findings
    assert set(certificate.counts) <= {"channel overfull"}
    assert len(schedule) == case.demand.messages
    begin = schedule.phase_begin()
    assert all(a < b for a, b in pairwise(begin))


def test_the_seed_decides() -> None:
    network, demand = star(16).build(), regular(16, 6, seed=3)
    first, again, other = (make(network, demand, seed).rows() for seed in (7, 7, 8))
    assert first == again != other


@pytest.mark.parametrize(("ranks", "degree"), [(64, 8), (512, 8), (512, 32), (2048, 16)])
def test_few_rounds_few_phases_and_little_memory(ranks: int, degree: int) -> None:
    for seed in range(3):
        demand = random_demand(ranks, degree, seed)
        found = _core.propose(demand, seed)
        received = [0] * ranks
        for _, dst, _ in demand.list():
            received[dst] += 1
        bound = max(degree, *received)
        assert bound <= found.phases <= 1.25 * bound + 2
        assert found.rounds <= 20
        # A proposal for each message, and some for those that were refused.
        assert degree < found.most_exchanged <= 3 * (degree + bound)
        assert found.most_bytes < 64 * bound


def test_rounds_hardly_grow_with_the_ranks() -> None:
    few, many = (_core.propose(random_demand(ranks, 8, 1), 1).rounds for ranks in (128, 4096))
    assert many <= few + 6


def test_nothing_to_agree_on() -> None:
    found = _core.propose(_core.Demand.irregular(3, [], [], []))
    assert (found.phases, found.rounds, found.most_exchanged, list(found.phase_of)) == (0, 0, 0, [])
    with pytest.raises(_core.InputError, match="irregular demands"):
        _core.propose(_core.Demand(3, 64))
