"""Lower bounds: the figures of the specification, and that nothing which executes goes below them."""

from __future__ import annotations

import math

import pytest
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
    assert _core.gossip_bound([n], r) == pytest.approx(expected, abs=0.0501)


@pytest.mark.parametrize(("sides", "r", "expected"), TORI)
def test_tori(sides: list[int], r: float, expected: float) -> None:
    assert _core.gossip_bound(sides, r) == pytest.approx(expected, abs=0.0501)
    assert _core.gossip_synchronous_bound(sides, r) == _core.gossip_bound(sides, r)


def test_a_corner_limits_a_mesh() -> None:
    # 4x4: four ports at most, two channels into a corner.
    assert _core.gossip_synchronous_bound([4, 4], 10, False) == 10 * 2 + 15 / 2
    assert _core.gossip_synchronous_bound([5], 10, False) == 10 * 2 + 4
    # 2x2: no processor has more than two ports.
    assert _core.gossip_synchronous_bound([2, 2], 10, False) == 10 * 2 + 3 / 2


def test_any_schedule_may_overlap_startups() -> None:
    assert _core.gossip_asynchronous_bound([8, 8], 16) == 48
    assert _core.gossip_asynchronous_bound([8, 8], 0.1) == pytest.approx(0.1 + 63 / 4)


@pytest.mark.parametrize("sides", [[1], [1, 1], [1, 1, 1]])
def test_one_processor_needs_nothing(sides: list[int]) -> None:
    assert _core.gossip_bound(sides, 5) == 0
    assert _core.gossip_asynchronous_bound(sides, 5) == 0


@pytest.mark.parametrize("r", [-1, math.nan, math.inf])
def test_a_senseless_r_is_refused(r: float) -> None:
    with pytest.raises(_core.InputError):
        _core.gossip_bound([4, 4], r)
    with pytest.raises(_core.InputError):
        _core.gossip_ring_bound(4, r)


@given(st.floats(1e-9, 4))
def test_the_inverse_never_rounds_up(share: float) -> None:
    drop = _core.gossip_potential_drop(share)
    back = _core.gossip_inverse_potential_drop(drop)
    assert back == pytest.approx(share, rel=1e-9)
    assert _core.gossip_potential_drop(back) <= drop


@given(st.integers(2, 5000), st.floats(0, 1e6))
def test_bounds_agree_with_each_other(n: int, r: float) -> None:
    ring = _core.gossip_ring_bound(n, r)
    least = (n - 1) / 2
    # Approach 1 exists, and Lemma 1 holds as well.
    assert least <= ring <= n // 2 * r + least + 1e-6
    assert _core.gossip_bound([n], r) >= max(ring, _core.gossip_asynchronous_bound([n], r)) - 1e-9


def test_the_potential_of_an_item_falls_by_no_more_than_the_bound_says() -> None:
    # What one holder per gap can do at best: split a gap of G in the ratio x : 1 - 2x : x for the
    # price of 2x of it. Per unit of gap that lowers sum ln(gap!) by this, Stirling's way.
    for x in (i / 300 for i in range(1, 100)):
        entropy = -2 * x * math.log(x) - (1 - 2 * x) * math.log(1 - 2 * x)
        assert entropy <= _core.gossip_potential_drop(2 * x) + 1e-12
