"""What each rank of a measured exchange does. Needs mpi4py; every function is collective."""

from __future__ import annotations

import ctypes
import datetime
import os
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from hocket.demand.collectives import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_TO_ALL,
    BROADCAST,
    GATHER,
    REDUCE,
    REDUCE_SCATTER,
    SCATTER,
)
from hocket.errors import UsageError
from hocket.launch.runtime.library import RuntimeLibrary, everywhere, load_library
from hocket.measure.bench.bounds import bound_seconds, nodes_of_ranks
from hocket.measure.bench.choice import choice_and_regret
from hocket.measure.bench.request import ALLTOALLV, Request
from hocket.measure.bench.sizes import irregular_sizes
from hocket.measure.bench.statistics import Row, Times, paired_ratio, served_by
from hocket.system.memory import available_memory
from hocket.units import format_total

Bytes = npt.NDArray[np.uint8]

_SIZES: Final = {
    ALL_GATHER: "a contribution",
    REDUCE_SCATTER: "a rank's block",
    ALL_REDUCE: "the vector",
    BROADCAST: "the vector",
    REDUCE: "the vector",
}
WARM_UP: Final = 3  # calls; an irregular exchange is planned in the second
LEAST_CALLS, MOST_CALLS = 3, 1000  # of a block
_LIBRARY_SHARE: Final = 2  # MPI libraries may need as much again as the buffers


def message(source: int, target: int, begin: int, end: int) -> Bytes:
    """Bytes ``begin`` to ``end`` of the message from one rank to another: each pair of ranks has its own."""
    key = (source * 0x9E3779B1 + target * 0x85EBCA77 + 0x1B873593) & 0xFFFFFFFF
    mixed = (np.arange(begin, end, dtype=np.uint32) + np.uint32(key)) * np.uint32(0xC2B2AE35)
    return ((mixed ^ (mixed >> np.uint32(15))) >> np.uint32(11)).astype(np.uint8)


class Exchange(ABC):
    """One size of one collective: buffers that know what must arrive. Sizes and offsets are bytes."""

    def __init__(self, rank: int, sent: list[tuple[int, int]], received: list[tuple[int, int]]) -> None:
        """``sent``: target and bytes of each message, as they lie in the buffer; ``received``: source and bytes."""
        self.rank = rank
        self.blocks = received
        self.send = np.concatenate(
            [np.empty(0, np.uint8), *(message(rank, target, 0, size) for target, size in sent)]
        )
        self.receive = np.empty(sum(size for _, size in received), np.uint8)

    @abstractmethod
    def call(self, comm: MPI.Intracomm) -> None:
        """The collective call."""

    def target(self) -> int:
        """Of what comes in, as its sender names it."""
        return self.rank

    def expected(self, source: int, size: int) -> Bytes:
        """What must come in of a block."""
        return message(source, self.target(), 0, size)

    def poison(self) -> None:
        """Makes every byte wrong, so that what does not arrive is noticed."""
        at = 0
        for source, size in self.blocks:
            np.invert(self.expected(source, size), out=self.receive[at : at + size])
            at += size

    def wrong(self) -> str:
        """The first byte that is not what its sender sent; empty if there is none."""
        at = 0
        for source, size in self.blocks:
            expected, got = self.expected(source, size), self.receive[at : at + size]
            if not np.array_equal(expected, got):
                byte = int(np.flatnonzero(expected != got)[0])
                return (
                    f"byte {byte} of the {size} from rank {source} to rank {self.rank} is "
                    f"0x{got[byte]:02x}, not 0x{expected[byte]:02x}"
                )
            at += size
        return ""


class AllToAll(Exchange):
    def __init__(self, comm: MPI.Intracomm, size: int) -> None:
        everybody = [(other, size) for other in range(comm.Get_size())]
        super().__init__(comm.Get_rank(), everybody, everybody)

    def call(self, comm: MPI.Intracomm) -> None:
        comm.Alltoall([self.send, MPI.BYTE], [self.receive, MPI.BYTE])


class AllGather(Exchange):
    def __init__(self, comm: MPI.Intracomm, size: int) -> None:
        everybody = [(other, size) for other in range(comm.Get_size())]
        super().__init__(comm.Get_rank(), [(self.target(), size)], everybody)

    def target(self) -> int:
        return 0  # all get the same

    def call(self, comm: MPI.Intracomm) -> None:
        comm.Allgather([self.send, MPI.BYTE], [self.receive, MPI.BYTE])


