"""Which hosts of a job share a bottleneck: rounds of streams between them. Needs mpi4py; all is collective."""

import datetime
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from mpi4py import MPI

from hocket import _core
from hocket.launch.job import Tell
from hocket.measure.discovered import Bottleneck, Found, rate_of

_WINDOW: Final = 4  # messages of a stream under way
_DATA, _END = 1, 2
_LEAST_PAUSE, _MOST_PAUSE = 50e-6, 1e-3  # seconds between two looks: ranks of emulated hosts share cores
_IDLE_PAUSE: Final = 0.1  # of ranks that do not measure: dozens would keep the cores from those that do


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
        rest(self.everyone.Ibarrier(), _IDLE_PAUSE)

    def rates(
        self, streams: Sequence[tuple[int, int]], seconds: float, size: int
    ) -> tuple[list[float], bool]:
        """Bytes per second of each stream (from, to), each host being at most once either; and whether there was any.

        Rank 0 says which streams, for how long, in messages of how many bytes."""
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


def today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def mpi_version() -> str:
    """The MPI library in a few words."""
    return " ".join(MPI.Get_library_version().splitlines()[0].strip("\0 ")[:60].split())


def rest(request: MPI.Request, longest: float = _MOST_PAUSE) -> None:
    """Wait without keeping a core from others: blocking calls of MPI libraries poll."""
    pause = _LEAST_PAUSE
    while not request.Test():
        time.sleep(pause)
        pause = min(2 * pause, longest)


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
    began, pause, status = time.monotonic(), _LEAST_PAUSE, MPI.Status()
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
        pause = _LEAST_PAUSE if moved else min(2 * pause, _MOST_PAUSE)
        time.sleep(0 if moved else pause)
    return rate_of(came, size, seconds)


Say = Callable[[int, int, str], None]  # rounds so far, of how many, what they are for


_ROUNDS: Final = 150  # of a few dozen hosts
_ROUNDS_PER_HOST: Final = 2.2  # of more: a tournament and what comes after it
_LONGEST, _USUAL, _SHORTEST = 0.35, 0.15, 0.05  # seconds of a round; the shortest on fast networks
_BYTES: Final = 1.5e6  # of a stream at a host's rate in a round, where that takes long enough
_AROUND: Final = 0.06  # seconds between two rounds
_MESSAGES: Final = 64  # of a stream at a host's rate in a round
_LEAST, _FIRST, _MOST = 1 << 11, 1 << 15, 1 << 20  # bytes of a message


def measure(
    comm: MPI.Intracomm, seconds: float, say: Say, seed: int = 1, known: Found | None = None
) -> Found | None:
    """Measure for about so long, or check what is ``known`` by a few permutations; the result on rank 0. Raises
    HocketError on all ranks alike."""
    hosts = HostRanks(comm)
    found = _measured(hosts, seconds, say, seed, known) if hosts.measures else None
    hosts.wait()
    return found


def work(comm: MPI.Intracomm, what: dict[str, Any], tell: Tell) -> dict[str, Any] | None:
    """Do one rank's part of a job; returns what was found on rank 0."""
    known = Found.from_json(what["known"]) if "known" in what else None
    found = measure(
        comm, what["seconds"], lambda at, of, now: tell({"at": at, "of": of, "work": now}), known=known
    )
    return None if found is None else found.as_json()


def _measured(hosts: HostRanks, seconds: float, say: Say, seed: int, known: Found | None) -> Found | None:
    if (count := len(hosts.names)) < 2 or hosts.comm.Get_rank() != 0:
        while count >= 2 and hosts.rates([], 0, 0)[1]:
            pass
        return Found(today(), mpi_version(), hosts.names, hosts.ranks) if count < 2 else None
    most = int(min(max(_ROUNDS, _ROUNDS_PER_HOST * count), seconds / (_USUAL + _AROUND)))
    each = min(max(seconds / most - _AROUND, _SHORTEST), _LONGEST)
    began, moved = time.monotonic(), 0.0
    probe = _core.TreeProbe(count, seed, most) if known is None else known.among(hosts.names).check(seed)
    rates: Sequence[float] = hosts.rates(probe.next(), _LONGEST / 2, _FIRST)[0]  # how long messages should be
    each = min(each, max(_SHORTEST, _BYTES / max(*rates, 1.0)))
    size = _LEAST
    while 2 * size <= min(max(rates) * each / _MESSAGES, _MOST):
        size *= 2
    while streams := probe.next():
        say(probe.rounds, most, probe.doing)
        rates = hosts.rates(streams, each, size)[0]
        moved += sum(rates) * each
        probe.add(rates)
    hosts.rates([], 0, 0)  # others end
    return Found(
        today(), mpi_version(), hosts.names, hosts.ranks, probe.out, probe.into,
        [Bottleneck(b.hosts, b.out, b.into) for b in probe.bottlenecks], probe.errors, probe.by_pairing,
        probe.by_repeat, probe.rounds, moved, time.monotonic() - began,
    )  # fmt: skip
