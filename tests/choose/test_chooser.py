"""Tests of the selection of a call's candidate, with costs that a test makes up."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import pytest
from hocket._core import InputError
from hocket._core.choose import Chooser, exact_exp, exact_log

Cost = Callable[[int, int], float]  # call, candidate: seconds


def played(chooser: Chooser, cost: Cost, calls: int) -> tuple[list[int], float]:
    """Candidates that have served, and the seconds of all calls; calls that are cut short end as by the
    library."""
    served, total = [], 0.0
    for call in range(calls):
        decision = chooser.next()
        took = cost(call, decision.candidate)
        if took > decision.limit:
            took = decision.limit + (1 - decision.limit / took) * cost(call, 0)
        total += took
        served.append(decision.candidate)
        if decision.timed:
            chooser.learn(took)
    return served, total


def noisy(typical: list[float], sigma: float, seed: int) -> Cost:
    rng = Random(seed)
    drawn: dict[tuple[int, int], float] = {}

    def cost(call: int, candidate: int) -> float:
        return drawn.setdefault((call, candidate), typical[candidate] * math.exp(rng.gauss(0, sigma)))

    return cost


@pytest.mark.parametrize("gain", [1.5, 3.0, 8.0])
def test_the_library_serves_once_then_what_is_predicted_to_gain(gain: float) -> None:
    served, _ = played(Chooser([math.nan, 1 / gain]), lambda _, c: (1.0, 1 / gain)[c], 6)
    assert served == [0, 1, 1, 1, 1, 1]


def test_what_was_measured_counts_more_than_what_was_predicted() -> None:
    """A schedule that is predicted three times as fast and takes twice as long."""
    served, total = played(Chooser([math.nan, 0.33]), lambda _, c: (1.0, 2.0)[c], 24)
    assert served.count(1) <= 2 and served[-10:] == [0] * 10
    assert total <= 24 * 1.05 + 0.3


def test_a_candidate_that_was_not_seen_gives_up_after_a_quarter_more_than_the_library() -> None:
    chooser = Chooser([math.nan, 0.5])
    assert chooser.next().limit == math.inf
    chooser.learn(1.0)
    for _ in range(2):
        decision = chooser.next()
        assert decision.candidate == 1 and decision.limit == pytest.approx(1.25, rel=0.05)
        chooser.learn(0.5)
    assert chooser.next().limit == math.inf


def test_a_wrong_prediction_of_one_schedule_tells_of_the_others() -> None:
    """All windows of a place that takes three times as long as predicted: the others need not be tried."""
    served, _ = played(Chooser([math.nan, 0.8, 0.82, 0.84, 0.86]), lambda _, c: 1.0 if c == 0 else 2.6, 30)
    assert sum(candidate != 0 for candidate in served) <= 2


def test_of_two_schedules_the_faster_is_found() -> None:
    served, _ = played(Chooser([math.nan, 0.5, 0.55]), noisy([1.0, 0.6, 0.45], 0.05, 1), 60)
    assert served[-20:].count(2) >= 18


def test_few_calls_try_little_many_calls_try_more() -> None:
    """A schedule that is predicted half as slow again, which may be wrong."""
    short = played(Chooser([math.nan, 1.5]), lambda _, c: (1.0, 0.5)[c], 3)[0]
    long = played(Chooser([math.nan, 1.5]), lambda _, c: (1.0, 0.5)[c], 60)[0]
    assert short == [0, 0, 0] and long[-1] == 1


def test_what_a_schedule_needs_the_first_time_is_weighed() -> None:
    """A second schedule that may save a twentieth of a call, and takes four calls to draw up."""

    def tried(setup: float) -> bool:
        chooser = Chooser([math.nan, 0.5, 0.51], 0.0, setup)
        return 2 in played(chooser, noisy([1.0, 0.5, 0.48], 0.05, 1), 24)[0]

    assert tried(0.0) and not tried(2.0)


def test_a_first_call_that_opens_connections_does_not_speak_for_the_others() -> None:
    """It takes three times as long as later ones will. The other windows, predicted alike, would do the same."""
    first: dict[int, int] = {}

    def cost(call: int, candidate: int) -> float:
        return 1.0 if candidate == 0 else 0.9 if first.setdefault(candidate, call) == call else 0.3

    served, _ = played(Chooser([math.nan, 0.30, 0.31, 0.32]), cost, 8)
    assert served == [0, *[1] * 7]


@pytest.mark.parametrize(("opening", "calls"), [(math.inf, 2), (0.1, 3)])
def test_opening_connections_is_a_small_part_of_long_calls(opening: float, calls: int) -> None:
    """A schedule that may save a little is tried at once if its first call takes little longer than others."""
    served, _ = played(Chooser([math.nan, 0.97], opening_seconds=opening), lambda _, c: (1.0, 0.8)[c], 4)
    assert served == [0] * (4 - calls) + [1] * calls


def test_drift_is_followed() -> None:
    def cost(call: int, candidate: int) -> float:
        return 1.0 if candidate == 0 else 0.5 if call < 40 else 3.0

    served, _ = played(Chooser([math.nan, 0.5]), cost, 80)
    assert served[30] == 1 and served[44:].count(1) <= 3


def test_a_call_that_a_retransmission_holds_up_changes_nothing() -> None:
    served, _ = played(Chooser([math.nan, 0.5]), lambda n, c: 20.0 if n == 12 else (1.0, 0.5)[c], 40)
    assert served[13:].count(0) <= 2


def test_what_an_earlier_job_has_measured_serves_from_the_first_call_on() -> None:
    chooser = Chooser([math.nan, 2.0, 2.0])
    chooser.recall(0, 1.0)
    chooser.recall(2, 0.4)
    served, _ = played(chooser, lambda _, c: (1.0, 0.8, 0.4)[c], 12)
    assert served[0] == 2 and served.count(2) >= 11


def test_what_an_earlier_job_has_measured_may_be_wrong_by_now() -> None:
    chooser = Chooser([math.nan, 0.5])
    chooser.recall(0, 1.0)
    chooser.recall(1, 0.4)
    served, _ = played(chooser, lambda _, c: (1.0, 2.5)[c], 20)
    assert served.count(1) <= 3


def test_agreeing_on_costs_takes_a_hundredth_of_the_time() -> None:
    """Calls as long as two agreements."""
    chooser, timed = Chooser([math.nan, 5.0], agree_seconds=0.5), 0
    for _ in range(400):
        decision = chooser.next()
        if decision.timed:
            timed += 1
            chooser.learn(1.0)
    assert 1 <= timed <= 400 * 0.01 / 0.5 + 3


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("sigma", [0.05, 0.2])
def test_totals_of_24_calls(seed: int, sigma: float) -> None:
    """At most a tenth over the best candidate and one call by the library; never much over the library."""
    rng = Random(seed)
    ratio = math.exp(rng.uniform(math.log(0.15), math.log(3)))  # schedule over library
    error = math.exp(rng.gauss(0, 0.4))
    cost = noisy([1.0, ratio], sigma, seed + 1000)
    _, total = played(Chooser([math.nan, ratio / error]), cost, 24)
    native = sum(cost(call, 0) for call in range(24))
    best = min(native, sum(cost(call, 1) for call in range(24)))
    assert total <= 1.10 * best + 1.7, (ratio, error)
    assert total <= 1.05 * native + 1.2, (ratio, error)


def test_what_is_no_cost_counts_for_nothing() -> None:
    chooser = Chooser([math.nan, 0.5])
    for wrong in (math.inf, math.nan, 0.0, -1.0):
        assert chooser.next().candidate == 0, "the library's call is not known yet"
        chooser.learn(wrong)
    chooser.next()
    chooser.learn(1.0)
    assert chooser.next().candidate == 1


def test_one_candidate_is_never_timed() -> None:
    chooser = Chooser([math.nan])
    assert not any(chooser.next().timed for _ in range(10)) and chooser.best == 0
    with pytest.raises(InputError):
        Chooser([])


def test_beliefs_are_those_of_a_kalman_filter() -> None:
    """One candidate whose prediction is known: closed form."""
    chooser = Chooser([1.0, 1.0])
    chooser.recall(1, 2.0)
    prior, kept = 0.5**2 + 0.15**2, 0.2**2
    assert chooser.beliefs[1].seconds == pytest.approx(math.exp(math.log(2) * prior / (prior + kept)))
    assert chooser.beliefs[1].spread == pytest.approx(math.sqrt(prior * kept / (prior + kept)))


def test_exact_functions() -> None:
    rng = Random(1)
    for x in [*(rng.uniform(-50, 50) for _ in range(1000)), 0.0, 1.0, -1.0, 690.0, -690.0]:
        assert exact_exp(x) == pytest.approx(math.exp(x), rel=1e-12)
        assert exact_log(math.exp(x)) == pytest.approx(x, abs=2e-10)
    assert exact_exp(1e9) == exact_exp(700.0) and exact_exp(-1e9) == exact_exp(-700.0)


@pytest.mark.parametrize("is_fixed", [False, True])
def test_what_others_would_leave_to_the_library_tempts_nobody(is_fixed: bool) -> None:
    """Four communicators share their wires. Who calls the library while others wait for their turns is faster than
    these, and all are slower for it."""
    choosers = [Chooser([math.nan, 0.3, 0.35]) for _ in range(4)]
    for chooser in choosers:
        chooser.seen(0, 1, 1.0)
        if is_fixed:
            chooser.fix_native()
    rng, total = Random(1), 0.0
    for _ in range(40):
        decisions = [chooser.next() for chooser in choosers]
        crowd = sum(decision.candidate == 0 for decision in decisions)
        for chooser, decision in zip(choosers, decisions, strict=True):
            alone = 0.6 if decision.candidate == 0 else 0.85
            took = (alone + 0.1 * crowd) * rng.uniform(0.9, 1.1)
            total += took / len(choosers)
            if decision.timed:
                chooser.learn(took)
    assert (total < 0.9 * 40) == is_fixed
