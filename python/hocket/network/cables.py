"""The cables of a network from what its nodes hear of each other: who is who, and which two ends are one cable.

A cable is there when one of its ends tells of it."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from hocket.errors import NetworkError, Where
from hocket.network.readers.lldp import Chassis, Heard, Record
from hocket.network.source import shown
from hocket.system.text import counted, some

SOME: Final = 4  # names in a message


@dataclass(slots=True)
class Cable:
    """``ends``: what each end may be called, by node."""

    ends: dict[str, frozenset[str]]
    rate: float | None
    aggregated: bool
    where: Where


@dataclass(slots=True)
class Merge:
    """State of a merge: what is told, the nodes found so far by id, and what is noted for the user."""

    records: Sequence[Record]
    chassis: dict[str, Chassis] = field(default_factory=dict)  # by id
    notes: list[str] = field(default_factory=list)


def heard_by(state: Merge) -> dict[str, list[Heard]]:
    """Neighbours that each node hears, by the node's name: one neighbour an interface."""
    for record in state.records:
        if record.own is not None:
            _know(state, record.own)
        for heard in record.heard:
            _know(state, heard.chassis)
    _check_names(state)
    own: dict[str, Record] = {}
    for record in state.records:
        name = recorder(state, record)
        if (first := own.setdefault(name, record)) is not record:
            raise NetworkError(
                f"is what {shown(name)} hears, as {first.where.file} is",
                where=record.where,
                remedy="give one file for each node",
            )
    found = {name: _one_each(name, record.heard) for name, record in own.items()}
    hearing = {
        (name_of(state.chassis[each.chassis.id]), port): name
        for name, heard in found.items() for each in heard for port in each.ports
    }  # fmt: skip
    return {
        name: [replace(each, chassis=_named(state, name, each, hearing)) for each in heard]
        for name, heard in found.items()
    }


def _know(state: Merge, chassis: Chassis) -> None:
    first = state.chassis.setdefault(chassis.id, replace(chassis))
    if chassis.forwards is not None:
        first.forwards = bool(first.forwards) or chassis.forwards
    if not first.name or chassis.name.startswith(first.name + "."):
        first.name = chassis.name or first.name
    elif chassis.name not in ("", first.name) and not first.name.startswith(chassis.name + "."):
        raise NetworkError(
            f"chassis {shown(chassis.id)} is called {shown(chassis.name)}, and {shown(first.name)} at {first.where}",
            where=chassis.where,
            remedy="wait two minutes, until all have heard its new name, and record all files again",
        )


def _check_names(state: Merge) -> None:
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


def recorder(state: Merge, record: Record) -> str:
    """The name of the node that recorded a file: its chassis, else the node that is called like the file."""
    if record.own is not None:
        return name_of(state.chassis[record.own.id])
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


def name_of(chassis: Chassis) -> str:
    return chassis.name or chassis.id


def _one_each(name: str, heard: Iterable[Heard]) -> list[Heard]:
    """Choose one neighbour an interface: LLDP before other protocols, a named one before a card's own frames."""
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
                f"{shown(name)} hears {shown(name_of(first.chassis))} and {shown(name_of(second.chassis))} on "
                f"{interface}: something between them hands frames on, such as an unmanaged switch",
                where=second.where,
                remedy="describe this part in Hocket's TOML, or leave the file of the one or the other out and "
                "record again",
            )
        found.append(own[0])
    return found


def _named(state: Merge, name: str, heard: Heard, hearing: dict[tuple[str, str], str]) -> Chassis:
    """The chassis as all files together know it; one without a name is the node that hears this end (``hearing``)."""
    chassis = state.chassis[heard.chassis.id]
    other = hearing.get((name, heard.interface))
    if chassis.name or other is None:
        return chassis
    return replace(chassis, name=other)


def cables_of(state: Merge, heard: dict[str, list[Heard]]) -> list[Cable]:
    """Cables between named nodes, each once. Cables that one end only tells of are noted."""
    told: dict[tuple[str, str], list[Heard]] = {}
    for name, theirs in heard.items():
        for each in theirs:
            if name_of(each.chassis) != name:  # a loop-back plug
                told.setdefault((name, name_of(each.chassis)), []).append(each)
    cables, once = [], []
    for a, b in sorted({(min(pair), max(pair)) for pair in told}):
        there, back = told.get((a, b), []), told.get((b, a), [])
        pairs = _paired(there, back)
        for one, other in pairs:
            ends = {a: _names(one, other), b: _names(other, one)}
            sides = [side for side in (one, other) if side is not None]
            rates = [side.rate for side in sides if side.rate is not None]
            aggregated = any(side.aggregated for side in sides)
            cables.append(Cable(ends, min(rates, default=None), aggregated, sides[0].where))
            if len(sides) == 1 and a in heard and b in heard:
                once.append(f"{a} - {b}")
    if once:
        state.notes.append(f"told by one end only, and taken: {listed(once, 'cable')}")
    return cables


def _names(own: Heard | None, other: Heard | None) -> frozenset[str]:
    """Possible names of an end: its node's own name for it, if known, else the names that the other end has heard."""
    if own is not None:
        return frozenset({own.interface})
    return other.ports if other is not None else frozenset()


def _paired(there: list[Heard], back: list[Heard]) -> list[tuple[Heard | None, Heard | None]]:
    """Pair both reports of each cable between two nodes.

    By the names of the ports; what is left, because ends call ports by other names than their neighbours are told, in
    order: rather a cable too few, which costs time, than one that is not there."""
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
        near += by_port.get(one.interface, [])[:SOME]
        if (match := next((other for other in near if other.interface not in taken), None)) is None:
            alone.append(one)
        else:
            taken.add(match.interface)
            pairs.append((one, match))
    rests = [one for one in back if one.interface not in taken]
    return [*pairs, *itertools.zip_longest(alone, rests)]


def listed(names: Sequence[str], what: str) -> str:
    """Names with their number: all, or the first few."""
    return f"{counted(len(names), what)} ({some(names)})"
