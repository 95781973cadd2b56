"""Hosts of a job in their given order, the calls that its ranks are put in order for, and the order."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hocket import _core
from hocket.demand import read_traffic
from hocket.demand.collectives import ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, EQUAL, find
from hocket.errors import UsageError
from hocket.network.chosen import Named, expand, listed_names, slurm_lists
from hocket.network.description import suggestion
from hocket.network.source import Source, shown
from hocket.system.text import and_more

_TASKS: Final = re.compile(r"(\d{1,9})(?:\(x(\d{1,9})\))?", re.ASCII)
_MOST_RANKS: Final = 65_536  # of a host


@dataclass(frozen=True, slots=True)
class JobHosts:
    """``nodes[i]``: the network's node for host i of the job, which whoever starts the ranks calls ``names[i]``.
    ``network``: the whole, with ranks on these hosts alone."""

    network: _core.Network
    nodes: list[int]
    names: list[str]

    def name_of(self) -> dict[int, str]:
        """The job's name for each node."""
        return dict(zip(self.nodes, self.names, strict=True))


def whole_network(network: _core.Network, ranks: int | None) -> JobHosts:
    """All hosts in the network's order. ``ranks``: of each host; None: as the network says."""
    nodes = list(network.hosts)
    names = network.names
    return _job(network, nodes, [names[node] for node in nodes], ranks)


def listed_job(network: _core.Network, text: str, ranks: int | None) -> JobHosts:
    """The hosts that ``--hosts`` lists: ``n[0-15]``, ``@FILE`` or ``-``. A host that stands several times in a node
    file has as many ranks. Raises :class:`hocket.errors.HocketError` for names that the network lacks, and for a host
    that is named twice elsewhere."""
    listed = list(listed_names(text))
    times = Counter(one.name for one in listed)
    if len(times) == len(listed) or not all(one.counts for one in listed):
        return _named_job(network, listed, ranks)
    once = list({one.name: one for one in listed}.values())
    return _named_job(network, once, list(times.values()) if ranks is None else ranks)


def slurm_job(network: _core.Network, environ: Mapping[str, str], ranks: int | None) -> JobHosts:
    """The hosts of the Slurm job that this process is of, with as many ranks as Slurm gives tasks to each."""
    if not (groups := slurm_lists(environ)):
        raise UsageError(
            "--slurm: SLURM_JOB_NODELIST is not set, so this is no job of Slurm",
            remedy="call it in a job's script or within salloc, or give --hosts LIST",
        )
    lists = [[Named(name, source, 0) for name in expand(source.text, source)] for source, _ in groups]
    names = [name for listed in lists for name in listed]
    tasks = {end: environ.get(f"SLURM_TASKS_PER_NODE{end}", "") for _, end in groups}
    if ranks is not None or not all(tasks.values()):
        return _named_job(network, names, ranks)
    counts = []
    for listed, (end, text) in zip(lists, tasks.items(), strict=True):
        own = _tasks(f"SLURM_TASKS_PER_NODE{end}", text)
        if len(own) != len(listed):
            raise UsageError(
                f"SLURM_TASKS_PER_NODE{end} {shown(text)} is of {len(own)} hosts, SLURM_JOB_NODELIST{end} of "
                f"{len(listed)}",
                remedy="say --ranks-per-host",
            )
        counts += own
    return _named_job(network, names, counts)


def _tasks(name: str, text: str) -> list[int]:
    """Ranks of each host from Slurm's ``2(x3),1``."""
    counts: list[int] = []
    for part in text.split(","):
        match = _TASKS.fullmatch(part)
        if match is None or not 1 <= int(match[1]) <= _MOST_RANKS or int(match[2] or 1) > 10**6:
            raise UsageError(
                f"{name} is {shown(text)}, which is not like 2(x3),1", remedy="say --ranks-per-host"
            )
        counts += [int(match[1])] * int(match[2] or 1)
    return counts


