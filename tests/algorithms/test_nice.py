"""The six algorithms of NICE (Wang, Lin and Ranka, section 3)."""

from __future__ import annotations

import sys
from itertools import pairwise
from math import log2
from pathlib import Path
from random import Random
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import settings as examples

from hocket import _core
from irregular_cases import FIGURES, KILO, Case, cases, regular
from strategies import one_host, star

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "irregular"))
from testsets import demand as demand_of
from testsets import random_matrix

NAMES = ("AC", "LP", "RS_N", "RS_NL", "RS_NH", "RS_NLH")
SPLITTING = ("RS_NH", "RS_NLH")
CONTENTION = {"send port overfull", "receive port overfull", "channel overfull"}
LINKS_ONLY = {"channel overfull"}
ALLOWED = {"AC": CONTENTION, "LP": LINKS_ONLY, "RS_N": LINKS_ONLY, "RS_NH": LINKS_ONLY}


def make(name: str, network: _core.Network, demand: _core.Demand, seed: int = 1) -> _core.Schedule:
    return _core.Algorithm.find(name, "irregular").make(network, demand, seed=seed)


def dense(ranks: int) -> _core.Demand:
    pairs = [(src, dst) for src in range(ranks) for dst in range(ranks) if src != dst]
    return _core.Demand.irregular(ranks, [a for a, _ in pairs], [b for _, b in pairs], [KILO] * len(pairs))


def uneven(kind: str, ranks: int, degree: int, seed: int) -> _core.Demand:
    """A regular demand of 1 … 8 units per message, or of a few large messages and many small ones."""
    rng = Random(seed)
    size = {
        "units": lambda: 64 * KILO * rng.randint(1, 8),
        "skewed": lambda: min(4 * KILO**2, int(4 * KILO / (1 - rng.random()) ** 0.8)),
    }[kind]
    src, dst, _ = zip(*regular(ranks, degree, seed).list(), strict=True)
    return _core.Demand.irregular(ranks, src, dst, [size() for _ in src])


@pytest.mark.parametrize("name", NAMES)
@given(case=cases())
@examples(max_examples=80)
def test_every_byte_once_and_only_the_contention_that_is_said(name: str, case: Case) -> None:
    schedule = make(name, case.network, case.demand)
    certificate = _core.verify(case.network, case.demand, schedule)
    assert certificate.complete, certificate.findings
    assert set(certificate.counts) <= ALLOWED.get(name, set()), certificate.findings
    assert name in SPLITTING or len(schedule) == case.demand.messages
    assert all(begin < end for begin, end in pairwise(schedule.phase_begin()))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_small_networks_and_nothing_to_send(name: str, ranks: int) -> None:
    network = one_host(ranks)
    nothing = _core.Demand.irregular(ranks, [0, 0], [0, ranks - 1], [5, 0])
    assert make(name, network, nothing).phases == 0
    assert _core.verify(network, dense(ranks), make(name, network, dense(ranks))).complete


def test_asynchronous_is_one_phase_in_the_order_of_rows() -> None:
    demand = regular(10, 3, seed=1)
    rows = make("AC", star(10).build(), demand).rows()
    assert [(row[0], row[1], row[2], row[6]) for row in rows] == [(0, *message) for message in demand.list()]


@pytest.mark.parametrize("ranks", range(2, 18))
def test_linear_permutation_exchanges_by_pairs_in_the_fewest_phases(ranks: int) -> None:
    schedule = make("LP", star(ranks).build(), dense(ranks))
    assert schedule.phases == ranks - 1 + ranks % 2
    phase_of = {(row[1], row[2]): row[0] for row in schedule.rows()}
    assert all(phase_of[src, dst] == phase_of[dst, src] for src, dst in phase_of)
    if ranks & (ranks - 1) == 0:  # figure 5
        assert all(phase == (src ^ dst) - 1 for (src, dst), phase in phase_of.items())


@pytest.mark.parametrize(("ranks", "degree"), [(64, 4), (64, 16), (64, 32), (256, 8), (1024, 4)])
def test_random_scheduling_takes_few_phases(ranks: int, degree: int) -> None:
    """Section 3.3 expects d + log d."""
    network = star(ranks).build()
    demands = [demand_of(random_matrix(ranks, degree, "uniform", seed)) for seed in range(5)]
    phases = [make("RS_N", network, demand, seed).phases for seed, demand in enumerate(demands)]
    assert min(phases) >= degree
    assert mean(phases) <= 1.1 * (degree + log2(degree))


@pytest.mark.parametrize("name", NAMES)
def test_the_seed_decides_and_nothing_else(name: str) -> None:
    network, demand = star(16).build(), regular(16, 6, seed=3)
    first, again, other = (make(name, network, demand, seed).rows() for seed in (7, 7, 8))
    assert first == again
    assert (first == other) == (name in ("AC", "LP"))


@pytest.mark.parametrize("kind", ["units", "skewed"])
@pytest.mark.parametrize(("plain", "even"), [("RS_N", "RS_NH"), ("RS_NL", "RS_NLH")])
def test_splitting_saves_time_where_sizes_differ(plain: str, even: str, kind: str) -> None:
    network = FIGURES["torus"]() if "L" in plain else star(64).build()
    saved, splits = [], []
    for seed in range(4):
        demand = uneven(kind, 64, 16, seed)
        whole, split = make(plain, network, demand, seed), make(even, network, demand, seed)
        saved.append(split.lockstep_seconds(network) / whole.lockstep_seconds(network))
        splits.append(len(split) / demand.messages - 1)
    assert mean(saved) < 0.8
    assert mean(splits) < 1.5


@pytest.mark.parametrize("name", SPLITTING)
def test_equal_sizes_are_not_split_and_small_rests_go_along(name: str) -> None:
    network = star(32).build()
    equal = regular(32, 8, seed=2, equal=True)
    assert len(make(name, network, equal)) == equal.messages
    demand = uneven("skewed", 32, 8, seed=2)
    least = demand.total_bytes // demand.messages // 5
    rests = [length for *_, src, dst, offset, length in make(name, network, demand).rows() if offset > 0]
    ends = [
        length
        for *_, src, dst, offset, length in make(name, network, demand).rows()
        if offset > 0 and offset + length == demand.size(src, dst)
    ]
    assert len(rests) >= len(ends) > 0
    assert min(ends) >= least


@pytest.mark.parametrize("name", SPLITTING)
def test_dear_alphas_make_fewer_pieces(name: str) -> None:
    network, demand = star(32).build(), uneven("units", 32, 8, seed=2)
    algorithm = _core.Algorithm.find(name, "irregular")
    alphas = (0, 64 * KILO / 1.25e8, 1.0)
    pieces = [len(algorithm.make(network, demand, alpha=alpha)) for alpha in alphas]
    assert pieces[0] > pieces[1] > pieces[2] == demand.messages