class AllToAllV(Exchange):
    def __init__(self, comm: MPI.Intracomm, sizes: npt.NDArray[np.int64]) -> None:
        rank = comm.Get_rank()
        out, into = sizes[rank].tolist(), sizes[:, rank].tolist()
        super().__init__(rank, list(enumerate(out)), list(enumerate(into)))
        self._out, self._into = self._layout(out), self._layout(into)

    @staticmethod
    def _layout(sizes: list[int]) -> tuple[list[int], list[int]]:
        return sizes, [0, *np.cumsum(sizes[:-1]).tolist()]

    def call(self, comm: MPI.Intracomm) -> None:
        comm.Alltoallv([self.send, self._out, MPI.BYTE], [self.receive, self._into, MPI.BYTE])


class Broadcast(Exchange):
    """From rank 0, whose buffer is filled again before each call."""

    def __init__(self, comm: MPI.Intracomm, size: int) -> None:
        super().__init__(comm.Get_rank(), [(0, size if comm.Get_rank() == 0 else 0)], [(0, size)])

    def target(self) -> int:
        return 0

    def call(self, comm: MPI.Intracomm) -> None:
        if self.rank == 0:
            self.receive[:] = self.send
        comm.Bcast([self.receive, MPI.BYTE])


class Gather(Exchange):
    """Into rank 0, as Scatter is from it."""

    def __init__(self, comm: MPI.Intracomm, size: int) -> None:
        rank = comm.Get_rank()
        everybody = [(other, size) for other in range(comm.Get_size())]
        super().__init__(rank, [(0, size)], everybody if rank == 0 else [])

    def call(self, comm: MPI.Intracomm) -> None:
        comm.Gather([self.send, MPI.BYTE], [self.receive, MPI.BYTE])


class Scatter(Exchange):
    def __init__(self, comm: MPI.Intracomm, size: int) -> None:
        rank = comm.Get_rank()
        everybody = [(other, size) for other in range(comm.Get_size())]
        super().__init__(rank, everybody if rank == 0 else [], [(0, size)])

    def call(self, comm: MPI.Intracomm) -> None:
        comm.Scatter([self.send, MPI.BYTE], [self.receive, MPI.BYTE])


class Sum(Exchange):
    """Of bytes without carry: what must come out does not depend on the order."""

    def __init__(
        self, comm: MPI.Intracomm, sent: list[tuple[int, int]], received: list[tuple[int, int]]
    ) -> None:
        super().__init__(comm.Get_rank(), sent, received)
        self._sums = {block: np.zeros(size, np.uint8) for block, size in received}
        for block, size in received:
            for rank in range(comm.Get_size()):
                self._sums[block] ^= message(rank, block, 0, size)

    def expected(self, source: int, size: int) -> Bytes:
        return self._sums[source]


class AllReduce(Sum):
    def __init__(self, comm: MPI.Intracomm, size: int) -> None:
        super().__init__(comm, [(0, size)], [(0, size)])

    def call(self, comm: MPI.Intracomm) -> None:
        comm.Allreduce([self.send, MPI.BYTE], [self.receive, MPI.BYTE], MPI.BXOR)


class Reduce(Sum):
    def __init__(self, comm: MPI.Intracomm, size: int) -> None:
        super().__init__(comm, [(0, size)], [(0, size)] if comm.Get_rank() == 0 else [])

    def call(self, comm: MPI.Intracomm) -> None:
        comm.Reduce([self.send, MPI.BYTE], [self.receive, MPI.BYTE], MPI.BXOR)


class ReduceScatter(Sum):
    def __init__(self, comm: MPI.Intracomm, size: int) -> None:
        blocks = [(other, size) for other in range(comm.Get_size())]
        super().__init__(comm, blocks, [(comm.Get_rank(), size)])

    def call(self, comm: MPI.Intracomm) -> None:
        comm.Reduce_scatter_block([self.send, MPI.BYTE], [self.receive, MPI.BYTE], MPI.BXOR)


EXCHANGES: Final[dict[str, Callable[[MPI.Intracomm, int], Exchange]]] = {
    ALL_TO_ALL: AllToAll,
    ALL_GATHER: AllGather,
    REDUCE_SCATTER: ReduceScatter,
    ALL_REDUCE: AllReduce,
    BROADCAST: Broadcast,
    REDUCE: Reduce,
    GATHER: Gather,
    SCATTER: Scatter,
}