def _named_job(network: _core.Network, listed: Sequence[Named], ranks: int | list[int] | None) -> JobHosts:
    known = network.names
    exact = {known[node]: node for node in network.hosts}
    short: dict[str, list[int]] = {}
    for name, node in exact.items():
        short.setdefault(name.partition(".")[0], []).append(node)
    taken: dict[int, Named] = {}
    counts: dict[int, int] = {}
    unknown: list[Named] = []
    for number, one in enumerate(listed):
        alike = [exact[one.name]] if one.name in exact else short.get(one.name.partition(".")[0], [])
        if len(alike) != 1:
            unknown.append(one)
            continue
        if isinstance(ranks, list):
            counts[alike[0]] = counts.get(alike[0], 0) + ranks[number]
        if (first := taken.setdefault(alike[0], one)) is not one and not counts:
            raise one.source.error(
                f"host {shown(one.name)} is named twice"
                + (f", first in line {first.line}" if first.line else ""),
                one.line,
                "name each host once; --ranks-per-host says how many ranks it has",
            )
    if unknown:
        raise _lacks(unknown, len(listed), exact)
    names = [one.name for one in taken.values()]
    return _job(network, list(taken), names, counts if isinstance(ranks, list) else ranks)


def _lacks(unknown: Sequence[Named], listed: int, known: Iterable[str]) -> Exception:
    first, names = unknown[0], [shown(one.name)[1:-1] for one in unknown]
    if listed == len(unknown) == 1:
        what = f"no host of the network is called {shown(first.name)}"
    elif listed == len(unknown):
        what = f"the network knows none of the {listed:,} hosts: {and_more(names)}"
    else:
        what = (
            f"the network knows {listed - len(unknown):,} of the {listed:,} hosts, but not {and_more(names)}"
        )
    remedy = (
        suggestion(first.name, list(known)) or "add them to the network file, or leave them out of the job"
    )
    return first.source.error(what, first.line, remedy)


def _job(
    network: _core.Network, nodes: list[int], names: list[str], ranks: int | dict[int, int] | None
) -> JobHosts:
    own = network.ranks_per_node
    counts = (
        ranks if isinstance(ranks, dict) else {node: own[node] if ranks is None else ranks for node in nodes}
    )
    try:
        part = network.restricted_to([counts.get(node, 0) for node in range(network.nodes)])
    except _core.InputError as problem:
        raise UsageError(
            f"the job does not fit the network: {problem}", remedy="give fewer ranks a host"
        ) from None
    return JobHosts(part, nodes, names)


def job_of(network: _core.Network, hosts: Sequence[tuple[str, int]]) -> JobHosts:
    """A job on hosts of these names, each with so many ranks."""
    source = Source("the job", "", is_file=False)
    return _named_job(network, [Named(name, source, 0) for name, _ in hosts], [ranks for _, ranks in hosts])


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
    its colon; of ``bytes`` a message, contribution or block. Raises :class:`hocket.errors.HocketError`."""
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
        counts, of_node = self.job.network.ranks_per_node, self.job.name_of()
        names = [of_node[node] for node in self.job.network.hosts for _ in range(counts[node])]
        return [names[at] for at in self.place.tolist()]

    @cached_property
    def blocks(self) -> list[tuple[str, int]]:
        """Hosts in the order of ranks, each with how many follow each other on it."""
        return [(name, len(list(ranks))) for name, ranks in itertools.groupby(self.hosts)]


def order_job(job: JobHosts, wanted: Sequence[Wanted], *, whole_hosts: bool = False) -> Ordered:
    """The order in which the calls load the wires least, by link rates alone; the given one if none is better.

    ``whole_hosts``: ranks fill the hosts one after the other, as launchers do that take a list of hosts."""
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
    if (least := _core.order.least_ring_step(network, 1.0)) == 0:
        return None
    ring = dict(_core.order.native_calls(ALL_GATHER, network.ranks, 1, 1))["ring"]
    seconds: float = _core.order.seconds(network, place, ring)[0]
    return float(seconds / (network.ranks - 1) / least)
