"""A network from what its nodes hear of each other by LLDP (:mod:`hocket.network.readers.lldp`).

A cable is there when one of its ends tells of it. Parallel cables become one link of their common rate."""

import itertools
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from hocket.errors import NetworkError, Where
from hocket.network.cables import SOME, Cable, Merge, cables_of, heard_by, listed, name_of, recorder
from hocket.network.description import NetworkDescription
from hocket.network.parts import Defaults, Link, around, beside, distances, without_dead_ends
from hocket.network.readers.lldp import Record
from hocket.network.source import shown
from hocket.system.text import natural
from hocket.units import format_rate

REMEDY = "name hosts of one: 'hocket network convert NETWORK --hosts HOSTS -o FILE.toml'"


def components_of(description: NetworkDescription) -> list[NetworkDescription]:
    """The parts, in the order of their first nodes; the description itself where it is in one piece.

    A part without hosts is a mistake, so is a host that nothing is wired to, and so is a gap in a network with
    forwarding tables: they stay as they are, for the core to refuse."""
    if description.shape not in ("tree", "graph") or description.forwarding is not None:
        return [description]
    if description.wiring is not None:
        return [description]  # all families are in one piece
    if description.shape == "tree" and len(description.links) >= len(description.nodes) - 1:
        return [description]  # in one piece, or with a circle
    parts = _parts(description)
    if len(parts) == 1 or not all(part.hosts and part.links for part in parts):
        return [description]
    parts[0].notes = description.notes
    return parts


def _parts(description: NetworkDescription) -> list[NetworkDescription]:
    wired = beside(description.nodes, description.links)
    part_of: dict[str, NetworkDescription] = {}
    parts = []
    for first in wired:
        if first in part_of:
            continue
        part = NetworkDescription(source=description.source, shape=description.shape)
        parts.append(part)
        part_of |= dict.fromkeys(distances(wired, [first]), part)
    for node in description.nodes:
        part_of[node.name].nodes.append(node)
    for link in description.links:
        part_of[link.a].links.append(link)
    return parts


def component_with(components: Sequence[NetworkDescription], hosts: Collection[str]) -> NetworkDescription:
    """The one that has all these hosts; what is no host of the network at all does not count.

    Raises :class:`NetworkError` where there is none: nothing is ever sent over wires that nobody named."""
    if len(components) == 1:
        return components[0]
    wanted = set(hosts)
    found = [
        (component, here)
        for component in components
        if (here := [host.name for host in component.hosts if host.name in wanted])
    ]
    if len(found) == 1:
        return found[0][0]
    what, (one, other) = "", [component.hosts[0].name for component in components[:2]]
    if found:
        what, (one, other) = "the hosts are in several components: ", [here[0] for _, here in found[:2]]
    raise NetworkError(
        what
        + f"no path leads from {shown(one)} to {shown(other)}; the network has {len(components)} components",
        where=Where(components[0].source),
        remedy=REMEDY,
    )


_WHOLE: Final = "give the files of the switches, too, or of one part alone"


@dataclass(frozen=True, slots=True)
class Choice:
    """User's statements about what frames do not tell: ``hosts`` (empty: the nodes that do not forward), the
    ``interface`` of hosts to plan for (a shell pattern), nodes to leave out."""

    hosts: Collection[str] = ()
    interface: str = "*"
    without: Collection[str] = ()


def merge(
    records: Sequence[Record], defaults: Defaults, choice: Choice, source: str = "LLDP"
) -> NetworkDescription:
    """Hosts and switches, each sorted by name, numbers in names by their value. Raises :class:`NetworkError`."""
    state = Merge(records)
    cables = cables_of(state, heard_by(state))
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


