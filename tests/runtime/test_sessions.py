"""Programs without MPI_COMM_WORLD: MPI sessions, which may end and begin again."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from irregular import EVERYTHING

Launched = Callable[..., subprocess.CompletedProcess[str]]


def test_sessions_one_after_the_other(launch: Launched) -> None:
    done = launch("sessions 3", "chain:2,2", 4, env={**EVERYTHING, "HOCKET_SLEEP_US": "soon"})
    if "no sessions" in done.stdout:
        pytest.skip("this MPI has no sessions")
    assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr
    # Two communicators in each of three rounds, placed by the launcher's ranks.
    assert done.stderr.count("all-to-all of 4 ranks on 4 hosts") == 6, done.stderr
    assert done.stderr.count("HOCKET_SLEEP_US") == 1
