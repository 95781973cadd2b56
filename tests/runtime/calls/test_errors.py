"""Erroneous calls at sizes that are scheduled: classes and error handlers as without Hocket."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hocket.mpi import Mpi
from mpi_programs import mpiexec
from scheduled_calls import EVERYTHING

Launched = Callable[..., subprocess.CompletedProcess[str]]


def test_errors_are_the_librarys(mpi: Mpi, launch: Launched, compiled: Callable[[str], Path]) -> None:
    native = mpiexec(mpi, 4, [str(compiled("errors"))], {})
    done = launch("errors", "chain:2,2", 4, env=EVERYTHING)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == native
    assert "all-to-all of 4 ranks on 4 hosts" in done.stderr
    assert "irregular exchange of 12 messages" in done.stderr


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)  # Open MPI's MPI_Sendrecv says nothing
def test_a_message_cut_off_while_an_exchange_is_active(launch: Launched) -> None:
    done = launch("truncated", "chain:2,2", 4, "--min-bytes", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "ok"
    assert "all-to-all of 4 ranks" in done.stderr
