"""Delays of senders in the simulator."""

from __future__ import annotations

import pytest

from hocket import _core
from strategies import RATE, star


def simulated(delays: list[float], window: int = 1) -> float:
    """An all-to-all of six hosts, message by message a second."""
    network = star(6).build()
    schedule = _core.find_scheduler("tree").make(network, _core.Demand(6, int(RATE)))
    return float(
        _core.simulate(
            network, schedule, None, f"window:{window}", _core.ModelParameters(delays=delays)
        ).seconds
    )


def test_no_delays_are_none() -> None:
    assert simulated([0.0] * 30) == simulated([])


@pytest.mark.parametrize("window", [1, 2])
@pytest.mark.parametrize("transfer", [0, 11, 29])
def test_one_delay_makes_the_whole_later_by_no_more(window: int, transfer: int) -> None:
    delays = [0.0] * 30
    delays[transfer] = 3.0
    later = simulated(delays, window) - simulated([], window)
    # With window 2 messages share channels, and nothing is proven.
    assert later <= 3.0 * ((1 + 1e-9) if window == 1 else 2)
    assert later > (0.5 if window == 1 else -1e-9)


def test_a_delay_for_every_transfer() -> None:
    with pytest.raises(_core.InputError, match="there are 2 delays for 30 transfers"):
        simulated([1.0, 1.0])
    with pytest.raises(_core.InputError, match="a delay must be 0 or more seconds"):
        simulated([-1.0] * 30)
