"""Open shop: the phases together last as long as the busiest rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from random import Random
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from hocket import _core
from irregular_cases import KILO, LOADS, Case, cases, random_demand, regular
from strategies import star

SIZES: dict[str, Callable[[Random], int]] = {
    "units": lambda rng: 64 * KILO * rng.randint(1, 8),
    "bytes": lambda rng: rng.randint(64 * KILO, 512 * KILO),
    "from one byte on": lambda rng: rng.randint(1, 4_000_000),
    "skewed": lambda rng: min(4 * KILO**2, int(4 * KILO / (1 - rng.random()) ** 0.8)),
    "huge skew": lambda rng: rng.choice([1, 2, 3, 2**40, 2**50 + 1]),
}


def largest_sum(demand: _core.Demand) -> int:
    out: Counter[int] = Counter()
    into: Counter[int] = Counter()
    for src, dst, size in demand.list():
        out[src] += size
        into[dst] += size
    return max([*out.values(), *into.values()], default=0)


def resized(demand: _core.Demand, size: Callable[[Random], int], seed: int) -> _core.Demand:
    rng = Random(seed)
    messages = demand.list()
    return _core.Demand.irregular(
        demand.ranks, [m[0] for m in messages], [m[1] for m in messages], [size(rng) for _ in messages]
    )


def planned(network: _core.Network, demand: _core.Demand) -> _core.Schedule:
    schedule = _core.Algorithm.find("open-shop", "irregular").make(network, demand)
    certificate = _core.verify(network, demand, schedule)
    assert certificate.complete, certificate.findings
    assert set(certificate.counts) <= {"channel overfull"}
    return schedule


def sum_of_longest(schedule: _core.Schedule) -> int:
    """Bytes of the largest transfer of each phase, added up."""
    begins, lengths = schedule.phase_begin(), schedule.lengths()
    return sum(max(lengths[begin:end], default=0) for begin, end in pairwise(begins))


def keeps_its_word(schedule: _core.Schedule, demand: _core.Demand) -> None:
    """Exact, or at most 1 % longer; then coarse units save splits."""
    total, least = sum_of_longest(schedule), largest_sum(demand)
    assert least <= total <= 1.01 * least
    if len(schedule) > 3 * demand.messages:
        assert total > least


@given(case=cases())
@examples(max_examples=100)
def test_any_network_and_demand(case: Case) -> None:
    keeps_its_word(planned(case.network, case.demand), case.demand)


@given(st.integers(1, 12), st.sampled_from(LOADS), st.sampled_from(sorted(SIZES)), st.integers(0, 2**32 - 1))
@examples(max_examples=150)
def test_any_sizes(ranks: int, load: str, sizes: str, seed: int) -> None:
    demand = resized(random_demand(Random(seed), ranks, load), SIZES[sizes], seed)
    keeps_its_word(planned(star(ranks).build(), demand), demand)


@pytest.mark.parametrize(("ranks", "degree"), [(16, 4), (32, 8), (32, 31), (64, 16)])
def test_sizes_of_few_units_are_exact_and_hardly_split(ranks: int, degree: int) -> None:
    network, splits = star(ranks).build(), []
    for seed in range(3):
        demand = resized(regular(ranks, degree, seed), SIZES["units"], seed)
        schedule = planned(network, demand)
        assert sum_of_longest(schedule) == largest_sum(demand)
        bound = _core.lower_bounds(network, demand).seconds
        assert schedule.lockstep_seconds(network) == pytest.approx(bound)
        splits.append(len(schedule) / demand.messages - 1)
    assert mean(splits) < 0.5


@pytest.mark.parametrize("sizes", ["bytes", "from one byte on", "skewed"])
@pytest.mark.parametrize(("ranks", "degree"), [(16, 4), (32, 8), (32, 31), (64, 16)])
def test_two_splits_per_message_are_enough(sizes: str, ranks: int, degree: int) -> None:
    splits = []
    for seed in range(3):
        demand = resized(regular(ranks, degree, seed), SIZES[sizes], seed)
        schedule = planned(star(ranks).build(), demand)
        keeps_its_word(schedule, demand)
        splits.append(len(schedule) / demand.messages - 1)
    assert mean(splits) <= 2


def test_equal_sizes_are_not_split() -> None:
    demand = regular(32, 9, seed=1, equal=True)
    schedule = planned(star(32).build(), demand)
    assert len(schedule) == demand.messages
    assert schedule.phases == 9
