"""Work of each rank in a measured exchange. Needs mpi4py; every function is collective."""

import ctypes
import datetime
import os
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from hocket.demand import collectives
from hocket.demand.collectives import IRREGULAR
from hocket.errors import UsageError
from hocket.launch.environment import read_plan
from hocket.launch.job import Tell
from hocket.launch.runtime.library import RuntimeLibrary, everywhere, load_library
from hocket.measure.bench_exchanges import AllToAllV, Exchange, bound_seconds, exchange_of, nodes_of_ranks
from hocket.measure.bench_rows import (
    Request,
    Row,
    Times,
    choice_and_regret,
    irregular_sizes,
    paired_ratio,
    served_by,
)
from hocket.network import read_network
from hocket.system.memory import available_memory
from hocket.units import format_total

WARM_UP: Final = 3  # calls; an irregular exchange is planned in the second
LEAST_CALLS, MOST_CALLS = 3, 1000  # of a block


class Measurement:
    """Measurement of both candidates in one job, on communicators of their own; Hocket ignores the native one's.

    ``library``: the runtime that the ranks were started with; None: only native calls are measured."""

    def __init__(self, comm: MPI.Intracomm, request: Request, library: RuntimeLibrary | None) -> None:
        self._network: Any = None
        self._nodes: Any = None
        self.comm = comm
        self.request = request
        self.library = library
        self.control = self._native()  # for figures
        self._names: dict[int, str] = {}  # of the communicators in use

    def row(self, size: int) -> Row:
        """Measure one size by the library's call and, if there is a runtime, as it is scheduled."""
        comms = {"native": self._native()}
        if self.library is not None:
            # A fresh communicator: what it learnt from small messages must not count for large ones.
            comms["scheduled"] = self.comm.Dup()
        row, times, ours = self._in_turn(size, comms)
        if "scheduled" not in times:
            return row
        return replace(
            row,
            scheduled=Times.of(times["scheduled"]),
            ratio=paired_ratio(times["native"], times["scheduled"]),
            served=served_by(ours, len(times["scheduled"])),
        )

    def _in_turn(self, size: int, comms: dict[str, MPI.Intracomm]) -> tuple[Row, dict[str, list[float]], int]:
        """Measure one size on each communicator: warm-up, then blocks A B B A of timed calls; the slowest rank's time
        counts. Returns the row with the first one's times, the seconds of all, and how many calls were scheduled."""
        exchange, sizes = self._exchange(size)
        self._names = {comm.handle: name for name, comm in comms.items()}
        problems: list[str] = []
        once = sum(self._warm_up(exchange, comm, problems) for comm in comms.values())
        count = min(max(int(self.request.seconds / max(2 * once, 1e-9)), LEAST_CALLS), MOST_CALLS)
        times: dict[str, list[float]] = {name: [] for name in comms}
        before = self._scheduled_calls()
        for name in [*comms, *reversed(comms)]:
            times[name] += self._block(exchange, comms[name], count, problems)
        ours = self._scheduled_calls() - before
        for comm in comms.values():
            comm.Free()
        first = Times.of(next(iter(times.values())))
        bound, wrong = self._bound(size, sizes), problems[0] if problems else ""
        return Row(size, first, bound=bound, wrong=wrong), times, ours

    def candidates(self) -> list[str]:
        """Names of what calls are chosen from; nothing without a runtime."""
        names: list[str] = []
        if self.library is not None:
            while name := self.library.value(
                "hocket_candidate_name", ctypes.c_char_p, ctypes.c_int(len(names))
            ):
                names.append(name.decode())
        return names

    def row_of_candidates(self, size: int) -> Row:
        """Measure one size by every candidate, each on a communicator of its own."""
        row, times, _ = self._in_turn(size, {name: self._by_candidate(name) for name in self.candidates()})
        choice, regret = choice_and_regret(times)
        candidates = {name: Times.of(seconds) for name, seconds in times.items()}
        return replace(row, candidates=candidates, choice=choice, regret=regret)

    def close(self) -> None:
        self.control.Free()

    def prepare_bound(self, network: Any, placement: str) -> None:
        """Rank 0 computes what no schedule can beat; ``network`` is None on all others, or if unknown."""
        processors = self.comm.gather(MPI.Get_processor_name())
        self._network = network
        self._nodes = nodes_of_ranks(network, processors, placement) if network and processors else None

    def _by_candidate(self, name: str) -> MPI.Intracomm:
        comm = self.comm.Dup()
        if self.library is not None:
            self.library.check("hocket_serve_by", self.library.handle(comm), name.encode())
        return comm

    def _native(self) -> MPI.Intracomm:
        comm = self.comm.Dup()
        if self.library is not None:
            self.library.check("hocket_leave_alone", self.library.handle(comm))
        return comm

    def _exchange(self, size: int) -> tuple[Exchange, npt.NDArray[np.int64] | None]:
        if self.request.pattern != IRREGULAR:
            return exchange_of(self.comm, self.request.pattern, size), None
        sizes = irregular_sizes(self.comm.Get_size(), size, self.request.density, self.request.seed)
        return AllToAllV(self.comm, sizes), sizes

    def _warm_up(self, exchange: Exchange, comm: MPI.Intracomm, problems: list[str]) -> float:
        """Seconds of the last call; the first one's data are checked."""
        self._block(exchange, comm, 1, problems)
        return self._block(exchange, comm, WARM_UP - 1, problems)[-1]

    def _block(self, exchange: Exchange, comm: MPI.Intracomm, count: int, problems: list[str]) -> list[float]:
        """Seconds of each call, of the slowest rank. The last one's data are checked."""
        times = np.empty(count)
        for i in range(count):
            if i + 1 == count:
                exchange.poison()
            comm.Barrier()  # where the ranks may agree on who serves the call
            begin = time.perf_counter()
            exchange.call(comm)
            times[i] = time.perf_counter() - begin
        self.control.Allreduce(MPI.IN_PLACE, times, MPI.MAX)
        who = self._names[comm.handle]
        problems += [f"{who} call: {wrong}" for wrong in self.control.allgather(exchange.wrong()) if wrong]
        return [float(seconds) for seconds in times]

    def _scheduled_calls(self) -> int:
        if self.library is None:
            return 0
        return int(self.library.value("hocket_scheduled_calls", ctypes.c_uint64))

    def _bound(self, size: int, sizes: npt.NDArray[np.int64] | None) -> float | None:
        if self._network is None:
            return None
        return bound_seconds(
            self._network, self._nodes, self.comm.Get_size(), self.request.pattern, size, sizes
        )


