"""Tests of the predicted time of a scheduled call."""

import pytest
from hocket._core import choose


def test_steps_follow_each_other_as_many_at_once_as_the_window_holds() -> None:
    assert choose.forecast(16, 0.0, 1, 1e-3) == pytest.approx(16e-3)
    assert choose.forecast(16, 0.0, 8, 1e-3) == pytest.approx(2e-3)


def test_small_messages_go_by_steps_and_large_ones_by_bytes() -> None:
    """So a larger window is predicted faster for small messages, and slower for large ones."""
    small = [choose.forecast(16, 1e-4, window, 1e-3) for window in (1, 2, 4, 8)]
    large = [choose.forecast(16, 10.0, window, 1e-3) for window in (1, 2, 4, 8)]
    assert small == sorted(small, reverse=True) and large == sorted(large)


def test_wires_are_as_fast_as_the_librarys_call_shows() -> None:
    described_too_slow = choose.forecast(16, 1.0, 1, 1e-3, native_seconds=0.01)
    assert described_too_slow == pytest.approx(0.01 + 16e-3)
    assert choose.forecast(16, 1.0, 1, 1e-3, native_seconds=2.0) == pytest.approx(1.016)


def test_many_segments_take_time_where_wires_are_fast() -> None:
    """And there large ones are worth the wait for the receiver; on slow wires they only wait."""
    small, large = ({"segments": 64}, {"segments": 1, "rendezvous": True})
    assert choose.forecast(7, 1e-3, 1, 1e-4, **large) < choose.forecast(7, 1e-3, 1, 1e-4, **small)
    assert choose.forecast(7, 1.0, 1, 1e-4, **small) < choose.forecast(7, 1.0, 1, 1e-4, **large)


def test_messages_at_once_are_in_each_others_way_as_the_librarys_are() -> None:
    candidates = {one.name: one for one in choose.offered(65536, 16, 2, 8192)}
    names = ("window-1", "window-2", "window-4", "window-8", "order")
    crowded = [choose.in_a_crowd(1.0, 8.0, candidates[name]) for name in names]
    assert crowded[0] == 1.0 and crowded == sorted(crowded) and len(set(crowded)) == 5
    assert crowded[-1] < 8.0
    # Where the library's call is as fast as a schedule, or not known, they are by as much as is usual.
    usual = [choose.in_a_crowd(1.0, 0.0, candidates[name]) for name in names]
    assert usual == [choose.in_a_crowd(1.0, 0.9, candidates[name]) for name in names] == sorted(usual)
    assert usual[0] == 1.0 and usual[-1] < crowded[-1]
    assert choose.in_a_crowd(1.0, 8.0, candidates["native"]) == 1.0
