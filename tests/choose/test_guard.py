"""The guard: what it does call by call, when it changes; whatever calls cost."""

from __future__ import annotations

import math
from random import Random

import pytest
from hocket._core import InputError
from hocket._core.choose import ArmEvidence, Evidence, Guard, GuardRules, Turn, Verdict, all_longer, merge
from hypothesis import given
from hypothesis import strategies as st

from guard_runs import NAN, Run, noisy, rules, unknown

any_cost = st.one_of(
    st.floats(1e-6, 10), st.sampled_from([0.0, -1.0, NAN, math.inf, 1e-300, 1e300]), st.just(1e-3)
)


predictions = st.lists(st.one_of(st.just(NAN), st.floats(1e-6, 10)), min_size=1, max_size=6)


some_rules = st.builds(
    rules,
    margin=st.sampled_from([0.0, 0.02, 0.3]),
    error=st.sampled_from([0.001, 0.05, 0.5]),
    budget_share=st.sampled_from([0.0, 0.01, 1.0]),
    budget_calls=st.sampled_from([0.0, 2.0, 100.0]),
    retest_after=st.sampled_from([1, 10, 1000]),
    may_change=st.booleans(),
    calibrated=st.booleans(),
    can_be_cut=st.sampled_from([0, 0b111110]),
    post_seconds=st.sampled_from([0.0, 1e-5, 1.0]),
    timed_seconds=st.sampled_from([0.0, 1e-6, 0.1]),
)


@given(predictions, some_rules, st.lists(any_cost, min_size=1, max_size=40), st.booleans())
def test_whatever_calls_cost(
    predicted: list[float], chosen: GuardRules, costs: list[float], evident: bool
) -> None:
    """Trials alternate, begin within the budget and are posted; nothing else is a trial."""
    known = [ArmEvidence(f"arm-{arm}", 9, cost) for arm, cost in enumerate(predicted)] if evident else []
    winner = len(predicted) - 1 if evident else None
    make = lambda: Guard(predicted, chosen, known, winner)  # noqa: E731
    run = Run(make(), lambda call, arm: costs[(7 * call + arm) % len(costs)])
    twin = Run(make(), run.cost)
    since_tell: list[Turn] = []
    at_once = 0  # trials next to each other
    for _ in range(300):
        told = run.guard.due()
        turn = run.call()
        again = twin.call()
        assert (again.arm, again.timed, again.post) == (turn.arm, turn.timed, turn.post)
        since_tell = [turn] if told else [*since_tell, turn]
        trial = turn.arm != run.guard.incumbent
        at_once = at_once + 1 if trial else 0
        assert at_once <= 2
        if trial:
            assert chosen.may_change
            assert turn.timed
            first = sum(one.arm != run.guard.incumbent for one in since_tell) == 1
            assert not first or run.guard.lost <= run.guard.budget
        assert run.guard.lost >= 0
        assert sum(arm.calls for arm in run.guard.arms) == run.guard.calls == len(run.turns)
        assert [arm.verdict for arm in run.guard.arms].count(Verdict.incumbent) == 1
        assert run.guard.arms[run.guard.incumbent].verdict == Verdict.incumbent


def test_first_calls() -> None:
    """Warm-up, three samples, a probe, blocks A B B A."""
    run = Run(Guard(unknown(2), rules()), noisy([1, 1.1], 0)).calls(14)
    assert run.arms == [0, 0, 0, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0]
    assert [turn.timed for turn in run.turns] == [False] + [True] * 13
    assert [call for call, turn in enumerate(run.turns) if turn.post] == [3, 5, 7, 11]


def test_costs_are_due_before_the_call_after_a_post() -> None:
    run, posts = Run(Guard(unknown(2), rules()), lambda call, arm: 1e-3), 0
    posted = False
    for _ in range(500):
        assert run.guard.due() == posted
        if posted:
            with pytest.raises(InputError, match="waits for costs"):
                run.guard.next()
            with pytest.raises(InputError, match="and is told 9"):
                run.guard.tell([1.0] * 9)
        posted = run.call().post
        posts += posted
    assert posts > 5


def test_nobody_asked() -> None:
    with pytest.raises(InputError, match="waits for none"):
        Guard(unknown(2), rules()).tell([1.0])
    with pytest.raises(InputError, match="one arm at least"):
        Guard([], rules())
    with pytest.raises(InputError, match="none of the arms"):
        Guard(unknown(2), rules(), [], 2)
    with pytest.raises(InputError, match="as many arms"):
        Guard(unknown(2), rules(), [ArmEvidence("native", 1, 1.0)])
    for name, value in (("margin", -1.0), ("error", 0.0), ("drift", NAN), ("retest_after", 0)):
        with pytest.raises(InputError, match="positive"):
            Guard(unknown(2), rules(**{name: value}))