_SIZES: Final = {
    collectives.ALL_GATHER: "a contribution",
    collectives.REDUCE_SCATTER: "a rank's block",
    collectives.ALL_REDUCE: "the vector",
    collectives.BROADCAST: "the vector",
    collectives.REDUCE: "the vector",
}
_LIBRARY_SHARE: Final = 2  # MPI libraries may need as much again as the buffers


def work(comm: MPI.Intracomm, what: dict[str, Any], tell: Tell) -> bool:
    """Do one rank's part of a job; returns true when all was measured. Rank 0 tells the header and rows."""
    request = Request(**{**what, "sizes": tuple(what["sizes"])})
    for row in measure(comm, request, lambda header: tell({"header": header})):
        if comm.Get_rank() == 0:
            tell({"row": asdict(row)})
    return True


def measure(comm: MPI.Intracomm, request: Request, begins: Callable[[dict[str, Any]], None]) -> Iterator[Row]:
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

    def read() -> Any:
        if comm.Get_rank() != 0:
            return None
        if request.network is not None:
            return read_network(request.network)
        plans = os.environ.get("HOCKET_PLAN")
        return read_plan(Path(plans.partition(":")[0])).network if plans else None

    found = everywhere(comm, read)
    return found, request.network or (None if found is None else "of the job's plan")


def _refuse_too_much(comm: MPI.Intracomm, request: Request) -> None:
    """Check the memory before anything is sent. Ranks of a host add up what they need; one of them compares."""
    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
    most, ranks = max(request.sizes), comm.Get_size()
    blocks = {
        collectives.ALL_TO_ALL: 2 * ranks,
        IRREGULAR: 2 * ranks,
        collectives.ALL_GATHER: ranks + 1,
        collectives.REDUCE_SCATTER: ranks + 1,
        collectives.GATHER: ranks + 1,  # of the root
        collectives.SCATTER: ranks + 1,
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
