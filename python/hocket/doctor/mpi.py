"""The MPI: its launcher, its compiler wrapper, and whether they belong together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hocket.doctor.case import Case
from hocket.doctor.finding import Finding, ok, problem
from hocket.errors import MissingToolError
from hocket.launch.mpi import Abi, MpiFamily, find_mpi
from hocket.launch.runtime.ready import ready_runtime
from hocket.launch.runtime.wrapper import read_wrapper


def check_mpi(case: Case) -> Iterator[Finding]:
    mpi = replace(find_mpi(case.mpi_name), abi=case.abi)
    ready = case.ready = ready_runtime(mpi.mpicc)
    try:
        wrapper = read_wrapper(mpi.mpicc)
    except MissingToolError:
        if ready is None:
            raise
        case.mpi = mpi
        yield ok("mpi", f"{mpi.mpiexec}: {ready.mpi_name}")
        return
    family = MpiFamily.OPENMPI if wrapper.version.startswith("Open MPI") else MpiFamily.MPICH
    speaks_standard = wrapper.mpi.startswith("MPI ABI")
    if not speaks_standard and family is not mpi.family:
        yield problem(
            "mpi",
            f"{mpi.mpiexec} belongs to {mpi.family.value}, but {wrapper.path} to {wrapper.version}",
            "give the path of an mpiexec with its own mpicc beside it: --mpi /path/to/mpiexec",
        )
        return
    if case.abi is Abi.STANDARD and not speaks_standard:
        yield problem(
            "mpi", f"{wrapper.path} compiles for {wrapper.version}, not for the standard ABI",
            "use an MPI with libmpi_abi (MPICH 4.3 or later), or leave --abi standard out",
        )  # fmt: skip
        return
    case.mpi, case.wrapper = mpi, wrapper
    yield ok("mpi", f"{mpi.mpiexec}, {wrapper.path}: {wrapper.version}")
