"""The launcher and the MPI library, without Hocket: if this fails, Hocket cannot help."""

from __future__ import annotations

from collections.abc import Iterator

from hocket.doctor.case import Case
from hocket.doctor.finding import Finding, note, ok, problem
from hocket.doctor.start import probe_of, rank_count, ranks_in, start


def check_launcher(case: Case) -> Iterator[Finding]:
    if case.mpi is None:
        return
    start(case, {}, ["uname", "-n"])
    probe = probe_of(case)
    if probe is None:
        yield note("launcher", "starts ranks; without a compiler and mpi4py none was started that calls MPI",
                   "pip install 'hocket[mpi4py]', or install a C++ compiler")  # fmt: skip
        return
    told = ranks_in(start(case, {}, probe).stdout)
    count = rank_count(case)
    again = "check that mpiexec, mpicc and the MPI library that ranks load are of one installation"
    if [rank.rank for rank in told] != list(range(count)):
        singles = (
            "each rank believes it is alone"
            if told and not any(rank.rank for rank in told)
            else "some are missing"
        )
        yield problem(
            "launcher", f"{count} ranks were started, {len(told)} told of themselves: {singles}", again
        )
        return
    if not all(rank.right for rank in told):
        yield problem("launcher", "an all-to-all of the MPI library delivers wrong bytes", again)
        return
    case.probe = probe
    case.ranks_told = told
    hosts = len({rank.name for rank in told})
    yield ok(
        "launcher",
        f"starts {count} ranks on {hosts} {'host' if hosts == 1 else 'hosts'}, and their all-to-all is right",
    )