@pytest.mark.parametrize("gain", [0.3, 0.5, 0.8, 0.87])
@pytest.mark.parametrize("seed", range(5))
def test_a_clear_gain_within_20_calls(gain: float, seed: int) -> None:
    run = Run(Guard(unknown(2), rules()), noisy([1, gain], 0.02, seed)).calls(20)
    assert run.guard.incumbent == 1
    assert run.guard.settled
    assert run.arms[-1] == 1


@pytest.mark.parametrize(("gain", "calls"), [(0.3, 10), (0.45, 10), (0.6, 18)])
def test_what_takes_less_than_half_needs_fewer_calls(gain: float, calls: int) -> None:
    """Two of eight calls are by the challenger, all shorter than the others: 1 of 28 by chance."""
    run = Run(Guard(unknown(2), rules()), noisy([1, gain], 0.02)).calls(calls)
    assert run.guard.incumbent == 0
    assert run.calls(1).guard.incumbent == 1


def test_chance_rarely_looks_unmistakable() -> None:
    """Both take the same, and calls differ by factors."""
    changed = 0
    for seed in range(1000):
        guard = Run(Guard(unknown(2), rules()), noisy([1, 1], 1.0, seed)).calls(40).guard
        changed += guard.incumbent
    assert changed <= 50


def test_short_runs_add_to_each_other() -> None:
    """What no run of 20 calls can tell under that noise, several together do. Each knows what the others kept."""
    names = ["native", "other"]

    def found(keeping: bool, seed: int) -> bool:
        kept: list[Evidence] = []
        for number in range(12):
            known = kept[0].arms if kept and keeping else []
            winner = names.index(kept[0].winner) if known else None
            by_name = {arm.name: arm for arm in known}
            known = [by_name.get(name, ArmEvidence(name)) for name in names] if known else []
            run = Run(
                Guard(unknown(2), rules(), known, winner), noisy([1, 0.75], 0.25, 100 * seed + number)
            ).calls(20)
            if run.guard.incumbent == 1:
                return True
            learned = run.guard.learned(names)
            kept = merge(kept, [Evidence("p", "alltoall", 1, "any", run.guard.settled, "native", learned)])
        return False

    alone, together = (sum(found(keeping, seed) for seed in range(30)) for keeping in (False, True))
    assert together > alone
    assert together >= 25
    with pytest.raises(InputError, match="name of each arm"):
        Guard(unknown(2), rules()).learned(["native"])


@pytest.mark.parametrize(
    ("calls", "ratio", "spread", "verdict"),
    [
        (8, 1.05, 0.01, Verdict.worse),
        (8, 1.05, 0.3, Verdict.open),  # noise explains it
        (64, 1.05, 0.3, Verdict.worse),
        (64, 1.01, 0.3, Verdict.even),
        (64, 0.8, 0.3, Verdict.open),
        (7, 5, 0.01, Verdict.open),
    ],
)
def test_what_medians_of_earlier_runs_settle(
    calls: int, ratio: float, spread: float, verdict: Verdict
) -> None:
    known = [ArmEvidence("native", 64, 1e-3, spread), ArmEvidence("other", calls, 1e-3 * ratio, spread)]
    assert Guard(unknown(2), rules(), known, 0).arms[1].verdict == verdict


def test_one_long_call_is_nothing_that_meetings_do() -> None:
    assert all_longer([2.0, 3.0], 1.5)
    assert not all_longer([2.0, 1.0, 9.0], 1.5)
    assert not all_longer([9.0], 1.5)
    assert not all_longer([9.0, NAN, math.inf], 1.5)
    assert not all_longer([], 1.5)


@pytest.mark.parametrize(("better", "no_better", "ratio"), [(100, 0.1, 0.8), (0.1, 100, 0.99), (1, 1, 0.8)])
def test_pairs_of_earlier_runs_count_with_the_first_block(
    better: float, no_better: float, ratio: float
) -> None:
    """Two pairs of this run confirm them; alone they would say nothing."""
    known = [ArmEvidence("native", 8, 1e-3), ArmEvidence("other", 3, 1e-3 * ratio, 0, better, no_better)]
    guard = Run(Guard(unknown(2), rules(), known, 0), noisy([1, ratio], 0.005)).calls(11).guard
    native, other = (arm.verdict for arm in guard.arms)
    assert (other == Verdict.incumbent) == (better > 1)
    assert (other == Verdict.even) == (no_better > 1)
    assert (native == Verdict.worse) == (better > 1)


