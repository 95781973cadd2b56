"""Sizes measured in turn: native and scheduled calls side by side, or every candidate."""

from __future__ import annotations

import ctypes
import time
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from hocket.demand.collectives import IRREGULAR
from hocket.launch.runtime.library import RuntimeLibrary
from hocket.measure.bench.bounds import bound_seconds, nodes_of_ranks
from hocket.measure.bench.exchanges import EXCHANGES, AllToAllV, Exchange
from hocket.measure.bench.request import Request, irregular_sizes
from hocket.measure.bench.statistics import Row, Times, choice_and_regret, paired_ratio, served_by

WARM_UP: Final = 3  # calls; an irregular exchange is planned in the second
LEAST_CALLS, MOST_CALLS = 3, 1000  # of a block


class Measurement:
    """Measurement of both candidates in one job, on communicators of their own; Hocket ignores the native
    one's.

    ``library``: the runtime that the ranks were started with; None: only native calls are measured.
    """

    def __init__(self, comm: MPI.Intracomm, request: Request, library: RuntimeLibrary | None) -> None:
        self._network: Any = None
        self._nodes: Any = None
        self.comm = comm
        self.request = request
        self.library = library
        self.control = self._native()  # for figures
        self._names: dict[int, str] = {}  # of the communicators in use

    def row(self, size: int) -> Row:
        """Measure one size: warm-up, then blocks A B B A of timed calls; the slowest rank's time counts."""
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
        """Measure one size by every candidate, each on a communicator of its own: warm-up, blocks in turn and
        back again."""
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
        if self.request.pattern != IRREGULAR:
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
