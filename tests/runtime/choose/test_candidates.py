"""Candidates in ``hocket plan`` are those that a run chooses from, with the same simulated times."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from random import Random

import pytest

from hocket import _core
from hocket.costs.model import SEGMENT, costs_for
from hocket.network import read_network
from hocket.planning.candidates import forecast
from hocket.planning.plan import plan_collective

# What an MPI does with a call, in any form and layout, is in test_call_grid with both.
pytestmark = pytest.mark.by_turns

Launch = Callable[..., subprocess.CompletedProcess[str]]

SLOW, FAST = "600000", "600"  # microseconds of a call by the library, by a schedule


def listed(network: str, pattern: str, size: int) -> list[str]:
    """Candidates that ``hocket plan`` lists."""
    command = [
        sys.executable,
        "-m",
        "hocket",
        "plan",
        pattern,
        "--network",
        network,
        "--bytes",
        str(size),
        "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [one["name"] for one in json.loads(done.stdout)["forecast"]["candidates"]]


@pytest.mark.parametrize(
    ("form", "pattern", "size"),
    [
        ("blocking", "all-to-all", 8192),
        ("blocking", "all-to-all", 65536),
        ("all-gather", "all-gather", 8192),
        ("all-gather", "all-gather", 65536),
    ],
)
@pytest.mark.parametrize("network", ["chain:2,2", "star:4"])
def test_a_run_chooses_from_what_a_plan_lists(
    launch: Launch, network: str, form: str, pattern: str, size: int
) -> None:
    program = f"choice_calls {form} {size} 3 {SLOW} {FAST} 1000"
    done = launch(program, network, 4, "--choose", "learn", "-vv", env={"HOCKET_CHOICES": ""})
    said = re.search(r"predicted milliseconds:((?: \S+ \S+)+)", done.stderr)
    assert done.returncode == 0 and said is not None, done.stdout + done.stderr
    names, seconds = said[1].split()[::2], [float(one) for one in said[1].split()[1::2]]
    assert seconds == sorted(seconds)
    assert {*names} - {"native"} == {*listed(network, pattern, size)}
    expected = expected_of(network, pattern, size, dict(zip(names, seconds, strict=True)))
    # Milliseconds with three digits, from which the step is found again.
    assert seconds == pytest.approx([expected[name] for name in names], abs=2e-3, rel=1e-3)


def expected_of(network: str, pattern: str, size: int, told: dict[str, float]) -> dict[str, float]:
    """Milliseconds by the simulation that ``hocket plan`` uses, with the cost of a step that the run has found out:
    the one by which ``window-1`` takes what the run says; and, in all-to-alls, with what messages at once lose."""
    planned = plan_collective(pattern, read_network(network), size)
    offered = _core.choose.offered(size, 4, planned.demand.run_window, SEGMENT)
    wire = planned.network.cost_profile().wire
    overhead = min(wire, told["native"] / 1e3 / planned.bound_seconds)

    def simulated(one: _core.choose.Candidate, step: float) -> float:
        costs = _core.choose.costs_of_steps(planned.network, step, overhead)
        found = _core.choose.simulated_seconds(planned.network, planned.schedule, one, costs)
        assert found is not None
        return found * 1e3

    by_name = {one.name: one for one in offered}
    least, most = 0.0, 10.0
    for _ in range(60):
        step = (least + most) / 2
        least, most = (
            (least, step) if simulated(by_name["window-1"], step) > told["window-1"] else (step, most)
        )

    def expected(name: str) -> float:
        found = simulated(by_name[name], step)
        crowds = pattern == "all-to-all"
        return _core.choose.in_a_crowd(found, told["native"], by_name[name]) if crowds else found

    return {name: told[name] if name == "native" else expected(name) for name in told}


def test_every_network_and_size_lists_what_the_runtimes_list_offers() -> None:
    lot = Random(7)
    for _ in range(50):
        network = read_network(f"chain:{','.join(str(lot.randint(1, 4)) for _ in range(lot.randint(2, 4)))}")
        size = lot.choice([64, 4096, SEGMENT, SEGMENT + 1, 1 << 18])
        pattern = lot.choice(["all-to-all", "all-gather", "all-reduce", "reduce-scatter"])
        planned = plan_collective(pattern, network, size)
        found = forecast(planned, costs_for(network, None, ""))
        offered = _core.choose.offered(
            planned.demand.bytes, network.ranks, planned.demand.run_window, SEGMENT
        )
        assert {one.name for one in found.candidates} == {
            one.name for one in offered if one.window > 0 and not one.two_level
        }
        seconds = [one.seconds for one in found.candidates]
        assert None not in seconds and seconds == sorted(seconds, key=float)
