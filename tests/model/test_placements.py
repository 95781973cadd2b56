"""bench/placements: its steps take what the core's do, and the jobs are read as they stand."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from hocket import _core
from hocket.planning.plan import plan_collective

_spec = importlib.util.spec_from_file_location(
    "placements_run", Path(__file__).parents[2] / "bench" / "placements" / "run.py"
)
assert _spec is not None and _spec.loader is not None
placements = importlib.util.module_from_spec(_spec)
sys.modules["placements_run"] = placements
_spec.loader.exec_module(placements)

JOB = placements.Job(np.array([0, 0, 1, 2, 2, 2, 3, 3]), np.array([0, 0, 0, 1, 1, 1, 1, 1]))
NAMES = {"all-to-all": "pairwise", "all-gather": "recursive-doubling", "all-reduce": "rabenseifner"}


def test_the_jobs() -> None:
    jobs = placements.read_jobs()
    assert (len(jobs), sum(job.hosts for job in jobs), max(job.hosts for job in jobs)) == (100, 4043, 256)


@pytest.mark.parametrize("collective", placements.COLLECTIVES)
@pytest.mark.parametrize("shares", placements.NETWORKS.values())
def test_steps_take_what_the_core_says(collective: str, shares: tuple[float, float]) -> None:
    network = placements.network_of(JOB, shares)
    size = placements.BYTES
    demand = plan_collective(collective, network, size).demand
    calls = {call.name: call for call in _core.library_calls() if call.pattern == collective}
    steps = placements.Steps(JOB, shares, 1, cyclic=False)
    for found, name in ((steps.ring(collective), "ring"), (steps.doubling(collective), NAMES[collective])):
        assert found == pytest.approx(_core.lockstep_seconds(network, calls[name].make(network, demand)))
    planned = plan_collective(collective, network, size)
    assert steps.windows(planned.schedule, 1) == pytest.approx(
        _core.lockstep_seconds(network, planned.schedule)
    )
    assert steps.windows(planned.schedule, planned.schedule.phases) >= planned.bound_seconds * 0.5


def test_several_ranks_a_host_in_turns() -> None:
    """Two hosts of one leaf: block by block half of a ring's messages stay within a host, in turns none."""
    job = placements.Job(np.array([0, 0]), np.array([0, 0]))
    block, turns = (placements.Steps(job, (1.0, 1.0), 2, cyclic) for cyclic in (False, True))
    rank = np.arange(4)
    assert block.take((rank + 1) % 4, placements.RATE) == pytest.approx(1.0)
    assert turns.take((rank + 1) % 4, placements.RATE) == pytest.approx(2.0)