class Measurement:
    """Both candidates in one job, on communicators of their own; the native one's is left alone by Hocket.

    ``library``: the runtime that the ranks were started with; None: only native calls are measured.
    """

    def __init__(self, comm: MPI.Intracomm, request: Request, library: RuntimeLibrary | None) -> None:
        self._network: Any = None
        self._nodes: Any = None
        self.comm = comm
        self.request = request
        self.library = library
        self.control = self._native()  # for barriers and figures
        self._names: dict[int, str] = {}  # of the communicators in use

    def row(self, size: int) -> Row:
        """One size: warm-up, then blocks A B B A of timed calls; the slowest rank's time counts."""
        exchange, sizes = self._exchange(size)
        native = self._native()
        # A fresh communicator: what it learnt from small messages must not count for large ones.
        scheduled = self.comm.Dup() if self.library is not None else None
        candidates = [native] if scheduled is None else [native, scheduled]
        self._names = {comm.handle: "scheduled" for comm in candidates} | {native.handle: "native"}
        problems: list[str] = []
        once = sum(self._warm_up(exchange, comm, problems) for comm in candidates)
        blocks = [native, *candidates[1:], *candidates[1:], native]
        count = int(self.request.seconds / max(len(blocks) / len(candidates) * once, 1e-9))
        count = min(max(count, LEAST_CALLS), MOST_CALLS)
        times: dict[bool, list[float]] = {False: [], True: []}
        before = self._scheduled_calls()
        for comm in blocks:
            times[comm is scheduled] += self._block(exchange, comm, count, problems)
        ours = self._scheduled_calls() - before
        for comm in candidates:
            comm.Free()
        bound = self._bound(size, sizes)
        wrong = problems[0] if problems else ""
        if scheduled is None:
            return Row(size, Times.of(times[False]), bound=bound, wrong=wrong)
        return Row(
            size,
            Times.of(times[False]),
            Times.of(times[True]),
            paired_ratio(times[False], times[True]),
            bound,
            served_by(ours, len(times[True])),
            wrong,
        )

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
        """One size by every candidate, each on a communicator of its own: warm-up, blocks in turn and back again."""
        exchange, sizes = self._exchange(size)
        comms = {name: self._by_candidate(name) for name in self.candidates()}
        self._names = {comm.handle: name for name, comm in comms.items()}
        problems: list[str] = []
        once = sum(self._warm_up(exchange, comm, problems) for comm in comms.values())
        count = min(max(int(self.request.seconds / max(2 * once, 1e-9)), LEAST_CALLS), MOST_CALLS)
        times: dict[str, list[float]] = {name: [] for name in comms}
        for name in [*comms, *reversed(comms)]:
            times[name] += self._block(exchange, comms[name], count, problems)
        for comm in comms.values():
            comm.Free()
        choice, regret = choice_and_regret(times)
        return Row(
            size,
            Times.of(times[next(iter(times))]),
            bound=self._bound(size, sizes),
            wrong=problems[0] if problems else "",
            candidates={name: Times.of(seconds) for name, seconds in times.items()},
            choice=choice,
            regret=regret,
        )

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
        if self.request.pattern != ALLTOALLV:
            return EXCHANGES[self.request.pattern](self.comm, size), None
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
            self.control.Barrier()
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


def measure(
    comm: MPI.Intracomm,
    request: Request,
    begins: Callable[[dict[str, Any]], None],
) -> Iterator[Row]:
    """The rows, the same on all ranks but for the bound, which rank 0 knows. Rank 0 calls ``begins`` with
    what the table's header says. Raises HocketError on all ranks."""
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
    """On rank 0; None on all others, or where nothing says it. Raises HocketError on all."""
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
    """Before anything is sent. Ranks of a host add up what they need; one of them compares."""
    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
    most, ranks = max(request.sizes), comm.Get_size()
    blocks = {
        ALL_TO_ALL: 2 * ranks,
        ALLTOALLV: 2 * ranks,
        ALL_GATHER: ranks + 1,
        REDUCE_SCATTER: ranks + 1,
        GATHER: ranks + 1,  # of the root
        SCATTER: ranks + 1,
    }.get(request.pattern, 2)
    need = _LIBRARY_SHARE * blocks * most * (3 if request.pattern == ALLTOALLV else 2) // 2 * host.Get_size()

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
    irregular = request.pattern == ALLTOALLV
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
