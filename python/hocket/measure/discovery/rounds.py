"""Streams between hosts that go on together for a given time, and their rates. Needs mpi4py; all is collective."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from mpi4py import MPI

_WARM: Final = 0.35  # of the time: connections begin, queues fill, and token buckets that were full empty
_WINDOW: Final = 4  # messages of a stream under way
_DATA, _END = 1, 2
_SHORTEST, _LONGEST = 50e-6, 1e-3  # seconds between two looks: ranks of emulated hosts share cores
_ENOUGH: Final = 3  # messages whose times tell a rate
_LEAST_SPAN: Final = 0.3  # of the time that these have to cover


class HostRanks:
    """One rank of each host, on a communicator of their own."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        names = comm.allgather(MPI.Get_processor_name())
        self.names = list(dict.fromkeys(names))
        self.ranks = [names.count(name) for name in self.names]
        self.everyone = comm
        self.measures = names.index(names[comm.Get_rank()]) == comm.Get_rank()
        self.comm = comm.Split(int(self.measures), comm.Get_rank())

    def wait(self) -> None:
        """Let ranks that do not measure sleep until all is done."""
        rest(self.everyone.Ibarrier())

    def rates(
        self, streams: Sequence[tuple[int, int]], seconds: float, size: int
    ) -> tuple[list[float], bool]:
        """Bytes per second of each stream (from, to), each host being at most once either; and whether there was any.

        Rank 0 says which streams, for how long, in messages of how many bytes.
        """
        me, hosts = self.comm.Get_rank(), len(self.names)
        told = np.full(2 * hosts + 2, -1.0)
        for a, b in streams:
            told[a], told[hosts + b] = b, a
        told[-2:] = seconds, size
        rest(self.comm.Ibcast(told, 0))
        if (told[: 2 * hosts] < 0).all():
            return [], False
        rest(self.comm.Ibarrier())
        found, sums = np.zeros(hosts), np.zeros(hosts)
        found[me] = _exchange(self.comm, int(told[me]), int(told[hosts + me]), told[-2], int(told[-1]))
        rest(self.comm.Iallreduce(found, sums))
        return [float(sums[b]) for _, b in streams], True


def rest(request: MPI.Request) -> None:
    """Wait without keeping a core from others: blocking calls of MPI libraries poll."""
    pause = _SHORTEST
    while not request.Test():
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST)


def _exchange(comm: MPI.Comm, to: int, source: int, seconds: float, size: int) -> float:
    """Send and receive until the time is over; the rate of what came. A negative rank: neither."""
    data, came = np.zeros(size, np.uint8), list[float]()
    sends, receives = deque[MPI.Request](), deque[tuple[MPI.Request, Any]]()

    def send() -> None:
        sends.append(comm.Issend(data, to, _DATA))  # not to be buffered: it would go on when the time is over

    def receive(into: Any) -> None:
        receives.append((comm.Irecv(into, source, MPI.ANY_TAG), into))

    for _ in range(_WINDOW):
        if to >= 0:
            send()
        if source >= 0:
            receive(np.empty(size, np.uint8))
    began, pause, status = time.monotonic(), _SHORTEST, MPI.Status()
    while sends or receives:
        now, moved = time.monotonic() - began, False
        while sends and sends[0].Test():
            moved = True
            sends.popleft()
            if now < seconds:
                send()
            elif not sends:
                rest(comm.Isend(data[:0], to, _END))
        while receives and receives[0][0].Test(status):
            moved = True
            _, into = receives.popleft()
            if status.Get_tag() == _DATA:
                came.append(now)
                receive(into)
                continue
            while receives:
                request = receives.popleft()[0]
                request.Cancel()
                request.Wait()
        pause = _SHORTEST if moved else min(2 * pause, _LONGEST)
        time.sleep(0 if moved else pause)
    return rate_of([at for at in came if _WARM * seconds <= at <= seconds], size, seconds)


def rate_of(came: Sequence[float], size: int, seconds: float) -> float:
    """Rate of messages of one size by the times at which they came; of few by their number."""
    if len(came) >= _ENOUGH and came[-1] - came[0] >= _LEAST_SPAN * seconds:
        return (len(came) - 1) * size / (came[-1] - came[0])
    return len(came) * size / ((1 - _WARM) * seconds)


Say = Callable[[int, int, str], None]  # rounds so far, of how many, what they are for
