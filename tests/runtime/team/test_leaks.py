"""Communicators that come and go leave nothing behind."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable

from scheduled_calls import EVERYTHING

Launched = Callable[..., subprocess.CompletedProcess[str]]


def test_memory_is_flat_after_a_hundred_communicators(launch: Launched) -> None:
    """MPICH has about 2,000 at once: 1,100 of the program's and as many of ours would be more."""
    done = launch(
        "many_comms 1100 8",
        "chain:2,1",
        3,
        env={**EVERYTHING, "HOCKET_SPIN_US": "0", "HOCKET_SLEEP_US": "50"},
    )
    assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr[-3000:]
    assert done.stderr.count("all-to-all of 3 ranks on 3 hosts") == 1100
    resident = {int(step): int(kib) for step, kib in re.findall(r"rss (\d+) (\d+)", done.stdout)}
    assert resident[1100] - resident[100] < 1024, resident
