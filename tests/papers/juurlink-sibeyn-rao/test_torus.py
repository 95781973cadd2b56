"""Gossip on tori: axis after axis, and on diagonals."""

from __future__ import annotations

from random import Random

import pytest
from hocket._core import InputError
from hocket._papers import gossip

from gossip_checks import (
    APPROACH_1,
    APPROACH_2,
    check_cubgos,
    check_high_dim,
    circgos,
    filling,
    random_circgos,
    rounds,
)

ONE_ROUND = circgos(3, (3, 1))


@pytest.mark.parametrize(
    ("n", "d", "r", "all_1", "last_1", "all_2", "phases", "high_dim"),
    [
        (8, 2, 16, 143.75, 152, 218, [ONE_ROUND, APPROACH_1], 132),
        (9, 2, 64, 532, 541, 622, [ONE_ROUND, ONE_ROUND], 449),
        (16, 2, 64, 1087.75, 984, 1244, [circgos(6, (3, 1)), circgos(8, (2, 1))], 844.25),
        (27, 2, 64, 1846, 1438.5, 2084, [circgos(3, (3, 1), (3, 1)), circgos(9, (3, 2))], 1220),
        (9, 3, 64, 889 + 1 / 3, 949 + 1 / 3, 1435 + 1 / 3, [ONE_ROUND, ONE_ROUND, APPROACH_1], 791 + 1 / 3),
    ],
)
def test_worked_examples_by_axes(
    n: int,
    d: int,
    r: float,
    all_1: float,
    last_1: float,
    all_2: float,
    phases: list[gossip.RingPlan],
    high_dim: float,
) -> None:
    grid = gossip.Grid([n] * d)
    assert check_high_dim(grid, [APPROACH_1] * d).time(r) == pytest.approx(all_1)
    assert check_high_dim(grid, [APPROACH_2] * (d - 1) + [APPROACH_1]).time(r) == pytest.approx(last_1)
    assert check_high_dim(grid, [APPROACH_2] * d).time(r) == pytest.approx(all_2)
    assert check_high_dim(grid, phases).time(r) == pytest.approx(high_dim)


