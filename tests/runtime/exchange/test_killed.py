"""A rank that dies in the midst of a scheduled exchange ends the job as it would without Hocket."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from reported_calls import Said

Told = Callable[..., tuple[subprocess.CompletedProcess[str], Said]]


@pytest.mark.parametrize("how", ["kill", "exit", "abort", "mpi_abort"])
def test_a_rank_dies(told: Told, how: str) -> None:
    """The launcher ends the others; that it does not wait for them shows in that this test ends."""
    done, said = told(f"killed {how}", "chain:2,2", 4)
    assert done.returncode != 0
    assert said.scheduled("MPI_Alltoall", ranks=4) > 0, said
    if how == "mpi_abort":
        assert done.returncode == 9, done.returncode
