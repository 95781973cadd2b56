"""StrideGos: known times are reached, and executing the steps finds what the formula says."""

from __future__ import annotations

from functools import cache

import pytest
from hocket._papers import gossip
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core

# The best times known before, in units of one item over one link; reached or beaten.
KNOWN = [
    ([9], 16, 38),
    ([27], 16, 75),
    ([81], 16, 172),
    ([81], 64, 364),
    ([243], 64, 725),
    ([64], 16, 151.5),
    ([256], 16, 480),
    ([8, 8], 16, 83.8),
    ([9, 9], 64, 280),
    ([16, 16], 64, 467.5),
    ([27, 27], 64, 618),
    ([9, 9, 9], 64, 514),
]


@cache
def found(sides: tuple[int, ...], r: float, effort: int = 10_000_000) -> gossip.StridePlan:
    return gossip.search_stride(list(sides), r, effort)


def executes_as_it_says(plan: gossip.StridePlan) -> None:
    proof = gossip.prove(plan.sides, gossip.Plan(plan))
    assert proof["complete"] and proof["held"] and proof["ports_respected"]
    assert proof["redundant"] == 0
    assert proof["steps"] == len(plan.steps)
    assert proof["shared_volume"] == pytest.approx(plan.volume, abs=1e-9)


@pytest.mark.parametrize(("sides", "r", "known"), KNOWN)
def test_known_times_are_reached(sides: list[int], r: float, known: float) -> None:
    plan = gossip.search_stride(sides, r)
    assert plan.time(r) <= known
    assert plan.time(r) >= gossip.bound(sides, r)
    executes_as_it_says(plan)


def test_what_beats_the_known_times() -> None:
    # Strides that are no divisors, and tori whose steps use all axes.
    assert gossip.search_stride([64], 16).time(16) <= 150.5
    assert gossip.search_stride([256], 16).time(16) <= 475.5
    assert gossip.search_stride([16, 16], 64).time(64) <= 401.25


@pytest.mark.parametrize("n", [*range(1, 41), 48, 49, 61, 64, 100, 101, 127, 128, 243, 255, 256])
def test_rings_of_any_size(n: int) -> None:
    for r in (0.5, 16, 300):
        plan = found((n,), r, 2_000_000)
        executes_as_it_says(plan)
        assert plan.time(r) <= n // 2 * r + (n - 1) / 2  # approach 1


TORI = [
    (2, 2),
    (3, 5),
    (4, 16),
    (1, 5, 1, 4),
    (7, 7),
    (5, 7, 6),
    (2, 2, 2, 2),
    (32, 32),
    (31, 33),
    (4, 2, 100),
]


@pytest.mark.parametrize("sides", TORI)
@pytest.mark.parametrize("r", [1, 64])
def test_tori_of_any_sides(sides: tuple[int, ...], r: float) -> None:
    executes_as_it_says(found(sides, r, 2_000_000))


@pytest.mark.parametrize(
    ("windows", "n"), [([3, 3, 3], 27), ([5, 3], 15), ([9], 9), ([3, 4], 12), ([7, 5], 35), ([3, 8], 24)]
)
def test_windows_cost_what_the_formula_says(windows: list[int], n: int) -> None:
    steps, stride = [], n
    for g in windows:
        stride //= g
        steps += [gossip.StrideStep([stride])] * (g // 2)
    plan = gossip.StridePlan([n], steps)
    assert plan.volume == pytest.approx(sum(n / 2 * (1 - 1 / g) for g in windows))
    executes_as_it_says(plan)


def test_colours_share_the_axes_of_a_torus() -> None:
    # Windows of three on two axes in turns; with M items held, a step loads a channel with M·s/2.
    steps = [gossip.StrideStep([s, s], turn) for s in (3, 1) for turn in (0, 1)]
    plan = gossip.StridePlan([9, 9], steps)
    assert plan.volume == 1.5 + 4.5 + 4.5 + 13.5
    executes_as_it_says(plan)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_strides_that_reach_everyone_are_proved(data: st.DataObject) -> None:
    sides = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    steps = [
        gossip.StrideStep(
            [data.draw(st.integers(0, side // 2)) for side in sides], data.draw(st.integers(-1, len(sides)))
        )
        for _ in range(data.draw(st.integers(0, 8)))
    ]
    plan = gossip.StridePlan(sides, steps)
    if plan.volume < 0:
        with pytest.raises(_core.InputError, match="reach"):
            gossip.prove(sides, gossip.Plan(plan))
    else:
        executes_as_it_says(plan)


@pytest.mark.parametrize(
    "sides", [[4096], [4095], [4093], [64, 64], [16, 16, 16], [8, 8, 8, 8], [61, 67], [2, 2048]]
)
@pytest.mark.timeout(60)  # a second suffices; one that tries everything takes hours
def test_a_search_ends(sides: list[int]) -> None:
    assert gossip.search_stride(sides, 64).volume > 0


def test_a_search_finds_the_same_every_time() -> None:
    first, second = (gossip.search_stride([60], 20) for _ in range(2))
    assert [s.strides for s in first.steps] == [s.strides for s in second.steps]


@pytest.mark.parametrize("strides", [[5], [1, 1], []])
def test_strides_that_no_axis_has_are_refused(strides: list[int]) -> None:
    with pytest.raises(_core.InputError):
        gossip.StridePlan([9], [gossip.StrideStep(strides)])


def test_senseless_searches_are_refused() -> None:
    for sides, r in (([], -1), ([0], 1), ([4], -1), ([100000, 100000], 1)):
        with pytest.raises(_core.InputError):
            gossip.search_stride(sides, r)