@pytest.mark.parametrize(
    ("n", "d", "r", "a", "pairs", "time"),
    [
        (8, 2, 16, 4, [(2, 1)], 136),
        (9, 2, 64, 3, [(3, 1)], 353.5),
        (16, 2, 64, 4, [(4, 2)], 736),
        (27, 2, 64, 3, [(3, 1), (3, 1)], 856),
        (9, 3, 64, 3, [(3, 1)], 596 + 1 / 3),
    ],
)
def test_worked_examples_on_diagonals(
    n: int, d: int, r: float, a: int, pairs: list[tuple[int, int]], time: float
) -> None:
    assert check_cubgos([n] * d, n // a, *pairs).time(r) == pytest.approx(time)


TORI = [
    *([n, n] for n in (2, 3, 4, 5, 7, 8, 9, 11, 16, 27, 32)),
    *([n, n, n] for n in (2, 3, 4, 5, 9)),
    [3, 3, 3, 3],
    [4, 4, 4, 4, 4],
    *([2, 8], [8, 2], [5, 9], [1, 7], [6, 4, 5], [3, 8, 2, 4]),
]


@pytest.mark.parametrize("sides", TORI, ids=str)
@pytest.mark.parametrize("coloured", [True, False])
def test_axis_after_axis(sides: list[int], coloured: bool) -> None:
    grid = gossip.Grid(sides)
    random = Random(str(sides))

    def any_plan(side: int) -> gossip.RingPlan:
        return random.choice(
            [APPROACH_1, APPROACH_2, random_circgos(random, side, random.randint(1, side), wraparound=True)]
        )

    check_high_dim(grid, [APPROACH_1] * len(sides), coloured)
    check_high_dim(grid, [APPROACH_2] * len(sides), coloured)
    for _ in range(4):
        check_high_dim(grid, [[any_plan(side) for side in sides] for _ in sides], coloured)


DIAGONALS = [
    *(([n, n], n // a) for n, a in ((8, 1), (8, 2), (9, 1), (12, 2), (16, 4), (27, 3), (32, 4), (30, 5))),
    *(([n, n, n], n // a) for n, a in ((4, 2), (6, 1), (8, 2), (9, 3))),
    ([3, 3, 3, 3], 3),
    ([4, 4, 4, 4, 4], 2),
    ([4, 4, 4, 4, 4], 4),
    *(([8, 12], 4), ([6, 18], 6), ([4, 8, 12], 4), ([2, 6, 4], 2), ([5, 5], 1), ([16], 4)),
]


@pytest.mark.parametrize(("sides", "spacing"), DIAGONALS, ids=str)
@pytest.mark.parametrize("coloured", [True, False])
def test_diagonals(sides: list[int], spacing: int, coloured: bool) -> None:
    random = Random(f"{sides} {spacing}")
    for _ in range(4):
        pairs, rest = [], spacing
        while rest > 1:
            factor = random.choice([f for f in range(2, rest + 1) if rest % f == 0])
            pairs.append((factor, factor // 2 + random.randint(0, 3)))
            rest //= factor
        check_cubgos(sides, spacing, *pairs, coloured=coloured)


def test_a_ring_is_a_torus_of_one_axis() -> None:
    """On one axis CubGos is CircGos."""
    for n, a, pairs in ((12, 3, [(2, 1), (2, 2)]), (27, 9, [(3, 2)]), (16, 4, [(4, 3)])):
        cube, ring = check_cubgos([n], n // a, *pairs), gossip.ring_cost(n, circgos(a, *pairs))
        assert (cube.steps, cube.volume) == (ring.steps, pytest.approx(ring.volume))


def test_colours_divide_the_volume() -> None:
    for d in (2, 3, 4):
        grid = gossip.Grid([4] * d)
        plans = [[APPROACH_1]] * d
        one, many = gossip.high_dim_cost(grid, plans, False), gossip.high_dim_cost(grid, plans, True)
        assert (many.steps, many.volume) == (one.steps, pytest.approx(one.volume / d))
        one, many = (gossip.cubgos_cost(grid, 2, rounds((2, 1)), coloured) for coloured in (False, True))
        assert (many.steps, many.volume) == (one.steps, pytest.approx(one.volume / d))


def test_a_thousand_and_four_thousand_processors() -> None:
    check_cubgos([32, 32], 8, (2, 3), (4, 5))
    check_cubgos([64, 64], 8, (2, 3), (4, 5))
    check_high_dim(gossip.Grid([16, 16, 16]), [circgos(4, (4, 2))] * 2 + [APPROACH_1])


@pytest.mark.parametrize(
    ("grid", "spacing", "pairs", "reason"),
    [
        (gossip.Grid([8, 9]), 3, [(3, 1)], "divide every side"),
        (gossip.Grid([8, 8]), 0, [], "distance between"),
        (gossip.Grid([8, 8]), 4, [(3, 1)], "divide the distance"),
        (gossip.Grid([8, 8]), 4, [(2, 1)], "no bridgeheads"),
        (gossip.Grid([8, 8]), 4, [(4, 1)], "at least 2 steps"),
        (gossip.Grid([8, 8], wraparound=False), 4, [(4, 2)], "needs a torus"),
        (gossip.Grid([]), 1, [], "least one side"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(
    grid: gossip.Grid, spacing: int, pairs: list[tuple[int, int]], reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        gossip.cubgos(grid, spacing, rounds(*pairs))


def test_phases_that_do_not_fit_are_refused() -> None:
    grid = gossip.Grid([4, 4])
    for plans in ([], [[APPROACH_1]], [[APPROACH_1], []], [[APPROACH_1] * 3] * 2):
        with pytest.raises(InputError, match="plan"):
            gossip.high_dim_gossip(grid, plans)


def test_chunks_that_need_too_many_units_are_refused() -> None:
    primes = [101, 103, 107, 109, 113, 127]
    pairs = [(2, prime) for prime in primes]  # 2·prime chunks each
    with pytest.raises(InputError, match="too many"):
        gossip.high_dim_gossip(gossip.Grid([64]), [[circgos(1, *pairs)]])


def test_filling_fills() -> None:
    assert filling(Random(1), 1) == []
