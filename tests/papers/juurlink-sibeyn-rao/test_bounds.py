"""Lower bounds: the figures of the specification, and that nothing which executes goes below them."""

from __future__ import annotations

import math
from itertools import permutations

import pytest
from hocket._papers import gossip
from hypothesis import given
from hypothesis import strategies as st

from hocket import _core

# Lemma 1 and Theorem 1, to the digits known.
RINGS = [
    (9, 16, 36),
    (27, 16, 61),
    (81, 16, 111.5),
    (81, 64, 303.5),
    (243, 64, 512),
    (64, 16, 97.9),
    (256, 16, 283.9),
]
TORI = [
    ([8, 8], 16, 63.8),
    ([9, 9], 64, 212),
    ([16, 16], 64, 319.8),
    ([27, 27], 64, 502),
    ([9] * 3, 64, 377.3),
]


@pytest.mark.parametrize(("n", "r", "expected"), RINGS)
def test_rings(n: int, r: float, expected: float) -> None:
    assert gossip.bound([n], r) == pytest.approx(expected, abs=0.0501)


@pytest.mark.parametrize(("sides", "r", "expected"), TORI)
def test_tori(sides: list[int], r: float, expected: float) -> None:
    assert gossip.bound(sides, r) == pytest.approx(expected, abs=0.0501)
    assert gossip.synchronous_bound(sides, r) == gossip.bound(sides, r)


def test_a_corner_limits_a_mesh() -> None:
    # 4x4: four ports at most, two channels into a corner.
    assert gossip.synchronous_bound([4, 4], 10, False) == 10 * 2 + 15 / 2
    assert gossip.synchronous_bound([5], 10, False) == 10 * 2 + 4
    # 2x2: no processor has more than two ports.
    assert gossip.synchronous_bound([2, 2], 10, False) == 10 * 2 + 3 / 2


def test_any_schedule_may_overlap_alphas() -> None:
    assert gossip.asynchronous_bound([8, 8], 16) == 48
    assert gossip.asynchronous_bound([8, 8], 0.1) == pytest.approx(0.1 + 63 / 4)


HALF_DUPLEX = [
    [2],
    [3],
    [4],
    [7],
    [12],
    [27],
    [64],
    [2, 2],
    [4, 6],
    [5, 5],
    [8, 8],
    [1, 9],
    [3, 3, 3],
    [4, 4, 4],
]


def test_half_duplex_steps_are_powers_of_the_golden_ratio() -> None:
    golden = (1 + math.sqrt(5)) / 2
    assert gossip.fewest_half_duplex_steps(1) == 0
    for n in range(2, 5000):
        assert gossip.fewest_half_duplex_steps(n) == math.ceil(math.log(n, golden))


def test_half_duplex_steps_against_all_gossips_of_few_processors() -> None:
    for n in (2, 3, 4):
        known, steps = {tuple(1 << i for i in range(n))}, 0
        while not any(all(bits == (1 << n) - 1 for bits in state) for state in known):
            known = {after for state in known for after in _steps_of_disjoint_calls(state)}
            steps += 1
        assert gossip.fewest_half_duplex_steps(n) <= steps
        assert steps > math.ceil(math.log2(n)), "doubling alone would be too weak a bound"


def _steps_of_disjoint_calls(state: tuple[int, ...]) -> set[tuple[int, ...]]:
    found = {state}
    for src, dst in permutations(range(len(state)), 2):
        after = list(state)
        after[dst] |= state[src]
        found.add(tuple(after))
        others = [i for i in range(len(state)) if i not in (src, dst)]
        for a, b in permutations(others, 2):
            found.add(tuple(after[i] | state[a] if i == b else after[i] for i in range(len(state))))
    return found


@pytest.mark.parametrize("sides", HALF_DUPLEX)
@pytest.mark.parametrize("wraparound", [True, False])
@pytest.mark.parametrize("r", [0, 0.5, 20, 1e4])
def test_half_duplex_candidates_respect_their_bound(sides: list[int], wraparound: bool, r: float) -> None:
    n = math.prod(sides)
    bound = gossip.bound(sides, r, wraparound, half_duplex=True)
    # Half of the processors receive in a step: volume; the other half sends.
    steps = gossip.fewest_half_duplex_steps(n)
    assert bound == pytest.approx(r * steps + n * (n - 1) / (n // 2))
    assert bound >= gossip.bound(sides, r, wraparound)
    plans = gossip.candidates(sides, r, wraparound=wraparound, half_duplex=True)
    assert plans and all(plan.bound == bound and plan.time >= bound - 1e-9 for plan in plans)


@pytest.mark.parametrize("sides", [[2], [4], [12], [64], [4, 6], [16, 16], [4, 4, 4]])
def test_the_half_duplex_bound_is_reached_without_alphas(sides: list[int]) -> None:
    assert gossip.best(sides, 0, half_duplex=True).ratio == pytest.approx(1)


def test_two_half_duplex_processors_reach_their_bound() -> None:
    assert gossip.best([2], 7, half_duplex=True).time == gossip.bound([2], 7, half_duplex=True) == 2 * 7 + 2


@pytest.mark.parametrize("sides", [[1], [1, 1], [1, 1, 1]])
def test_one_processor_needs_nothing(sides: list[int]) -> None:
    assert gossip.bound(sides, 5) == gossip.bound(sides, 5, half_duplex=True) == 0
    assert gossip.asynchronous_bound(sides, 5) == 0


@pytest.mark.parametrize("r", [-1, math.nan, math.inf])
def test_a_senseless_r_is_refused(r: float) -> None:
    with pytest.raises(_core.InputError):
        gossip.bound([4, 4], r)
    with pytest.raises(_core.InputError):
        gossip.ring_bound(4, r)


@given(st.floats(1e-9, 4))
def test_the_inverse_never_rounds_up(share: float) -> None:
    drop = gossip.potential_drop(share)
    back = gossip.inverse_potential_drop(drop)
    assert back == pytest.approx(share, rel=1e-9)
    assert gossip.potential_drop(back) <= drop


@given(st.integers(2, 5000), st.floats(0, 1e6))
def test_bounds_agree_with_each_other(n: int, r: float) -> None:
    ring = gossip.ring_bound(n, r)
    least = (n - 1) / 2
    # Approach 1 exists, and Lemma 1 holds as well.
    assert least <= ring <= n // 2 * r + least + 1e-6
    assert gossip.bound([n], r) >= max(ring, gossip.asynchronous_bound([n], r)) - 1e-9


def test_the_potential_of_an_item_falls_by_no_more_than_the_bound_says() -> None:
    # One holder per gap can at best split a gap of G in the ratio x : 1 - 2x : x for the price of 2x of it.
    # Per unit of gap that lowers sum ln(gap!) by this, by Stirling's formula.
    for x in (i / 300 for i in range(1, 100)):
        entropy = -2 * x * math.log(x) - (1 - 2 * x) * math.log(1 - 2 * x)
        assert entropy <= gossip.potential_drop(2 * x) + 1e-12
