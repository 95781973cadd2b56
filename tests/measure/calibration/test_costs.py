"""From figures to predictions: measured and assumed."""

from __future__ import annotations

import pytest

from hocket import _core
from hocket.costs.calibration import Calibration, Figure
from hocket.costs.model import costs_for
from hocket.network import read_network
from hocket.planning.candidates import Forecast, forecast
from hocket.planning.plan import plan_collective
from measure.calibration.conftest import made


def exchange(form: str, bytes: int, pattern: str = "all-to-all") -> _core.Plan:
    return plan_collective(pattern, read_network(form), bytes)


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("star:4@1Gbit,10us", "ethernet-1g"),
        ("star:4@10Gbit,5us", "ethernet-10g"),
        ("star:4@25Gbit,5us", "ethernet-25g"),
        ("star:4@200Gbit,0.3us", "ib-hdr"),
        ("star:4@400Gbit,0.3us", "ib-ndr"),
        ("star:4@50Mbit,5us", "ethernet-1g"),
    ],
)
def test_profiles_by_rate(form: str, name: str) -> None:
    network = read_network(form)
    assert network.cost_profile().name == name
    assert costs_for(network, None, "").origin == f"assumed: {name}"


def test_profiles_make_sense() -> None:
    assert [one.name for one in _core.cost_profiles()] == [
        "ethernet-1g", "ethernet-10g", "ethernet-25g", "ib-hdr", "ib-ndr", "shared-memory",
    ]  # fmt: skip
    for one in _core.cost_profiles():
        assert one.hosts[0] == 1 and list(one.hosts) == sorted(one.hosts, reverse=True)
        assert 0 < one.send < one.latency * 10 and one.wire >= 1


def test_one_host_is_shared_memory() -> None:
    network = _core.Network.tree(["a"], [4], [], [], [], [])
    assert network.cost_profile().name == "shared-memory"


def test_measured_costs(calibration: Calibration) -> None:
    network = read_network("chain:2,2,2@100Mbit")
    costs = costs_for(network, calibration, "here.json")
    assert costs.origin == "measured 2026-11-23, MPICH Version: 5.0.1 (here.json)"
    found = costs.parameters(network, 65536, segmented=True)
    assert found.alpha == 2e-6 and found.receive == 3e-6 and found.overhead == pytest.approx(1.08)
    # Messages and tokens are noticed 25 us late, half of a token's time.
    assert found.latencies == pytest.approx([3.5e-5, 3.5e-5, 3.5e-5, 4e-5, 4.5e-5])
    assert found.contention == ([1.0, 0.9, 0.8, 0.5], [1.0, 1.0, 1.0, 1.0])
    # A token: two times 2 us of work, 35 us until it is noticed, the rest as it comes: 50 us in all.
    assert found.token == pytest.approx(11e-6) and found.token_work == 2e-6


def test_one_message_takes_what_was_measured(calibration: Calibration) -> None:
    """The simulator with a calibration's costs gives the calibration's times back."""
    network = read_network("star:2@100Mbit")
    costs = costs_for(network, calibration, "")
    for bytes in (1, 4096, 65536):
        schedule = _core.Schedule.from_rows(2, bytes, [(0, 0, 1, 0, 1, 0, bytes)])
        found = _core.simulate(
            network, schedule, None, "free", costs.parameters(network, bytes, segmented=False)
        ).seconds
        assert found == pytest.approx(calibration.between_hosts.seconds(bytes), rel=1e-3)


def windows(found: Forecast) -> list[str]:
    """The fastest first."""
    usual = {f"window-{window}" for window in (1, 2, 4, 8)}
    return [one.name for one in found.candidates if one.name in usual]


def test_the_window_follows_from_the_costs(calibration: Calibration) -> None:
    """Dear tokens ask for wider windows; crowds on a wire for narrow ones."""
    small = exchange("chain:4,4@100Mbit", 1024)
    dear = forecast(small, costs_for(small.network, calibration, ""))
    assert windows(dear)[0] == "window-8"
    large = exchange("chain:4,4@100Mbit", 1 << 18)
    parts = tuple(type(f)(f.flows, f.bytes, 1.0 if f.flows == 1 else 0.3, 0) for f in calibration.host_flows)
    crowded = made(host_flows=parts, switch_link_flows=parts, token_loaded=Figure(1e-6))
    assert windows(forecast(large, costs_for(large.network, crowded, "")))[0] == "window-1"


def test_candidates_of_a_collective(calibration: Calibration) -> None:
    for pattern, natives in (
        ("all-to-all", {"all-at-once", "ring", "pairwise", "bruck"}),
        ("all-gather", {"ring", "recursive-doubling", "bruck"}),
    ):
        here = exchange("star:8@100Mbit", 65536, pattern)
        found = forecast(here, costs_for(here.network, calibration, ""))
        large = {"window-1-large", "window-4-large", "order-large"}
        assert {one.name for one in found.candidates} == {*windows(found), "order", *large}
        assert {one.name for one in found.library} == natives
        bound = _core.lower_bounds(here.network, here.demand).seconds
        seconds = [one.seconds for one in (*found.candidates, *found.library)]
        assert all(one is not None and one >= bound for one in seconds)
        assert found.settings is not None and found.settings.segment % 4096 == 0


def test_nothing_is_settled_by_assumed_costs() -> None:
    here = exchange("star:4@10Gbit", 65536)
    found = forecast(here, costs_for(here.network, None, ""))
    assert found.settings is None and found.lines()[0] == "costs       assumed: ethernet-10g"
    assert found.as_json()["measured"] is False
