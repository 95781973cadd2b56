"""Gossip on rings: the steps do what the formulas say."""

from __future__ import annotations

from random import Random

import pytest
from hocket._core import InputError
from hocket._papers import gossip

from gossip_checks import APPROACH_1, APPROACH_2, check_line, circgos, random_circgos


@pytest.mark.parametrize(
    ("n", "r", "approach_1", "approach_2", "plan", "best"),
    [
        (9, 16, 68, 86, circgos(3, (3, 1)), 61),
        (27, 16, 221, 190, circgos(9, (3, 1)), 136),
        (81, 16, 680, 492, circgos(9, (3, 2), (3, 2)), 308),
        (81, 64, 2600, 876, circgos(9, (3, 1), (3, 1)), 714),
        (243, 64, 7865, 1976, circgos(9, (3, 2), (3, 2), (3, 2)), 1439),
        (64, 16, 543.5, 416, circgos(11, (2, 1), (3, 2)), 267 + 2 / 3),
        (256, 16, 2175.5, 1856, circgos(29, (9, 9)), 739 + 5 / 11),
    ],
)
def test_worked_examples(
    n: int, r: float, approach_1: float, approach_2: float, plan: gossip.RingPlan, best: float
) -> None:
    assert check_line(n, APPROACH_1).time(r) == pytest.approx(approach_1)
    assert check_line(n, APPROACH_2).time(r) == pytest.approx(approach_2)
    assert check_line(n, plan).time(r) == pytest.approx(best)


@pytest.mark.parametrize(
    ("r", "plan", "time"),
    [
        (2, circgos(27, (27, 60)), 976),
        (10, circgos(27, (27, 34)), 1440),
        (50, circgos(9, (9, 9), (9, 9)), 2857),
        (250, circgos(3, *[(3, 1)] * 5), 6759),
    ],
)
def test_one_factor_for_all_rounds(r: float, plan: gossip.RingPlan, time: float) -> None:
    assert check_line(729, plan).time(r) == pytest.approx(time, abs=0.5)


@pytest.mark.parametrize("n", range(1, 65))
def test_every_small_ring(n: int) -> None:
    random = Random(n)
    check_line(n, APPROACH_1)
    check_line(n, APPROACH_2)
    for a in range(1, n + 1):
        for _ in range(3):
            check_line(n, random_circgos(random, n, a, wraparound=True))


@pytest.mark.parametrize("n", [81, 97, 100, 121, 127, 128, 169, 193, 210, 243, 251, 255, 256])
def test_larger_rings(n: int) -> None:
    random = Random(n)
    check_line(n, APPROACH_1)
    check_line(n, APPROACH_2)
    for a in random.sample(range(1, n + 1), 12):
        check_line(n, random_circgos(random, n, a, wraparound=True))


def test_all_bridgeheads_is_approach_1() -> None:
    for n in range(1, 40):
        one, all_of_them = gossip.ring_cost(n, APPROACH_1), gossip.ring_cost(n, circgos(n))
        assert (one.steps, one.volume) == (all_of_them.steps, all_of_them.volume)


def test_three_bridgeheads_save_a_alpha_of_approach_2() -> None:
    for n in (9, 27, 81, 243):
        rounds = [(3, 1)] * (gossip.ring_cost(n, APPROACH_2).steps // 2 - 1)
        saved = gossip.ring_cost(n, circgos(3, *rounds))
        assert saved.steps == gossip.ring_cost(n, APPROACH_2).steps - 1


def test_larger_items_cost_in_proportion() -> None:
    for plan in (APPROACH_1, APPROACH_2, circgos(7, (3, 2), (3, 2))):
        one, many = gossip.ring_cost(60, plan), gossip.ring_cost(60, plan, message=7)
        assert many.steps == one.steps
        assert many.volume == pytest.approx(7 * one.volume)


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        (circgos(0, (9, 5)), "cannot have 0 bridgeheads"),
        (circgos(10), "cannot have 10 bridgeheads"),
        (circgos(3, (2, 1)), "leave gaps of 2"),
        (circgos(3), "leave gaps of 3"),
        (circgos(1, (9, 3)), "factor 9 needs at least 4 steps"),
        (circgos(3, (3, 0)), "factor 3 needs at least 1 steps"),
        (circgos(3, (1, 1), (3, 1)), "multiply the bridgeheads"),
    ],
)
def test_plans_that_reach_not_everyone_are_refused(plan: gossip.RingPlan, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        gossip.ring_cost(9, plan)
    with pytest.raises(InputError, match=reason):
        gossip.high_dim_gossip(gossip.Grid([9]), [[plan]])