def test_evidence_of_pairs_is_about_the_winner_then() -> None:
    """It was gathered against the library's own, and so says nothing once another arm serves."""
    known = [
        ArmEvidence("native", 8, 1e-3),
        ArmEvidence("a", 3, 0.45e-3),
        ArmEvidence("b", 3, 0.6e-3, 0, 1, 1000),
    ]
    run = Run(Guard(unknown(3), rules(), known, 0), noisy([1, 0.45, 0.425], 0.01)).calls(11)
    assert run.guard.incumbent == 1
    assert run.calls(90).guard.incumbent == 2


def test_no_gain_worth_a_change() -> None:
    run = Run(Guard(unknown(2), rules(retest_after=10**6)), noisy([1, 0.99], 0.005)).calls(400)
    assert run.guard.incumbent == 0
    assert run.guard.arms[1].verdict == Verdict.even


def test_best_predicted_first() -> None:
    predicted = [1e-3, 4e-3, 0.7e-3, 0.95e-3]
    run = Run(Guard(predicted, rules()), noisy([1, 4, 0.7, 0.95], 0.01)).calls(20)
    assert set(run.arms) == {0, 2}
    assert run.guard.incumbent == 2


def test_a_calibrated_prediction_decides_the_first_call() -> None:
    for ratio, first in ((0.89, 1), (0.95, 0), (1.5, 0)):
        guard = Guard([1e-3, ratio * 1e-3], rules(calibrated=True))
        assert guard.next().arm == first
        assert Guard([1e-3, ratio * 1e-3], rules()).next().arm == 0
    assert Guard([NAN, 1e-6], rules(calibrated=True)).next().arm == 0


@pytest.mark.parametrize("foresight", ["prediction", "evidence"])
@pytest.mark.parametrize(("ratio", "most_calls"), [(1.3, 30), (2.5, 14), (20, 10)])
def test_back_to_the_librarys_own(foresight: str, ratio: float, most_calls: int) -> None:
    """Prediction or evidence said half the time; it takes `ratio` times as long."""
    if foresight == "prediction":
        guard = Guard([1e-3, 0.5e-3], rules(calibrated=True))
    else:
        known = [ArmEvidence("native", 50, 1e-3), ArmEvidence("other", 50, 0.5e-3)]
        guard = Guard(unknown(2), rules(), known, 1)
    run = Run(guard, noisy([1, ratio], 0.02)).calls(40)
    assert run.arms[0] == 1
    assert run.guard.incumbent == 0
    within = next(call for call in range(40) if set(run.arms[call:]) == {0})
    assert within <= most_calls
    lost = sum(run.taken[call] - 1e-3 for call in range(1, 40) if run.arms[call] == 1 and call in run.taken)
    assert lost < 1.3e-3 * most_calls, "calls by what is not verified are cut short, too"


def test_evidence_serves_at_once_and_is_looked_at_once() -> None:
    known = [ArmEvidence("native", 50, 1e-3), ArmEvidence("good", 50, 0.5e-3), ArmEvidence("bad", 50, 2e-3)]
    run = Run(Guard(unknown(3), rules(), known, 1), noisy([1, 0.5, 2])).calls(500)
    assert run.arms.count(0) == 1
    assert run.arms.count(2) == 0
    assert run.guard.incumbent == 1
    assert run.guard.settled


def test_nothing_changes_that_may_not() -> None:
    """Reductions: rounding differs between arms."""
    run = Run(Guard([1e-3, 0.1e-3], rules(may_change=False)), noisy([1, 0.1])).calls(3000)
    assert set(run.arms) == {0}
    assert run.guard.settled
    assert run.guard.arms[0].timed > 0
    assert run.guard.lost == 0
    chosen = Run(Guard([1e-3, 0.1e-3], rules(may_change=False, calibrated=True)), noisy([1, 9])).calls(3000)
    assert set(chosen.arms) == {1}


def test_drift_is_noticed() -> None:
    """After 500 calls the other arm is the faster one, and the incumbent takes twice as long."""
    before, after = noisy([1, 1.5]), noisy([2, 1.5])
    run = Run(
        Guard(unknown(2), rules(retest_after=10**6)),
        lambda call, arm: (before if call < 500 else after)(call, arm),
    )
    assert run.calls(500).guard.incumbent == 0
    assert run.calls(600).guard.incumbent == 1


def test_the_network_is_better_some_other_time() -> None:
    """The challenger is faster from call 800 on; the library's own costs what it did."""
    before, after = noisy([1, 1.5]), noisy([1, 0.5])
    run = Run(Guard(unknown(2), rules()), lambda call, arm: (before if call < 800 else after)(call, arm))
    assert run.calls(999).guard.incumbent == 0
    assert run.calls(100).guard.incumbent == 1


