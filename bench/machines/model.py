"""Seconds of a program of messages on a machine, by seven costs.

A program is phases one after the other. A phase takes what posting its messages costs the busiest rank, then as long
as the busiest channel, interface or host needs for the bytes that it carries, and then what ranks copy and combine.
That is the model of Hocket's own predictions by load (core/model/predict.hpp), with interfaces of several ports.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hocket import _core

Ranks = NDArray[np.int64]
NEAR: Final = 0.2  # of a message's costs between hosts: those within a host, through shared memory
MOST_PEERS: Final = 128  # of a rank, whose connections an interface holds: beyond, it fetches one a message
MOVED: Final = 1e-7  # seconds: a block that is copied by itself waits for memory once
NONE: Final = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Phase:
    """Messages under way at once, ``times`` times over. ``bytes``: of each; ``posts``: messages that the busiest rank
    posts one after the other; ``pieces`` in which a message is sent; ``peers`` of a rank in all such phases;
    ``weight``: messages that each stands for; ``copied`` and ``combined``: bytes of the busiest rank, afterwards, or
    ``overlapped`` with messages; ``moved``: blocks that each thread copies by themselves. ``stream``: bytes that pass
    one interface, of phases whose routes are not known."""

    src: Ranks = field(default_factory=lambda: NONE)
    dst: Ranks = field(default_factory=lambda: NONE)
    bytes: float = 0
    times: float = 1
    posts: float = 1
    pieces: float = 1
    peers: float = 1
    weight: float = 1
    copied: float = 0
    moved: float = 0
    combined: float = 0
    stream: float = 0
    overlapped: bool = False


@dataclass(frozen=True)
class Program:
    """An algorithm's messages. ``ports``: interfaces that a rank drives at once; ``direct``: it writes into the
    memory of other ranks itself, past MPI; ``opened``: interfaces that each call makes ready for that;
    ``temporary``: bytes of each buffer that a call allocates, and of its part that is used; ``threads`` that
    combine."""

    phases: list[Phase]
    temporary: tuple[tuple[float, float], ...] = ()
    ports: int = 1
    direct: bool = False
    opened: int = 0
    threads: int = 1

    def then(self, other: Program) -> Program:
        return replace(
            self,
            phases=[*self.phases, *other.phases],
            temporary=(*self.temporary, *other.temporary),
            opened=self.opened + other.opened,
        )


@dataclass(frozen=True)
class Costs:
    """Costs that are fitted: ``eager``, seconds of a small message; ``rendezvous``, of a large one; ``rate``,
    bytes/s of an interface, and ``streamed``, its part that is left to messages larger than a cache
    where a host sends and receives at once; ``combine``,
    seconds per byte (copying costs two thirds: two passes over memory instead of three); ``fresh``, seconds per byte
    of newly mapped memory; ``port``, seconds that it costs to make one interface ready for direct
    writes."""

    eager: float = 2.5e-6
    rendezvous: float = 1e-5
    rate: float = 1e10
    streamed: float = 0.7
    combine: float = 1e-10
    fresh: float = 3e-10
    port: float = 6e-6

    @property
    def copy(self) -> float:
        return self.combine * 2 / 3


@dataclass(frozen=True)
class Habits:
    """Sizes at which a machine's library does otherwise; not fitted. ``eager_bytes``: messages up to here are copied
    at both ends (None: whatever is cheaper, as UCX chooses); ``cache``: messages and vectors from here on stream
    from memory, smaller vectors cost the part ``cached`` of what is fitted; ``mapped``: buffers from here on are new
    memory."""

    eager_bytes: int | None = None
    cache: float = 1 << 24
    cached: float = 0.4
    mapped: float = 1 << 25


class Load(NamedTuple):
    """``both``: a host sends and receives at once."""

    channel: float
    rank: float
    host: float
    inside: float
    away: float
    both: bool = True


@dataclass(eq=False)
class Fabric:
    """The network of a job and the places of its hosts. ``nominal``: bytes/s of each of a host's ``interfaces``;
    ``memory``: bytes/s of a host."""

    network: _core.Network
    places: Sequence[int]
    ranks_per_host: int
    nominal: float
    interfaces: int
    memory: float

    def __post_init__(self) -> None:
        hosts, ranks = np.asarray(self.places, np.int64), self.ranks_per_host
        self.core_rank = (hosts[:, None] * ranks + np.arange(ranks)).ravel()
        self.host = np.repeat(np.arange(len(hosts)), ranks)
        channels = range(self.network.channels)
        self._rates = np.array([self.network.rate(channel) for channel in channels] or [math.inf])
        self._routes: dict[int, list[int]] = {}  # by both hosts' numbers
        self._loads: dict[bytes, Load] = {}

    @property
    def ranks(self) -> int:
        return len(self.host)

    def load(self, src: Ranks, dst: Ranks) -> Load:
        """Loads by messages of one byte: nominal seconds of the busiest channel; messages of the busiest rank, of
        the busiest host, and within the busiest host; the part of all that leaves its host."""
        key = src.tobytes() + b"|" + dst.tobytes()
        if key not in self._loads:
            self._loads[key] = self._load(src, dst)
        return self._loads[key]

    def _load(self, src: Ranks, dst: Ranks) -> Load:
        away = self.host[src] != self.host[dst]
        inside = np.bincount(self.host[src[~away]], minlength=1).max(initial=0)
        src, dst = src[away], dst[away]
        if not len(src):
            return Load(0.0, 0.0, 0.0, float(inside), 0.0)
        pairs, counts = np.unique(self.host[src] * len(self.host) + self.host[dst], return_counts=True)
        busy = np.zeros(len(self._rates))
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
            if pair not in self._routes:
                ends = (
                    int(self.core_rank[host * self.ranks_per_host]) for host in divmod(pair, len(self.host))
                )
                self._routes[pair] = self.network.route(*ends)
            busy[self._routes[pair]] += count
        one = max(np.bincount(src).max(), np.bincount(dst).max())
        host = max(np.bincount(self.host[src]).max(), np.bincount(self.host[dst]).max())
        both = bool(np.isin(self.host[src], self.host[dst]).any())
        busiest = float((busy / self._rates).max())
        return Load(busiest, float(one), float(host), float(inside), float(away.mean()), both)


def seconds(program: Program, vector: float, fabric: Fabric, costs: Costs, habits: Habits) -> float:
    """Predicted seconds of one call on vectors of so many bytes."""
    # Ranks of a host share its memory.
    crowd = max(1.0, 3 * fabric.ranks_per_host / costs.copy / fabric.memory)
    warm = habits.cached if vector * fabric.ranks_per_host < habits.cache else 1.0
    threads = min(program.ports, 2)  # that copy at once
    total = costs.port * program.opened
    total += sum(costs.fresh * crowd * used for size, used in program.temporary if size >= habits.mapped)
    for phase in program.phases:
        size = phase.bytes or phase.stream
        load = fabric.load(phase.src, phase.dst) if len(phase.src) else Load(0.0, 0.0, 0.0, 0.0, 1.0)
        rate = costs.rate * (costs.streamed if size >= habits.cache and load.both else 1.0)
        carried = phase.bytes * phase.weight
        wire = max(
            load.channel * fabric.nominal / rate * carried,
            load.rank * carried / (rate * min(program.ports, fabric.interfaces)),
            load.host * carried / (rate * fabric.interfaces),
            load.inside * carried * costs.copy * crowd / fabric.ranks_per_host,
            phase.stream / rate,
        )
        local = costs.combine * phase.combined / program.threads + costs.copy * phase.copied / threads
        local = local * crowd * warm + phase.moved * MOVED
        if phase.combined and program.threads > 1:
            local += costs.port  # a team of threads is made ready, too
        busy = max(wire, local) if phase.overlapped else wire + local
        near = 1 - NEAR if not load.away or phase.times > 1 else 0.0  # passed on: at the mean pace
        posting = _posting(program, phase, size, costs, habits) * (1 - near * (1 - load.away))
        total += phase.times * (posting + busy)
    return total


def _posting(program: Program, phase: Phase, size: float, costs: Costs, habits: Habits) -> float:
    if not size:
        return 0.0
    if program.direct or phase.overlapped:
        return (costs.eager / 2 * phase.posts + costs.eager / 6 * (phase.pieces - 1)) * program.ports
    more = (phase.pieces - 1) * costs.eager / 8
    many = 4 if phase.peers > MOST_PEERS else 1
    first = costs.eager * (2 if many > 1 else 1)
    copied = first + (phase.posts - 1) * many * costs.eager / 2 + phase.posts * 2 * costs.copy * size
    met = costs.rendezvous + (phase.posts - 1) * many * costs.eager / 8
    if habits.eager_bytes is None:
        return min(copied, met) + more
    return (copied if size / phase.pieces <= habits.eager_bytes else met) + more
