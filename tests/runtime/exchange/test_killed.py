"""A rank that dies in the midst of a scheduled exchange ends the job as it would without Hocket."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

Launched = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("how", ["kill", "exit", "abort", "mpi_abort"])
def test_a_rank_dies(launch: Launched, how: str) -> None:
    """The launcher ends the others; that it does not wait for them shows in that this test ends."""
    done = launch(f"killed {how}", "chain:2,2", 4)
    assert done.returncode != 0
    assert "all-to-all of 4 ranks on 4 hosts" in done.stderr, done.stderr
    if how == "mpi_abort":
        assert done.returncode == 9, done.returncode