def _hosts(state: Merge, cables: list[Cable], choice: Choice) -> set[str]:
    wired = {end for cable in cables for end in cable.ends}
    for record in state.records:
        if (name := recorder(state, record)) not in wired:
            raise NetworkError(
                f"{shown(name)} hears no neighbour, and none hears it",
                where=record.where,
                remedy="look whether lldpd runs at both ends (lldpcli show interfaces), wait 30 s, record it again; or "
                "leave the file out",
            )
    forwarding = _forwarding(state, cables)
    if not choice.hosts:
        if not (hosts := wired - forwarding):
            raise NetworkError(
                f"none of {listed(sorted(wired), 'node')} is a host: all say that they forward frames",
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


def _forwarding(state: Merge, cables: list[Cable]) -> set[str]:
    """The nodes that say that they forward; one that nobody has heard say anything does if it is wired to a host."""
    says = {name_of(chassis): chassis.forwards for chassis in state.chassis.values()}
    found = {name for name, forwards in says.items() if forwards}
    for cable in cables:
        for one, other in itertools.permutations(cable.ends):
            if says.get(one) is None and says.get(other) is False:
                found.add(one)
    return found


def _left_out(state: Merge, hosts: set[str], choice: Choice) -> set[str]:
    """Nodes that the user does not want, and, where hosts are named, what neither is one nor forwards."""
    names = {name_of(chassis): chassis for chassis in state.chassis.values()}
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


def _meant(cable: Cable, hosts: set[str], pattern: str) -> bool:
    return all(
        name not in hosts or any(fnmatchcase(port, pattern) for port in ports)
        for name, ports in cable.ends.items()
    )


def _check_wired(cables: list[Cable], hosts: set[str], what: str, remedy: str) -> None:
    if alone := hosts - {name for cable in cables for name in cable.ends}:
        raise NetworkError(f"host {shown(min(alone, key=natural))} {what}", remedy=remedy)


def _leading_somewhere(state: Merge, cables: list[Cable], hosts: set[str]) -> set[str]:
    """The switches that a message may pass: ends without hosts are taken off, one after the other."""
    nodes = {end for cable in cables for end in cable.ends}
    wired = around(nodes, ((a, b) for a, b in (cable.ends for cable in cables)))
    left = without_dead_ends(wired, hosts)
    if gone := sorted(wired.keys() - left, key=natural):
        state.notes.append(
            f"left out, as no message passes it: {listed(gone, 'node')}; say --hosts if it is a host that forwards "
            "(containers, virtual machines)"
        )
    return left.keys() - hosts


def _description(
    state: Merge, cables: list[Cable], hosts: set[str], switches: set[str], defaults: Defaults, source: str
) -> NetworkDescription:
    links: dict[tuple[str, str], list[Cable]] = {}
    for cable in cables:
        a, b = sorted(cable.ends)
        links.setdefault((a, b), []).append(cable)
    _check_hosts(links, hosts)
    result = NetworkDescription(source=source, notes=state.notes)
    places = {name_of(chassis): chassis.where for chassis in state.chassis.values()}
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
            f"no cable leads from {shown(one)} to {shown(other)}: the files are of {len(parts)} separate "
            "networks",
            where=Where(source),
            remedy=_WHOLE,
        )
    return result


def _check_hosts(links: dict[tuple[str, str], list[Cable]], hosts: set[str]) -> None:
    """Check that each host is wired to one switch: rails are other networks, and frames do not tell which is meant."""
    beside: dict[str, dict[str, Cable]] = {}
    for (a, b), own in links.items():
        for name, other in ((a, b), (b, a)):
            if name in hosts:
                beside.setdefault(name, {})[other] = own[0]
    for name in sorted(hosts, key=natural):
        others = beside[name]
        if len(others) > 1:
            ways = [
                f"by {'/'.join(sorted(cable.ends[name])) or 'a port'} to {shown(other)}"
                for other, cable in list(others.items())[:SOME]
            ]
            raise NetworkError(
                f"host {shown(name)} is wired {' and '.join(ways)}; planned is one network at a time",
                where=next(iter(others.values())).where,
                remedy="say which: --interface NAME (eth0, 'ens*'), or leave switches out: --without LIST",
            )


def _tell(state: Merge, links: dict[tuple[str, str], list[Cable]], hosts: set[str], usual: float) -> None:
    """Note what was decided: wider links, unknown speeds, nodes without names."""
    if wide := [(ends, own) for ends, own in links.items() if len(own) > 1]:
        loose = [f"{a} - {b}" for (a, b), own in wide if not any(cable.aggregated for cable in own)]
        state.notes.append(
            f"several cables side by side are one link of their common rate: "
            f"{listed([f'{a} - {b}' for (a, b), _ in wide], 'link')}"
            + (f"; no link aggregation is told of {listed(loose, 'link')}, where a spanning tree leaves one cable "
               "at work" if loose else "")
        )  # fmt: skip
    silent = [f"{a} - {b}" for (a, b), own in links.items()
              if {a, b} & hosts and any(cable.rate is None for cable in own)]  # fmt: skip
    if silent:
        state.notes.append(
            f"no speed is told of {listed(silent, 'host link')}: taken for {format_rate(usual)}"
        )
    nameless = [chassis.id for chassis in state.chassis.values() if not chassis.name and chassis.id in hosts]
    if nameless:
        state.notes.append(f"no name is told of {listed(nameless, 'host')}: give what it records itself, too")
