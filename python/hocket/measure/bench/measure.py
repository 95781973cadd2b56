"""Work of each rank in a measured exchange. Needs mpi4py; every function is collective."""

from __future__ import annotations

import datetime
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from mpi4py import MPI

from hocket.demand.collectives import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_TO_ALL,
    BROADCAST,
    GATHER,
    IRREGULAR,
    REDUCE,
    REDUCE_SCATTER,
    SCATTER,
)
from hocket.errors import UsageError
from hocket.launch.job import Tell
from hocket.launch.runtime.library import RuntimeLibrary, everywhere, load_library
from hocket.measure.bench.measurement import Measurement
from hocket.measure.bench.request import Request
from hocket.measure.bench.statistics import Row
from hocket.system.memory import available_memory
from hocket.units import format_total

_SIZES: Final = {
    ALL_GATHER: "a contribution",
    REDUCE_SCATTER: "a rank's block",
    ALL_REDUCE: "the vector",
    BROADCAST: "the vector",
    REDUCE: "the vector",
}
_LIBRARY_SHARE: Final = 2  # MPI libraries may need as much again as the buffers


def work(comm: MPI.Intracomm, what: dict[str, Any], tell: Tell) -> bool:
    """Do one rank's part of a job; returns true when all was measured. Rank 0 tells the header and rows."""
    for row in measure(comm, Request.from_dict(what), lambda header: tell({"header": header})):
        if comm.Get_rank() == 0:
            tell({"row": row.as_dict()})
    return True


def measure(
    comm: MPI.Intracomm,
    request: Request,
    begins: Callable[[dict[str, Any]], None],
) -> Iterator[Row]:
    """Measure all rows, which are the same on all ranks but for the bound: only rank 0 knows it. Rank 0 calls
    ``begins`` with the table's header. Raises HocketError on all ranks."""
    _refuse_too_much(comm, request)
    library = _runtime(comm)
    network, source = _network_of(comm, request)
    placement = os.environ.get("HOCKET_PLACEMENT", "")
    measurement = Measurement(comm, request, library)
    measurement.prepare_bound(network, placement)
    hosts = comm.allgather(socket.gethostname() if placement == "order" else MPI.Get_processor_name())
    if request.candidates and library is None:
        raise UsageError(
            "there are no candidates: the ranks run without Hocket's runtime", remedy="add --network"
        )
    if comm.Get_rank() == 0:
        header = _header(request, comm.Get_size(), hosts, placement, source, library is not None)
        if request.candidates:
            header["Ratio"] = None
            header["Choice"] = "of the engine, given these times; regret: its median beyond the least"
            header["Candidates"] = " ".join(measurement.candidates())
        begins(header)
    for size in request.sizes:
        yield measurement.row_of_candidates(size) if request.candidates else measurement.row(size)
    measurement.close()


def _runtime(comm: MPI.Intracomm) -> RuntimeLibrary | None:
    """The one that the ranks were started with."""
    here = all(os.environ.get(name) for name in ("HOCKET_RUNTIME", "HOCKET_PLAN"))
    return load_library(comm) if all(comm.allgather(here)) else None


def _network_of(comm: MPI.Intracomm, request: Request) -> tuple[Any, str | None]:
    """Network (on rank 0) and the name of its source; None if neither the request nor a plan names a network.
    Raises HocketError on all ranks."""
    found: list[Any] = []

    def read() -> None:
        from hocket.launch.environment import read_plan
        from hocket.network import read_network

        if comm.Get_rank() != 0:
            return
        if request.network is not None:
            found.append(read_network(request.network))
        elif plans := os.environ.get("HOCKET_PLAN"):
            found.append(read_plan(Path(plans.partition(":")[0])).build_network())

    everywhere(comm, read)
    return (found[0] if found else None), request.network or ("of the job's plan" if found else None)


def _refuse_too_much(comm: MPI.Intracomm, request: Request) -> None:
    """Check the memory before anything is sent. Ranks of a host add up what they need; one of them
    compares."""
    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
    most, ranks = max(request.sizes), comm.Get_size()
    blocks = {
        ALL_TO_ALL: 2 * ranks,
        IRREGULAR: 2 * ranks,
        ALL_GATHER: ranks + 1,
        REDUCE_SCATTER: ranks + 1,
        GATHER: ranks + 1,  # of the root
        SCATTER: ranks + 1,
    }.get(request.pattern, 2)
    need = _LIBRARY_SHARE * blocks * most * (3 if request.pattern == IRREGULAR else 2) // 2 * host.Get_size()

    def refuse() -> None:
        free = available_memory()
        if host.Get_rank() != 0 or need <= free:
            return
        raise UsageError(
            f"messages of {format_total(most)} need about {format_total(need)} for the {host.Get_size()} "
            f"ranks of a host; {socket.gethostname()} has {format_total(free)}",
            remedy="end --sizes with a smaller one",
        )

    everywhere(comm, refuse)
    host.Free()


def _header(
    request: Request, ranks: int, hosts: list[str], placement: str, network: str | None, scheduled: bool
) -> dict[str, Any]:
    irregular = request.pattern == IRREGULAR
    shared = network is not None and len(set(hosts)) == 1
    sizes = "a message, on average: each has 0.5 to 1.5 times as much" if irregular else "a message"
    return {
        "Hocket": f"bench {request.pattern}",
        "Date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "MPI": " ".join(MPI.Get_library_version().splitlines()[0].partition(",")[0].split()),
        "Ranks": f"{ranks} on {len(set(hosts))} machine{'s' if len(set(hosts)) > 1 else ''}",
        "Network": network or "unknown, so no bound",
        "Bound": "of its links; the ranks share one machine and do not use them" if shared else None,
        "Placement": placement or "names",
        "Scheduled": "in the same job" if scheduled else "no: the ranks run without Hocket's runtime",
        "Size": f"bytes of {_SIZES.get(request.pattern, sizes)}",
        "Demand": f"density {request.density:g}, seed {request.seed}" if irregular else None,
        "Time": "of the slowest rank, after a barrier; median over all calls",
        "Ratio": "median of native / scheduled, call by call; in turn: native, scheduled, scheduled, native",
    }
