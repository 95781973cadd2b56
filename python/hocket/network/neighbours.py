"""A network from what its nodes hear of each other by LLDP (:mod:`hocket.network.readers.lldp`).

A cable is there when one of its ends tells of it. Parallel cables become one link of their common rate.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Final

from hocket.errors import NetworkError, Where
from hocket.network.components import components_of
from hocket.network.description import NetworkDescription
from hocket.network.parts import Defaults, Link
from hocket.network.readers.lldp import Chassis, Heard, Record
from hocket.network.source import shown
from hocket.system.text import natural, some

_SOME: Final = 4  # names in a message
_WHOLE: Final = "give the files of the switches, too, or of one part alone"


@dataclass(frozen=True, slots=True)
class Choice:
    """User's statements about what frames do not tell: ``hosts`` (empty: the nodes that do not forward), the
    ``interface`` of hosts to plan for (a shell pattern), nodes to leave out."""

    hosts: Collection[str] = ()
    interface: str = "*"
    without: Collection[str] = ()


@dataclass(slots=True)
class _Cable:
    """``ends``: what each end may be called, by node."""

    ends: dict[str, frozenset[str]]
    rate: float | None
    aggregated: bool
    where: Where


@dataclass(slots=True)
class _Merge:
    records: Sequence[Record]
    chassis: dict[str, Chassis] = field(default_factory=dict)  # by id
    notes: list[str] = field(default_factory=list)


def merge(
    records: Sequence[Record], defaults: Defaults, choice: Choice, source: str = "LLDP"
) -> NetworkDescription:
    """Hosts and switches, each sorted by name, numbers in names by their value. Raises :class:`NetworkError`."""
    state = _Merge(records)
    cables = _cables(state, _heard_by(state))
    hosts = _hosts(state, cables, choice)
    left_out = _left_out(state, hosts, choice)
    cables = [cable for cable in cables if not left_out & set(cable.ends)]
    cables = [cable for cable in cables if _meant(cable, hosts, choice.interface)]
    _check_wired(
        cables, hosts, "is not wired by what --interface names", "correct the pattern, or leave the host out"
    )
    switches = _leading_somewhere(state, cables, hosts)
    cables = [cable for cable in cables if set(cable.ends) <= hosts | switches]
    _check_wired(cables, hosts, "leads to no other host by what is told", _WHOLE)
    return _description(state, cables, hosts, switches, defaults, source)


def _heard_by(state: _Merge) -> dict[str, list[Heard]]:
    """Neighbours that each node hears, by the node's name: one neighbour an interface."""
    for record in state.records:
        if record.own is not None:
            _know(state, record.own)
        for heard in record.heard:
            _know(state, heard.chassis)
    _check_names(state)
    own: dict[str, Record] = {}
    for record in state.records:
        name = _recorder(state, record)
        first = own.setdefault(name, record)
        if first is not record:
            raise NetworkError(
                f"is what {shown(name)} hears, as {first.where.file} is",
                where=record.where,
                remedy="give one file for each node",
            )
    found = {name: _one_each(name, record.heard) for name, record in own.items()}
    hearing = {
        (_called(state.chassis[each.chassis.id]), port): name
        for name, heard in found.items() for each in heard for port in each.ports
    }  # fmt: skip
    return {
        name: [replace(each, chassis=_named(state, name, each, hearing)) for each in heard]
        for name, heard in found.items()
    }


def _know(state: _Merge, chassis: Chassis) -> None:
    first = state.chassis.setdefault(chassis.id, replace(chassis))
    if chassis.forwards is not None:
        first.forwards = bool(first.forwards) or chassis.forwards
    if not first.name or chassis.name.startswith(first.name + "."):
        first.name = chassis.name or first.name
    elif chassis.name not in ("", first.name) and not first.name.startswith(chassis.name + "."):
        raise NetworkError(
            f"chassis {shown(chassis.id)} is called {shown(chassis.name)}, and {shown(first.name)} at {first.where}",
            where=chassis.where,
            remedy="wait two minutes, until all have heard its new name, and record all files anew",
        )


def _check_names(state: _Merge) -> None:
    seen: dict[str, Chassis] = {}
    for chassis in state.chassis.values():
        first = seen.setdefault(chassis.name, chassis) if chassis.name else chassis
        if first is not chassis:
            raise NetworkError(
                f"two nodes are called {shown(chassis.name)}: chassis {shown(chassis.id)}, and {shown(first.id)} "
                f"at {first.where}",
                where=chassis.where,
                remedy="give each its own name (lldpcli configure system hostname NAME), or leave a file out",
            )


