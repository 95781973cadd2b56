"""Erroneous calls at sizes that are scheduled: classes and error handlers as without Hocket."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hocket.launch.mpi import Mpi
from mpi_programs import mpiexec
from reported_calls import Said
from scheduled_calls import EVERYTHING

Told = Callable[..., tuple[subprocess.CompletedProcess[str], Said]]


def test_errors_are_the_librarys(mpi: Mpi, told: Told, compiled: Callable[[str], Path]) -> None:
    native = mpiexec(mpi, 4, [str(compiled("errors"))], {})
    done, said = told("errors", "chain:2,2", 4, env=EVERYTHING)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == native
    assert said.scheduled("MPI_Alltoall") > 0 and said.scheduled("MPI_Alltoallv") > 0


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)  # Open MPI's MPI_Sendrecv says nothing
def test_a_message_cut_off_while_an_exchange_is_active(told: Told) -> None:
    done, said = told("truncated", "chain:2,2", 4, "--min-bytes", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "ok"
    assert said.scheduled("MPI_Alltoall") + said.scheduled("MPI_Alltoall_init") > 0
