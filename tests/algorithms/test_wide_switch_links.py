"""`auto` on trees whose inter-switch links are wider than a host's link, against a bound in closed form."""

from __future__ import annotations

from math import floor

import pytest

from hocket.planning.plan import plan_collective
from strategies import RATE
from wide_trees import SHAPES, closed_bound, tapered_tree

BYTES = 1 << 20
MOST = 1.02  # times the bound
SECONDS = BYTES / RATE  # of a message at a host's speed

CASES = [
    pytest.param(
        shape,
        taper,
        id=f"{hosts} hosts, {levels}, {taper}:1",
        marks=[pytest.mark.slow] if hosts > 128 else [],
    )
    for hosts, by_levels in SHAPES.items()
    for levels, shape in by_levels.items()
    for taper in (1, 2, 4)
]


@pytest.mark.parametrize(("shape", "taper"), CASES)
def test_auto_comes_within_two_percent_of_the_closed_bound(shape: tuple[int, ...], taper: int) -> None:
    network, switch_links = tapered_tree(shape, taper)
    least = closed_bound(network.ranks, switch_links)
    planned = plan_collective("all-to-all", network, BYTES)
    assert planned.certificate.ok, planned.certificate.findings
    assert planned.schedule.phases <= MOST * least
    assert planned.predicted_seconds <= MOST * least * SECONDS


@pytest.mark.parametrize("shape", [(4, 4), (4, 16), (8, 16), (2, 4, 8)])
def test_a_fraction_of_a_host_speed_is_left_idle(shape: tuple[int, ...]) -> None:
    """Whole messages cross an inter-switch link side by side, each at its host's speed: 5 of 16 hosts at 3:1, where
    there is room for 5.33. The bound of whole messages is reached, that of the wires is missed by as much."""
    network, switch_links = tapered_tree(shape, 3)
    whole = [(below, float(floor(width))) for below, width in switch_links]
    planned = plan_collective("all-to-all", network, BYTES)
    assert planned.certificate.ok, planned.certificate.findings
    assert planned.predicted_seconds <= MOST * closed_bound(network.ranks, whole) * SECONDS


def test_four_full_leaves_of_16_hosts_take_63_phases() -> None:
    """Four leaves of 16 hosts, inter-switch links of 16 hosts' speeds: as many phases as a host has messages to
    send."""
    network, _ = tapered_tree((4, 16), 1)
    planned = plan_collective("all-to-all", network, BYTES)
    assert (planned.schedule.phases, planned.bound_phases, planned.certificate.ok) == (63, 63, True)