def _recorder(state: _Merge, record: Record) -> str:
    """The name of the node that recorded a file: its chassis, else the node that is called like the file."""
    if record.own is not None:
        return _called(state.chassis[record.own.id])
    names = [chassis.name for chassis in state.chassis.values() if chassis.name]
    if record.stem in names:
        return record.stem
    alike = [name for name in names if name.partition(".")[0] == record.stem]
    if len(alike) > 1:
        raise NetworkError(
            f"{shown(record.stem)} may be {shown(alike[0])} or {shown(alike[1])}",
            where=record.where,
            remedy="call the file by the whole name",
        )
    if alike:
        return alike[0]
    unheard = Chassis(f"file {record.stem}", record.stem, None, record.where)
    state.chassis[unheard.id] = unheard
    return record.stem


def _called(chassis: Chassis) -> str:
    return chassis.name or chassis.id


def _one_each(name: str, heard: Iterable[Heard]) -> list[Heard]:
    """Choose one neighbour an interface: LLDP before other protocols, a named one before a card's own
    frames."""
    ports: dict[str, list[Heard]] = {}
    for each in heard:
        ports.setdefault(each.interface, []).append(each)
    found = []
    for interface, own in ports.items():
        own = [each for each in own if each.by_lldp] or own
        own = [each for each in own if each.chassis.name] or own
        others = {each.chassis.id: each for each in own}
        if len(others) > 1:
            first, second = list(others.values())[:2]
            raise NetworkError(
                f"{shown(name)} hears {shown(_called(first.chassis))} and {shown(_called(second.chassis))} on "
                f"{interface}: something between them hands frames on, such as an unmanaged switch",
                where=second.where,
                remedy="describe this part in Hocket's TOML, or leave the file of the one or the other out and "
                "record again",
            )
        found.append(own[0])
    return found


def _named(state: _Merge, name: str, heard: Heard, hearing: dict[tuple[str, str], str]) -> Chassis:
    """The chassis as all files together know it; one without a name is the node that hears this end (``hearing``)."""
    chassis = state.chassis[heard.chassis.id]
    other = hearing.get((name, heard.interface))
    if chassis.name or other is None:
        return chassis
    return replace(chassis, name=other)


def _cables(state: _Merge, heard: dict[str, list[Heard]]) -> list[_Cable]:
    told: dict[tuple[str, str], list[Heard]] = {}
    for name, theirs in heard.items():
        for each in theirs:
            if _called(each.chassis) != name:  # a loop-back plug
                told.setdefault((name, _called(each.chassis)), []).append(each)
    cables, once = [], []
    for a, b in sorted({(min(pair), max(pair)) for pair in told}):
        there, back = told.get((a, b), []), told.get((b, a), [])
        pairs = _paired(there, back)
        for one, other in pairs:
            ends = {
                a: _names(one, other),
                b: _names(other, one),
            }
            sides = [side for side in (one, other) if side is not None]
            rates = [side.rate for side in sides if side.rate is not None]
            aggregated = any(side.aggregated for side in sides)
            cables.append(_Cable(ends, min(rates, default=None), aggregated, sides[0].where))
            if len(sides) == 1 and a in heard and b in heard:
                once.append(f"{a} - {b}")
    if once:
        state.notes.append(f"told by one end only, and taken: {_some(once, 'cable')}")
    return cables


def _names(own: Heard | None, other: Heard | None) -> frozenset[str]:
    """Possible names of an end: its node's own name for it, if known, else the names that the other end has
    heard."""
    if own is not None:
        return frozenset({own.interface})
    return other.ports if other is not None else frozenset()


