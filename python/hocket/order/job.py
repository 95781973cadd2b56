"""Calls that a job's ranks are put in order for, as ``--for`` lists them, and the order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hocket import _core
from hocket.demand import read_traffic
from hocket.demand.collectives import ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, EQUAL, find
from hocket.errors import UsageError
from hocket.order.hosts import JobHosts

DEFAULT_CALLS: Final = (ALL_GATHER, ALL_REDUCE, ALL_TO_ALL)
FILES: Final = ("halo", "trace", "matrix")  # FILE behind one of these and a colon
_MOST_PIECES: Final = 64
# Collectives whose algorithms the core knows as steps.
_KNOWN: Final = tuple(
    entry.name for entry in EQUAL if _core.order.native_calls(entry.pattern, 4, 1, 1) and not entry.rooted
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A native algorithm (``name``) of a collective of ``bytes`` each; or the messages of a file of that name, all at
    once, where the demand is irregular."""

    collective: str
    name: str
    call: _core.order.Call
    demand: _core.Demand
    bytes: int


def parse_wanted(text: str, ranks: int, bytes: int) -> list[Wanted]:
    """The calls of ``all-gather,all-reduce:ring,matrix:FILE``, all pieces with the same weight.

    A collective stands for all algorithms that MPI libraries take for so many ranks and bytes, or for the one behind
    its colon; of ``bytes`` a message, contribution or block. Raises :class:`hocket.errors.HocketError`.
    """
    pieces = [piece.strip() for piece in text.split(",")]
    if len(pieces) > _MOST_PIECES:
        raise UsageError(f"--for lists {len(pieces)} calls", remedy=f"give at most {_MOST_PIECES}")
    return [one for piece in pieces for one in _piece(piece, ranks, bytes, 1 / len(pieces))]


def _piece(piece: str, ranks: int, bytes: int, weight: float) -> list[Wanted]:
    kind, _, rest = piece.partition(":")
    if kind in FILES:
        if not rest:
            raise UsageError(
                f"--for {kind}: names no file", remedy=f"write {kind}:FILE (see 'hocket help formats')"
            )
        traffic = read_traffic(rest)
        traffic.check_ranks(ranks, rest)
        demand = traffic.demand()
        return [Wanted(kind, rest, _core.order.demand_call(demand, weight), demand, demand.bytes)]
    if kind not in _KNOWN:
        files = ", ".join(f"{each}:FILE" for each in FILES)
        raise UsageError(
            f"--for {piece!r} is no call whose native algorithms are known",
            remedy=f"give some of {', '.join(_KNOWN)}, {files}",
        )
    demand = find(kind).demand(ranks, bytes, 0)
    found = dict(_core.order.native_calls(demand.pattern, ranks, demand.bytes, weight, every=bool(rest)))
    if rest and rest not in found:
        raise UsageError(
            f"--for {piece}: no such algorithm for {ranks:,} ranks", remedy=f"give one of {', '.join(found)}"
        )
    names = [rest] if rest else list(found)
    calls = dict(_core.order.native_calls(demand.pattern, ranks, demand.bytes, weight / len(names)))
    return [Wanted(kind, name, calls[name], demand, bytes) for name in names]


Places = NDArray[np.uint32]


@dataclass(frozen=True)
class Ordered:
    """``place[r]``: the number of rank r among the ranks of the job's network, which are numbered by hosts; ``given``:
    in the given order. ``how``: the order was found."""

    job: JobHosts
    place: Places
    given: Places
    how: str

    @property
    def changed(self) -> bool:
        return not np.array_equal(self.place, self.given)

    @cached_property
    def hosts(self) -> list[str]:
        """Per rank: the job's name of its host."""
        return hosts_at(self.job, self.place)

    @cached_property
    def blocks(self) -> list[tuple[str, int]]:
        """Hosts in the order of ranks, each with how many follow each other on it."""
        return [(name, len(list(ranks))) for name, ranks in itertools.groupby(self.hosts)]


def hosts_at(job: JobHosts, place: Places) -> list[str]:
    """The job's name of the host of each place."""
    counts = job.network.ranks_per_node
    of_node = job.name_of()
    names = [of_node[node] for node in job.network.hosts for _ in range(counts[node])]
    return [names[at] for at in place.tolist()]


def order_job(job: JobHosts, wanted: Sequence[Wanted], *, whole_hosts: bool = False) -> Ordered:
    """The order in which the calls load the wires least, by link rates alone; the given one if none is better.

    ``whole_hosts``: ranks fill the hosts one after the other, as launchers do that take a list of hosts.
    """
    freedom = _core.order.Freedom.hosts if whole_hosts else _core.order.Freedom.ranks
    place, how = _core.order.order_ranks(job.network, job.nodes, [one.call for one in wanted], freedom)
    return Ordered(job, place, _core.order.filled(job.network, job.nodes), how)


def gain_of(network: _core.Network, before: Places, after: Places, wanted: Sequence[Wanted]) -> float:
    """How many times as fast the calls are after, by link rates alone: the geometric mean by their weights."""
    logs = 0.0
    for one in wanted:
        was, now = (_core.order.seconds(network, place, one.call)[0] for place in (before, after))
        if was > 0:
            logs += one.call.weight * (math.log(was / now) if now > 0 else math.inf)
    return math.exp(logs)


def ring_over_bound(network: _core.Network, place: Places) -> float | None:
    """Time of a ring's step over what it takes in any order (``core/order/order.hpp``); None on a single host."""
    least = _core.order.least_ring_step(network, 1.0)
    if least == 0:
        return None
    ring = dict(_core.order.native_calls(ALL_GATHER, network.ranks, 1, 1))["ring"]
    seconds: float = _core.order.seconds(network, place, ring)[0]
    return float(seconds / (network.ranks - 1) / least)
