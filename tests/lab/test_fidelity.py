"""Fidelity of runs in a lab: shares, drops and queues as computed by hand; who decided is said."""

from __future__ import annotations

import pytest

from hocket.lab.fidelity import Fidelity, Port, _result

RATE, LIMIT = 1_000_000, 60_000  # bytes/s, bytes


def port(at: float, sent: int, drops: int = 0) -> Port:
    return Port(at, sent, drops, 0, RATE, LIMIT)


def test_the_busiest_link_has_its_busiest_half_second() -> None:
    """Port 1 sends 10 % all the time, port 2 half a second at 80 % in the two seconds."""
    samples = []
    for at in range(21):
        burst = min(max(at - 10, 0), 5) * 80_000
        when = 10 + at / 10
        samples.append(
            {"sw port 1": port(when, 7 + at * 10_000), "sw port 2": port(when, burst, drops=3 + at)}
        )
    found = _result(0.5, samples, {"sw port 1": 100, "sw port 2": 4_000})
    assert (found.link, found.drops, found.queued, found.buffer) == ("sw port 2", 20, 4_000, LIMIT)
    assert found.busiest == pytest.approx(0.8) and found.mean == pytest.approx(0.2)
    assert (
        not found.processors_decided
        and "80% of its rate in its busiest half second, 20% over" in found.text()
    )


@pytest.mark.parametrize(
    ("processors", "busiest", "decided"), [(0.95, 0.7, True), (0.95, 0.95, False), (0.8, 0.7, False)]
)
def test_processors_decide_where_they_are_busy_and_no_link_is(processors, busiest, decided) -> None:
    found = Fidelity(processors, "sw port 1", busiest, 0.1, 0, 0, LIMIT)
    assert found.processors_decided is decided is found.to_json()["processors_decided"]
    assert ("processors were the bottleneck" in found.text()) is decided


def test_a_run_without_links_is_told() -> None:
    assert _result(0.1, [{}, {}], {}).text().startswith("processors 10% busy; busiest link - at 0%")