def _paired(there: list[Heard], back: list[Heard]) -> list[tuple[Heard | None, Heard | None]]:
    """Pair both reports of each cable between two nodes.

    By the names of the ports; what is left, because ends call ports by other names than their neighbours are told, in
    order: rather a cable too few, which costs time, than one that is not there.
    """
    by_interface = {one.interface: one for one in back}
    by_port: dict[str, list[Heard]] = {}
    for one in back:
        for port in one.ports:
            by_port.setdefault(port, []).append(one)
    pairs: list[tuple[Heard | None, Heard | None]] = []
    alone, taken = [], set()
    for one in there:
        near = [by_interface[port] for port in sorted(one.ports) if port in by_interface]
        near.sort(key=lambda other: one.interface not in other.ports)
        near += by_port.get(one.interface, [])[:_SOME]
        match = next((other for other in near if other.interface not in taken), None)
        if match is None:
            alone.append(one)
        else:
            taken.add(match.interface)
            pairs.append((one, match))
    rests = [one for one in back if one.interface not in taken]
    return [*pairs, *itertools.zip_longest(alone, rests)]


def _hosts(state: _Merge, cables: list[_Cable], choice: Choice) -> set[str]:
    wired = {end for cable in cables for end in cable.ends}
    for record in state.records:
        name = _recorder(state, record)
        if name not in wired:
            raise NetworkError(
                f"{shown(name)} hears no neighbour, and none hears it",
                where=record.where,
                remedy="look whether lldpd runs at both ends (lldpcli show interfaces), wait 30 s, record it anew; or "
                "leave the file out",
            )
    forwarding = _forwarding(state, cables)
    if not choice.hosts:
        hosts = wired - forwarding
        if not hosts:
            raise NetworkError(
                f"none of {_some(sorted(wired), 'node')} is a host: all say that they forward frames",
                remedy="name the hosts: --hosts LIST",
            )
        return hosts
    hosts = set()
    for wanted in choice.hosts:
        alike = [name for name in wired if name == wanted or name.partition(".")[0] == wanted]
        if len(alike) != 1:
            raise NetworkError(
                f"--hosts: {shown(wanted)} is heard by none" if not alike
                else f"--hosts: {shown(wanted)} may be {shown(alike[0])} or {shown(alike[1])}",
                remedy="give the file that it records, or correct the name" if not alike else "write the whole name",
            )  # fmt: skip
        hosts.add(alike[0])
    return hosts


def _forwarding(state: _Merge, cables: list[_Cable]) -> set[str]:
    """The nodes that say that they forward; one that nobody has heard say anything does if it is wired to a host."""
    says = {_called(chassis): chassis.forwards for chassis in state.chassis.values()}
    found = {name for name, forwards in says.items() if forwards}
    for cable in cables:
        for one, other in itertools.permutations(cable.ends):
            if says.get(one) is None and says.get(other) is False:
                found.add(one)
    return found


def _left_out(state: _Merge, hosts: set[str], choice: Choice) -> set[str]:
    """Nodes that the user does not want, and, where hosts are named, what neither is one nor forwards."""
    names = {_called(chassis): chassis for chassis in state.chassis.values()}
    for name in choice.without:
        if name not in names:
            raise NetworkError(f"--without: {shown(name)} is heard by none", remedy="correct the name")
    out = set(choice.without)
    hosts -= out
    if not hosts:
        raise NetworkError("--without leaves no host", remedy="leave fewer nodes out")
    if choice.hosts:
        out |= {name for name, chassis in names.items() if chassis.forwards is False and name not in hosts}
    return out


def _meant(cable: _Cable, hosts: set[str], pattern: str) -> bool:
    return all(
        name not in hosts or any(fnmatchcase(port, pattern) for port in ports)
        for name, ports in cable.ends.items()
    )


def _check_wired(cables: list[_Cable], hosts: set[str], what: str, remedy: str) -> None:
    alone = hosts - {name for cable in cables for name in cable.ends}
    if alone:
        raise NetworkError(f"host {shown(min(alone, key=natural))} {what}", remedy=remedy)


def _leading_somewhere(state: _Merge, cables: list[_Cable], hosts: set[str]) -> set[str]:
    """The switches that a message may pass: ends without hosts are taken off, one after the other."""
    beside: dict[str, set[str]] = {}
    for cable in cables:
        a, b = cable.ends
        beside.setdefault(a, set()).add(b)
        beside.setdefault(b, set()).add(a)
    ends = [name for name in beside if name not in hosts and len(beside[name]) < 2]
    for name in ends:  # grows
        for other in beside.pop(name, set()):
            if other in beside:
                beside[other].discard(name)
                if other not in hosts and len(beside[other]) < 2:
                    ends.append(other)
    gone = sorted(set(ends), key=natural)
    if gone:
        state.notes.append(
            f"left out, as no message passes it: {_some(gone, 'node')}; say --hosts if it is a host that forwards "
            "(containers, virtual machines)"
        )
    return set(beside) - hosts


