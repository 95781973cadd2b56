"""Edge colouring: as many phases as the busiest rank has messages (König)."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from hocket import _core
from irregular_cases import Case, cases, regular
from strategies import star


def busiest(demand: _core.Demand) -> int:
    sends, receives = Counter(m[0] for m in demand.list()), Counter(m[1] for m in demand.list())
    return max([*sends.values(), *receives.values()], default=0)


def check(network: _core.Network, demand: _core.Demand) -> None:
    schedule = _core.Algorithm.find("colouring", "irregular").make(network, demand)
    certificate = _core.verify(network, demand, schedule)
    assert certificate.complete, certificate.findings
    assert set(certificate.counts) <= {"channel overfull"}
    assert len(schedule) == demand.messages
    assert schedule.phases == busiest(demand)


@given(case=cases())
@examples(max_examples=150)
def test_exactly_the_largest_degree(case: Case) -> None:
    check(case.network, case.demand)


@given(st.integers(1, 40), st.floats(0, 1), st.integers(0, 3), st.integers(0, 2**32 - 1))
@examples(max_examples=150)
def test_unequal_degrees(ranks: int, share: float, heavy: int, seed: int) -> None:
    """Some ranks have far more messages than the others."""
    rng = Random(seed)
    pairs = [
        (src, dst)
        for src in range(ranks)
        for dst in range(ranks)
        if src < heavy or dst < heavy or rng.random() < share * share
    ]
    src, dst = [a for a, _ in pairs], [b for _, b in pairs]
    check(star(ranks).build(), _core.Demand.irregular(ranks, src, dst, [1] * len(pairs)))


@pytest.mark.parametrize("degree", [1, 2, 3, 7, 15, 16, 17, 31, 33, 63])
def test_regular_demands(degree: int) -> None:
    check(star(64).build(), regular(64, degree, seed=degree))
