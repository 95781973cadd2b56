"""What delays of ranks do to an all-to-all by tokens (bench/scale/noise.py, docs/scale.md)."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "scale"))
from noise import LATENCY, TOKEN, Away, one_switch

RANKS = 40


@pytest.mark.parametrize("delay", [0.5, 3.0, 12.0])
@pytest.mark.parametrize("window", [1, 2, 4, 8])
def test_one_delay_makes_the_whole_later_by_no_more_than_itself(window: int, delay: float) -> None:
    whole = one_switch(RANKS, window)
    for rank in (0, 17):
        later = one_switch(RANKS, window, Away.once(RANKS, rank, whole / 3, delay)) - whole
        assert later <= delay + 1e-9
        assert later >= delay - window - 1e-9  # no window takes up more than it is long
        if delay <= window - 1 - LATENCY - TOKEN:
            assert later == pytest.approx(0)


def test_without_delays_window_one_waits_for_tokens_and_larger_ones_do_not() -> None:
    assert one_switch(RANKS, 1) == pytest.approx((RANKS - 1) * (1 + LATENCY) + (RANKS - 2) * TOKEN)
    assert one_switch(RANKS, 4) == pytest.approx(RANKS - 1 + LATENCY)


def test_noise_takes_the_part_of_the_time_that_it_is_asked_to() -> None:
    away = Away.noise(400, 2_000, 4.0, 0.05, seed=1)
    assert away.mean(2_000) == pytest.approx(0.05 * 2_000, rel=0.1)
    inside = away.begin[3][np.isfinite(away.begin[3])][0] + 1.0
    (after,) = away.after(np.array([3]), np.array([inside]))
    assert after == pytest.approx(inside + 3.0)
