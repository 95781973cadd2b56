"""The test of pairs: how often it is wrong where it must not be, and what outliers do to it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random

import pytest
from hocket._core.choose import PairTest, exact_log
from hypothesis import given
from hypothesis import strategies as st


@given(st.floats(1e-12, 1e12))
def test_logarithm(x: float) -> None:
    assert exact_log(x) == pytest.approx(math.log(x), rel=1e-10, abs=1e-10)


@given(st.lists(st.floats(-20, 20), max_size=200), st.sampled_from([0.0, 0.02, 0.5]))
def test_wealth_is_finite_and_both_ways_alike(log_ratios: list[float], margin: float) -> None:
    test, other = PairTest(margin), PairTest(margin)
    for x in log_ratios:
        test.add(x)
        other.add(2 * math.log(1 + margin) - x)
    assert test.pairs == len(log_ratios)
    assert 0 < test.better < math.inf
    assert test.better == pytest.approx(other.no_better, rel=1e-3)


def differences(noise: str, random: Random) -> Iterator[float]:
    """Logarithms of the ratios of two costs of one distribution."""
    draw = {
        "log-normal": lambda: random.gauss(0, 0.5),
        "bimodal": lambda: math.log(1.8) * (random.random() < 1 / 3) + random.gauss(0, 0.01),
        "two values": lambda: math.log(1.8) * (random.random() < 1 / 3),
        "timeouts": lambda: random.gauss(0, 0.05) + math.log(40) * (random.random() < 0.05),
        "skewed": lambda: random.expovariate(2),
    }[noise]
    while True:
        yield draw() - draw()


@pytest.mark.parametrize("noise", ["log-normal", "bimodal", "two values", "timeouts", "skewed"])
@pytest.mark.parametrize("side", [1, -1])
def test_wrong_as_rarely_as_promised(noise: str, side: int) -> None:
    """Looked at after each of 100 pairs, where the gain is just the margin: the hardest case."""
    random, margin, runs = Random(f"{noise} {side}"), 0.02, 2000
    wrong = 0
    for _ in range(runs):
        test, pairs = PairTest(margin), differences(noise, random)
        for _ in range(100):
            test.add(next(pairs) + math.log(1 + margin))
            if (test.better if side > 0 else test.no_better) >= 20:
                wrong += 1
                break
    assert wrong / runs <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


def test_six_pairs_do() -> None:
    test = PairTest(0.02)
    for _ in range(6):
        test.add(0.1)
    assert test.better > 20 / 0.75
    assert test.no_better < 0.2


def test_an_outlier_counts_as_one_pair() -> None:
    """Bold bets are lost, careful ones go on."""
    test = PairTest(0.02)
    for pair in range(14):
        test.add(-12.0 if pair == 3 else 0.15)
    assert test.better > 20