@pytest.mark.parametrize("stopped", range(20))
def test_a_stop_does_not_turn_the_choice(stopped: int) -> None:
    """One call takes a second because a rank was stopped."""
    cost = noisy([1, 1.3])
    run = Run(Guard(unknown(2), rules()), lambda call, arm: 1.0 if call == stopped else cost(call, arm))
    assert run.calls(300).guard.incumbent == 0
    known = [ArmEvidence("native", 50, 1.3e-3), ArmEvidence("good", 50, 1e-3)]
    cost = noisy([1.3, 1])
    run = Run(
        Guard(unknown(2), rules(), known, 1), lambda call, arm: 1.0 if call == stopped else cost(call, arm)
    )
    assert run.calls(300).guard.incumbent == 1


@pytest.mark.parametrize("stopped", [1, 3, 7, 12, 17, 25, 40])
def test_one_long_call_makes_nobody_give_way(stopped: int) -> None:
    """A rank was stopped for a second while an arm is watched that gains little: the others do not make up for it."""
    known = [ArmEvidence("native", 50, 1.05e-3), ArmEvidence("good", 50, 1e-3)]
    cost = noisy([1.05, 1])
    run = Run(
        Guard(unknown(2), rules(), known, 1), lambda call, arm: 1.0 if call == stopped else cost(call, arm)
    )
    incumbents = set()
    while len(run.turns) < 300:
        run.call()
        incumbents.add(run.guard.incumbent)
    assert incumbents == {1}


def test_what_is_often_faster_and_sometimes_far_slower() -> None:
    """90 of 100 calls take 10 % less, the others wait for a retransmission: four times as long and more."""
    random = Random(3)

    def cost(call: int, arm: int) -> float:
        return 1e-3 * (1 if arm == 0 else 5 if random.random() < 0.1 else 0.9)

    runs = [Run(Guard(unknown(2), rules(retest_after=10**6)), cost).calls(500) for _ in range(50)]
    assert sum(run.guard.incumbent for run in runs) <= 5  # medians alone would choose it in nearly all
    assert sum(run.arms.count(1) for run in runs) / len(runs) < 60


@pytest.mark.parametrize("foresight", ["prediction", "evidence"])
def test_what_was_chosen_by_its_median_is_watched(foresight: str) -> None:
    """Every eighth call waits for a retransmission; an earlier run, or a prediction, knew nothing of it."""
    if foresight == "prediction":
        guard = Guard([1e-3, 0.8e-3], rules(calibrated=True))
    else:
        known = [ArmEvidence("native", 50, 1e-3), ArmEvidence("other", 50, 0.8e-3)]
        guard = Guard(unknown(2), rules(), known, 1)
    run = Run(guard, lambda call, arm: 1e-3 * (1 if arm == 0 else 20 if call % 8 == 7 else 0.8))
    assert run.calls(40).arms[0] == 1
    assert run.guard.incumbent == 0
    assert run.guard.lost > 5e-3
    assert run.calls(300).arms[40:].count(1) == 0  # the budget does not hold it again so soon


def test_play_is_what_a_runtime_does() -> None:
    import numpy as np

    costs = np.exp(np.random.default_rng(1).normal(0, 0.1, (400, 3))) * [1, 3, 0.7] * 1e-3
    run = Run(Guard(unknown(3), rules()), lambda call, arm: float(costs[call, arm])).calls(400)
    guard = Guard(unknown(3), rules())
    arms, incumbents, lost, budgets, seconds = guard.play(costs)
    assert arms == run.arms
    cut = [one for one in range(400) if seconds[one] != costs[one, arms[one]]]
    assert cut and all(seconds[one] == pytest.approx(run.taken[one]) for one in cut)
    assert (incumbents[-1], lost[-1], budgets[-1]) == (run.guard.incumbent, run.guard.lost, run.guard.budget)
    with pytest.raises(InputError, match="plays no more"):
        guard.play(costs)
    with pytest.raises(InputError, match="columns"):
        Guard(unknown(2), rules()).play(costs)


def test_what_was_seen_before_needs_no_first_call() -> None:
    """The library's time is known, but one call may have been held up: two more are looked at."""
    guard = Guard([1.0, 0.2], rules())
    guard.seen(0, 3, 1.0)
    assert (guard.calls, guard.spent, guard.arms[0].typical) == (3, 3.0, 1.0)
    run = Run(guard, noisy([1, 0.2], 0, seconds=1)).calls(4)
    assert run.arms == [0, 0, 0, 1] and all(turn.timed for turn in run.turns)
    fresh = Guard([1.0, 0.2])
    assert not fresh.next().timed and fresh.next().arm == 0
