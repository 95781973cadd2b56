"""Paths of a running network, found by the ranks of a job. Needs mpi4py; every function is collective."""

import datetime
import socket
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from mpi4py import MPI

from hocket import _core
from hocket.errors import NetworkError, UsageError
from hocket.launch.runtime.library import everywhere
from hocket.measure.bench_exchanges import nodes_of_ranks
from hocket.network.path_probe import Probe, answers
from hocket.network.paths import LISTEN, PORTS, SEVERAL, SILENT, Paths, asked_of, port_of

BUDGET: Final = 64  # packets that a host sends to find its ways to another
_TWICE: Final = 2  # ports of each pair asked a second time, for spraying
_MOST_A_SECOND: Final = 240  # packets that a host sends
_MOST_ANSWERS: Final = 900  # a second, of a router; Linux gives 1,000
_MOST_TO_ONE: Final = 80  # a second, of a router to one host; switches give 100 and more


@dataclass(slots=True)
class Found:
    """Paths, and how they were found. ``packets``: the most that a host has sent for another; ``silent``: ports without
    an answer; ``strangers``: addresses that answered and are no router on the way, and how often."""

    paths: Paths
    packets: int
    seconds: float
    silent: int
    strangers: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Question:
    """One port of a pair: ``answered`` for what this host answers on a connection of the other one."""

    to: int
    index: int
    answered: bool


def find_paths(comm: MPI.Intracomm, network: _core.Network) -> Found | None:
    """Find the way of each port between all hosts of the job; on rank 0. Raises HocketError on all ranks alike."""
    began = MPI.Wtime()
    processors = comm.allgather(MPI.Get_processor_name())

    def look() -> Sequence[int]:
        if (nodes := nodes_of_ranks(network, processors, "names")) is None:
            raise UsageError("the ranks are not on the hosts of the network", remedy="give the job's network")
        if len(set(nodes)) < 2:
            raise UsageError("one host has no paths", remedy="start a rank on each host")
        return nodes

    nodes = everywhere(comm, look)
    firsts = {node: rank for rank, node in reversed(list(enumerate(nodes)))}
    hosts = sorted(firsts)
    addresses = _addresses(comm, [processors[firsts[node]] for node in hosts])

    def ask() -> Any:
        here = nodes[comm.Get_rank()]
        asks = firsts[here] == comm.Get_rank()
        return _asked(network, hosts, hosts.index(here), addresses) if asks else None

    if (told := comm.gather(everywhere(comm, ask))) is None:
        return None
    names = [network.name_of(node) for node in hosts]
    paths = Paths(
        datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        dict(zip(names, addresses, strict=True)),
        sorted({way for part in told if part for _, both in part[0].items() for ways in both for way in ways
                if isinstance(way, str)}),
        {address: switch for part in told if part for address, switch in part[3].items()},
    )  # fmt: skip
    number = {way: index for index, way in enumerate(paths.ways)} | {SILENT: SILENT, SEVERAL: SEVERAL}
    strangers: Counter[str] = Counter()
    packets = silent = 0
    for at, part in enumerate(each for each in [told[firsts[node]] for node in hosts]):
        for to, both in part[0].items():
            numbers = tuple([number[way] for way in ways] for ways in both)
            silent += sum(ways.count(SILENT) for ways in numbers)
            paths.pairs[names[at], names[to]] = numbers[0], numbers[1]
        strangers.update(part[1])
        packets = max(packets, part[2])
    return Found(paths, packets, MPI.Wtime() - began, silent, dict(strangers))


def _addresses(comm: MPI.Intracomm, names: Sequence[str]) -> list[str]:
    """IP address of each host as its neighbours in the list reach it."""
    own = ""
    with suppress(OSError):
        me = MPI.Get_processor_name()
        other = names[(names.index(me) + 1) % len(names)] if me in names else names[0]
        family, kind, _, _, there = socket.getaddrinfo(other, 9, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as handle:
            handle.connect(there)  # sends nothing
            own = handle.getsockname()[0]
    by_name = dict(zip(comm.allgather(MPI.Get_processor_name()), comm.allgather(own), strict=True))
    if missing := [name for name in names if not by_name[name]]:
        raise NetworkError(
            f"{missing[0]} has no address", remedy="names of hosts must have addresses on all hosts"
        )
    return [by_name[name] for name in names]


def _asked(
    network: _core.Network, hosts: Sequence[int], at: int, addresses: Sequence[str]
) -> tuple[dict[int, tuple[list[Any], list[Any]]], Counter[str], int, dict[str, str]]:
    """Ways from one host to each other: names of switches, or a mark; who else answered; the most packets of a pair;
    switches by their addresses."""
    way_to = {to: asked_of(network, hosts[at], hosts[to]) for to in range(len(hosts)) if to != at}
    way_to = {to: (hop, at_hop) for to, (hop, at_hop) in way_to.items() if at_hop}
    most_ways = max((len(ways) for _, ways in way_to.values()), default=1)
    a_second = min(_MOST_A_SECOND, _MOST_TO_ONE * most_ways, _MOST_ANSWERS * most_ways / len(hosts))

    # Pairs in turn, each host beginning with the next one, so that no router hears all at once.
    turn = sorted(way_to, key=lambda to: (to - at) % len(hosts))
    first = [_Question(to, i, answered) for i in range(PORTS) for answered in (False, True) for to in turn]
    named: dict[str, str] = {}
    strangers: Counter[str] = Counter()
    sent: Counter[int] = Counter()

    def heard(questions: Sequence[_Question]) -> list[str | None]:
        probes = []
        for question in questions:
            sent[question.to] += 1
            here, there = port_of(at if question.answered else question.to, PORTS, question.index), LISTEN
            ports = (there, here) if question.answered else (here, there)
            probes.append(Probe(addresses[question.to], *ports, way_to[question.to][0]))
        switches: list[str | None] = []
        for question, address in zip(questions, answers(probes, a_second), strict=True):
            switch = None if address is None else named.setdefault(address, _name(address, network))
            if switch is not None and switch not in way_to[question.to][1]:
                strangers[switch] += 1
                switch = None
            switches.append(switch)
        return switches

    ways: dict[int, tuple[list[Any], list[Any]]] = {to: ([SILENT] * PORTS, [SILENT] * PORTS) for to in way_to}
    for question, switch in zip(first, heard(first), strict=True):
        if switch is not None:
            ways[question.to][question.answered][question.index] = switch
    again = [question for question in first if ways[question.to][question.answered][question.index] == SILENT]
    again += [
        _Question(to, index, False) for index in range(_TWICE) for to in turn if ways[to][0][index] != SILENT
    ]
    left = Counter({to: BUDGET - sent[to] for to in way_to})
    kept = []
    for question in reversed(again):  # first those that tell spraying
        if left[question.to] > 0:
            left[question.to] -= 1
            kept.append(question)
    for question, switch in zip(kept, heard(kept), strict=True):
        known = ways[question.to][question.answered]
        if switch is not None:
            known[question.index] = switch if known[question.index] in (SILENT, switch) else SEVERAL
    switches = {way for both in ways.values() for each in both for way in each}
    routers = {address: switch for address, switch in named.items() if switch in switches}
    return ways, strangers, max(sent.values(), default=0), routers


def _name(address: str, network: _core.Network) -> str:
    """The switch that has an address, by the names that this host knows; else the address."""
    known = set(network.names)
    with suppress(OSError):
        name, others, _ = socket.gethostbyaddr(address)
        for one in (name, *others):
            for spelling in (one, one.partition(".")[0]):
                if spelling in known:
                    return spelling
    return address