def _description(
    state: _Merge,
    cables: list[_Cable],
    hosts: set[str],
    switches: set[str],
    defaults: Defaults,
    source: str,
) -> NetworkDescription:
    links: dict[tuple[str, str], list[_Cable]] = {}
    for cable in cables:
        a, b = sorted(cable.ends)
        links.setdefault((a, b), []).append(cable)
    _check_hosts(links, hosts)
    result = NetworkDescription(source=source, notes=state.notes)
    places = {_called(chassis): chassis.where for chassis in state.chassis.values()}
    for name in sorted(switches, key=natural):
        result.add_switch(name, places.get(name))
    for name in sorted(hosts, key=natural):
        result.add_host(name, defaults.ranks, places.get(name))
    known = Counter(
        cable.rate for ends, own in links.items() for cable in own
        if cable.rate is not None and hosts & set(ends)
    )  # fmt: skip
    usual = known.most_common(1)[0][0] if known else defaults.rate
    assert usual is not None
    for (a, b), own in links.items():
        told = all(cable.rate is not None for cable in own)
        rate = sum(usual if cable.rate is None else cable.rate for cable in own)
        if not any(cable.rate is not None for cable in own):
            rate = type(usual)(rate)  # it may be assumed
        result.links.append(Link(a, b, rate, defaults.latency, own[0].where, told or bool({a, b} & hosts)))
    _tell(state, links, hosts, usual)
    result.shape = "tree" if len(result.links) < len(result.nodes) else "graph"
    parts = components_of(result)
    if len(parts) > 1:
        one, other = (part.hosts[0].name for part in parts[:2])
        raise NetworkError(
            f"no cable is told that leads from {shown(one)} to {shown(other)}: the files are of {len(parts)} separate "
            "networks",
            where=Where(source),
            remedy=_WHOLE,
        )
    return result


def _check_hosts(links: dict[tuple[str, str], list[_Cable]], hosts: set[str]) -> None:
    """Check that each host is wired to one switch: rails are other networks, and frames do not tell which is
    meant."""
    beside: dict[str, dict[str, _Cable]] = {}
    for (a, b), own in links.items():
        for name, other in ((a, b), (b, a)):
            if name in hosts:
                beside.setdefault(name, {})[other] = own[0]
    for name in sorted(hosts, key=natural):
        others = beside[name]
        if len(others) > 1:
            ways = [
                f"by {'/'.join(sorted(cable.ends[name])) or 'a port'} to {shown(other)}"
                for other, cable in list(others.items())[:_SOME]
            ]
            raise NetworkError(
                f"host {shown(name)} is wired {' and '.join(ways)}; planned is one network at a time",
                where=next(iter(others.values())).where,
                remedy="say which: --interface NAME (eth0, 'ens*'), or leave switches out: --without LIST",
            )


def _tell(state: _Merge, links: dict[tuple[str, str], list[_Cable]], hosts: set[str], usual: float) -> None:
    """Note what was decided: wider links, unknown speeds, nodes without names."""
    wide = [(ends, own) for ends, own in links.items() if len(own) > 1]
    if wide:
        loose = [f"{a} - {b}" for (a, b), own in wide if not any(cable.aggregated for cable in own)]
        state.notes.append(
            f"several cables side by side are one link of their common rate: "
            f"{_some([f'{a} - {b}' for (a, b), _ in wide], 'link')}"
            + (f"; no link aggregation is told of {_some(loose, 'link')}, where a spanning tree leaves one cable "
               "at work" if loose else "")
        )  # fmt: skip
    silent = [f"{a} - {b}" for (a, b), own in links.items()
              if {a, b} & hosts and any(cable.rate is None for cable in own)]  # fmt: skip
    if silent:
        from hocket.units import format_rate

        state.notes.append(
            f"no speed is told of {_some(silent, 'host link')}: taken for {format_rate(usual)}"
        )
    nameless = [chassis.id for chassis in state.chassis.values() if not chassis.name and chassis.id in hosts]
    if nameless:
        state.notes.append(f"no name is told of {_some(nameless, 'host')}: give what it records itself, too")


def _some(names: Sequence[str], what: str) -> str:
    count = f"{len(names)} {what}{'' if len(names) == 1 else 's'}"
    return f"{count} ({some(names)})"
