"""What the guard's trials may lose, and when that keeps it from trying."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hocket._core.choose import ArmEvidence, Guard
from hypothesis import given
from hypothesis import strategies as st

from guard_runs import Cost, Run, noisy, rules, unknown


def test_what_should_be_faster_is_tried_though_calls_differ_much() -> None:
    """A call of 1.75 times the usual one is more than the budget holds. The less is predicted the less is needed."""
    cost: Cost = lambda call, arm: 1e-3 * (3 if call % 2 else 1) * (0.2 if arm else 1)  # noqa: E731
    for prediction, budget, tried in ((0.2e-3, 1.6, True), (0.5e-3, 1.8, True), (1.1e-3, 1.8, False)):
        run = Run(Guard([1e-3, prediction], rules(budget_calls=budget)), cost).calls(12)
        assert (1 in run.arms) == tried
        assert run.guard.lost <= run.guard.budget


@pytest.mark.parametrize("ratio", [1.05, 1.2, 1.5, 3, 10])
@pytest.mark.parametrize("seed", range(5))
def test_a_slower_arm_costs_little(ratio: float, seed: int) -> None:
    run = Run(Guard(unknown(2), rules()), noisy([1, ratio], 0.02, seed)).calls(200)
    assert run.guard.incumbent == 0
    assert run.guard.settled
    assert run.guard.lost <= run.guard.budget
    if ratio == 10:
        assert run.arms.count(1) <= 2  # clear losers need a second look at most


def calls_beyond_the_budget(ratios: list[float], seed: int, noise: float) -> float:
    """With nothing known, at worst. Loss is what trials took longer than the library's call would have under the same
    conditions."""
    import numpy as np

    delays = np.exp(np.random.default_rng(seed).normal(0, noise, (300, 1)))
    costs = 1e-3 * delays * np.array([1, *ratios])
    guard = Guard(unknown(len(ratios) + 1), rules())
    arms, incumbents, *_, seconds = guard.play(costs)
    first = next((call for call, arm in enumerate(incumbents) if arm != 0), 300)
    lost, spent, most = 0.0, 0.0, -math.inf
    for call in range(first):
        spent += seconds[call]
        lost += max(0.0, seconds[call] - costs[call, 0]) if arms[call] != 0 else 0
        most = max(most, lost - 0.01 * spent - 2e-3 * max(1, costs[: call + 1, 0].mean() / 1e-3))
    return most / 1e-3


@given(
    st.lists(st.floats(0.3, 10), min_size=1, max_size=5),
    st.integers(0, 1000),
    st.sampled_from([0, 0.05, 0.1]),
)
def test_nothing_known_loses_no_more_than_the_budget(ratios: list[float], seed: int, noise: float) -> None:
    assert calls_beyond_the_budget(ratios, seed, noise) <= 0


def test_more_than_the_budget_is_lost_in_few_runs_under_noise() -> None:
    """Where noise doubles a call, the arm in use may have been seen in its slow calls only (docs/decisions/0030)."""
    import numpy as np

    ratios = np.random.default_rng(1).uniform(0.5, 3, (1000, 2))
    beyond = [calls_beyond_the_budget(list(ratios[seed]), seed, 0.3) for seed in range(1000)]
    assert sum(calls > 0 for calls in beyond) <= 5
    assert max(beyond) <= 2


def test_what_cannot_be_cut_short_waits_until_the_budget_holds_a_wrong_guess() -> None:
    """Nothing is known: it may take 7.5 times as long."""
    run = Run(Guard(unknown(2), rules(can_be_cut=0)), noisy([1, 7], 0.01)).calls(1500)
    assert run.arms.index(1) > 600
    assert run.guard.lost <= run.guard.budget
    assert all(turn.limit == math.inf for turn in run.turns)


def test_limits_are_of_challengers() -> None:
    run = Run(Guard(unknown(3), rules(can_be_cut=0b010)), noisy([1, 0.9, 0.9])).calls(1500)
    trials = [turn for turn in run.turns if turn.limit < math.inf]
    assert trials and {turn.arm for turn in trials} == {1}
    assert all(turn.limit > 1.2e-3 for turn in trials)


def test_what_is_known_to_be_far_slower_waits_though_it_can_be_cut_short() -> None:
    known = [ArmEvidence("native", 50, 1e-3), ArmEvidence("slow", 3, 1.0)]
    run = Run(Guard(unknown(2), rules(), known, 0), noisy([1, 1000], 0.01)).calls(900)
    assert set(run.arms) == {0}


def test_what_is_predicted_far_slower_waits_for_the_budget() -> None:
    run = Run(Guard([1e-3, 4e-3], rules(calibrated=True, can_be_cut=0)), noisy([1, 4], 0.01)).calls(600)
    first = run.arms.index(1)
    assert first > 200  # three calls are lost
    assert run.guard.lost <= run.guard.budget


def test_agreeing_has_its_price() -> None:
    """What a post takes is lost; where calls are that short, trials wait."""
    cost = noisy([1, 0.5], seconds=1e-6)
    assert Run(Guard(unknown(2), rules()), cost).calls(30).guard.incumbent == 1
    run = Run(Guard(unknown(2), rules(post_seconds=5e-6)), cost).calls(1000)
    assert run.guard.trials < 5
    assert run.guard.lost <= run.guard.budget
    assert sum(turn.post for turn in run.turns) < 5


def test_timing_has_its_price() -> None:
    """What is spent on looking is lost with an arm that does not gain, and paid for by one that does."""
    for ratio, lost in ((0.5, False), (1.0, True)):
        run = Run(Guard(unknown(2), rules(timed_seconds=5e-5)), noisy([1, ratio], 0))
        while len(run.turns) < 40 and run.guard.incumbent == 0:
            run.call()
        assert (run.guard.lost > 2e-4) == lost
        assert run.guard.incumbent == (0 if lost else 1)


def test_short_calls_are_agreed_on_rarely() -> None:
    """Where agreeing takes as long as a call, all pairs that a change needs are one block."""
    run = Run(Guard(unknown(2), rules(post_seconds=3e-4)), noisy([1, 0.5], 0)).calls(80)
    assert run.guard.incumbent == 1
    posts = [call for call, turn in enumerate(run.turns) if turn.post and call >= run.arms.index(1)]
    assert max(later - one for one, later in pairwise(posts)) >= 12


def test_what_is_wasted_besides_is_paid_before_anything_is_tried() -> None:
    """Three calls' time: the two calls of the budget are gone, and 1 % must make up for one and for a limit."""
    guard = Guard([1.0, 0.2], rules())
    guard.seen(0, 3, 1.0)
    guard.waste(3.0)
    assert guard.lost == 3.0
    run = Run(guard, noisy([1, 0.2], 0, seconds=1)).calls(80)
    assert set(run.arms) == {0}
    assert 1 in run.calls(300).arms


def test_what_collides_when_it_is_cut_short_counts_as_long_as_it_takes() -> None:
    """Posted at once it fills the queues of switches, and waits for retransmissions: 50 calls here. Nothing else is
    tried until that is made up for."""
    calm, colliding = (Guard(unknown(3), rules()) for _ in range(2))
    costs = np.tile([1e-3, 3e-3, 3e-3], (400, 1))
    tried = [
        sum(1 for arm in guard.play(costs, collisions)[0] if arm)
        for guard, collisions in ((calm, []), (colliding, [50e-3] * len(costs)))
    ]
    assert tried[0] > tried[1] == 1
    assert colliding.lost >= 48e-3 and calm.lost <= calm.budget
