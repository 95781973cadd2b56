"""Communicators that come and go leave nothing behind."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable

import pytest

from reported_calls import Said
from scheduled_calls import EVERYTHING

Told = Callable[..., tuple[subprocess.CompletedProcess[str], Said]]


@pytest.mark.parametrize("communicators", [350, pytest.param(1100, marks=pytest.mark.slow)])
def test_memory_is_flat_after_a_hundred_communicators(told: Told, communicators: int) -> None:
    """A KiB for each would show. MPICH has about 2,000 at once: 1,100 of the program's and as many of ours are more."""
    done, said = told(
        f"many_comms {communicators} 8",
        "chain:2,1",
        3,
        env={**EVERYTHING, "HOCKET_SPIN_US": "0", "HOCKET_SLEEP_US": "50"},
    )
    assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr[-3000:]
    assert done.stderr.count("all-to-all of 3 ranks on 3 hosts") == communicators
    assert said.scheduled("MPI_Alltoall") + said.scheduled("MPI_Alltoall_init") >= communicators
    resident = {int(step): int(kib) for step, kib in re.findall(r"rss (\d+) (\d+)", done.stdout)}
    assert resident[communicators] - resident[100] < communicators - 100, resident
