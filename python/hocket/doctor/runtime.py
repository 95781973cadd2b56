"""The runtime for this MPI: ready-made, built, or built now."""

from __future__ import annotations

from collections.abc import Iterator

from hocket.doctor.case import Case
from hocket.doctor.finding import Finding, ok
from hocket.launch.runtime.ready import find_runtime


def check_runtime(case: Case) -> Iterator[Finding]:
    if case.mpi is None:
        return
    case.runtime = find_runtime(case.mpi.mpicc)
    yield ok("runtime", f"{case.runtime.library.parent}")
