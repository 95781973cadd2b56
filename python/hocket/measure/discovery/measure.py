"""Rounds of streams until the bottlenecks between the hosts of a job are known. Needs mpi4py; all is collective."""

from __future__ import annotations

import datetime
import time
from typing import TYPE_CHECKING, Any, Final

from mpi4py import MPI

from hocket import _core
from hocket.launch.job import Tell
from hocket.measure.discovery.found import Bottleneck, Found
from hocket.measure.discovery.rounds import HostRanks, Say

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    count = len(hosts.names)
    if count < 2 or hosts.comm.Get_rank() != 0:
        while count >= 2 and hosts.rates([], 0, 0)[1]:
            pass
        return Found(_today(), _version(), hosts.names, hosts.ranks) if count < 2 else None
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
        _today(), _version(), hosts.names, hosts.ranks, probe.out, probe.into,
        [Bottleneck(b.hosts, b.out, b.into) for b in probe.bottlenecks], probe.errors, probe.by_pairing,
        probe.by_repeat, probe.rounds, moved, time.monotonic() - began,
    )  # fmt: skip


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def _version() -> str:
    return " ".join(MPI.Get_library_version().splitlines()[0].strip("\0 ")[:60].split())
