"""Effects of delayed ranks on an all-to-all by tokens (bench/scale/noise.py, docs/evidence.md)."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "scale"))
from noise import DELAYS, LATENCY, NOISE, Exchange, Wave, study

RANKS = 40


@pytest.mark.parametrize("window", [1, 2, 4, 8])
def test_one_delay_makes_the_whole_later_by_no_more_than_itself(window: int) -> None:
    exchange = Exchange(f"star:{RANKS}")
    for delay in (0.5, 3.0, 12.0):
        whole, *seconds = exchange.times(
            window, [exchange.away_once(rank, exchange.next_post(window, rank), delay) for rank in (0, 17)]
        )
        for later in (np.array(seconds) - whole).tolist():
            assert later <= delay + 1e-9
            assert later >= delay - window - 1e-9  # no window takes up more than it is long
            if delay <= window - 1 - 2 * LATENCY:
                assert later == pytest.approx(0)


def test_without_delays_window_one_waits_for_tokens_and_larger_ones_do_not() -> None:
    exchange = Exchange(f"star:{RANKS}")
    (whole,) = exchange.times(1, [])
    assert whole == pytest.approx((RANKS - 1) * (1 + LATENCY) + (RANKS - 2) * LATENCY)
    assert exchange.times(4, []) == pytest.approx([RANKS - 1 + LATENCY])


@pytest.mark.parametrize("source", ["star:30", "tree:3x6", "fat-tree:k=4"])
def test_rows_of_the_study(source: str) -> None:
    exchange = Exchange(source)
    for window in (1, 4):
        rows = list(study(exchange, window))
        assert [row["kind"] for row in rows] == ["single"] * len(DELAYS) + ["wave"] * 2 + ["noise"] * len(
            NOISE
        )
        assert all(0 <= row["factor"] <= 1 for row in rows if row["kind"] == "single")
        assert all(row["slower"] >= 0 for row in rows if row["kind"] == "noise")
        assert all(row["speed"] is None or row["speed"] >= 0 for row in rows if row["kind"] == "wave")
        if window == 1:
            assert rows[3]["factor"] > 0.9
    assert [row["kind"] for row in study(exchange, 1, noise_only=True)] == ["noise"] * len(NOISE)


def test_a_wave_is_read_from_looks() -> None:
    """Two ranks more are late with each phase, for five phases; half of 20 are then, of which none is far behind."""
    wave = Wave(4.0, np.zeros(20, dtype=bool))
    for phase in range(1, 21):
        behind = np.zeros(20)
        if phase >= 4:
            behind[: 2 * (phase - 3)] = 3.0 if phase < 9 else 1.0
        wave.look(phase, behind)
    assert wave.figures(20) == {"speed": 2.0, "peak_later": 0.25, "late_at_once": 20}
    calm = Wave(4.0, np.zeros(20, dtype=bool))
    for phase in range(1, 21):
        calm.look(phase, np.zeros(20))
    assert calm.figures(20) == {"speed": None, "peak_later": None, "late_at_once": 0}
