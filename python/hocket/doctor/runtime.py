"""The runtime for this MPI: ready-made, built, or built now."""

from __future__ import annotations

from collections.abc import Iterator

from hocket.doctor.case import Case
from hocket.doctor.finding import Finding, ok, problem
from hocket.doctor.variables import ANEW
from hocket.launch.runtime.ready import find_runtime


def check_runtime(case: Case) -> Iterator[Finding]:
    if case.mpi is None:
        return
    case.runtime = find_runtime(case.mpi.mpicc)
    prepared = case.environment.get("HOCKET_RUNTIME_MPI", case.runtime.mpi)
    if prepared != case.runtime.mpi:
        yield problem("runtime", f"the job is prepared for {prepared} and {case.mpi.mpiexec} is of {case.runtime.mpi}",
                      f"{ANEW}; --mpi chooses another MPI")  # fmt: skip
    yield ok("runtime", f"{case.runtime.library.parent}{', ready-made' if case.ready else ''}")
