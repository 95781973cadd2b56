"""Who serves calls is found out, and setups of freed communicators are taken over, in the middle of calls: what is
freed then is not written to any more. A sanitizer sees more (tests/runtime/sanitize.py), but rarely runs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from call_rows import grid, rows
from reported_calls import Said

pytestmark = pytest.mark.by_turns

# Calls so long beside their wires that the ranks meet soon, each row on a communicator of its own.
CALLS = grid(
    (4000000,),
    rows("alltoall alltoallv neighbor_allgather", "dense", "equal different", "world edges"),
    rounds=6,
    words="fresh",
)


@pytest.mark.parametrize("choose", ["learn", "predict"])
def test_ranks_that_meet_in_a_call(
    told: Callable[..., tuple[subprocess.CompletedProcess[str], Said]], freed_library: Path, choose: str
) -> None:
    env = {"LD_PRELOAD": str(freed_library)}
    done, said = told(CALLS, "chain:2,2", 4, "--choose", choose, "--rate", "100Gbit", env=env)
    assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr
    assert "all-to-all of 4 ranks on 4 hosts" in done.stderr  # they have met
    assert choose == "learn" or said.scheduled() > 0
