"""Forwarding tables of a graph from a file: what ``dump_fts`` prints, or lines ``at,to,next[,cable]`` by name.

As in an InfiniBand switch, messages are forwarded by their destination alone. ``to`` may be ``*``: every host that has
no line of its own at this node and is not wired to it."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from hocket.errors import NetworkError, Where
from hocket.network.description import NetworkDescription, suggestion
from hocket.network.lids import said
from hocket.network.parts import MAX_ENTRIES, Forwarding
from hocket.network.readers import dump_fts, ibnetdiscover
from hocket.network.source import Source, load, shown
from hocket.system.text import some

EVERY_HOST: Final = "*"
FORM: Final = "at,to,next"


def read_tables(source: Source, network: NetworkDescription) -> Forwarding:
    """The tables of a network whose nodes and links are complete.

    Raises :class:`NetworkError` for unknown names, lines that stand twice, and steps to what is no neighbour. Whether
    all messages arrive is the core's to say."""
    indices = network.name_indices()
    cables: dict[tuple[int, int], list[int]] = {}
    for index, (a, b) in enumerate(zip(*network.link_ends(), strict=True)):
        cables.setdefault((a, b), []).append(2 * index)
        cables.setdefault((b, a), []).append(2 * index + 1)
    tables = Forwarding(source.name)
    seen: dict[tuple[int, int | None], int] = {}
    for line, fields in _rows(source):
        if len(tables.hops) == MAX_ENTRIES:
            raise source.error(f"more than {MAX_ENTRIES:,} entries", line, f"use {EVERY_HOST} as destination")
        at = _node(source, line, fields[0], indices)
        to = None if fields[1] == EVERY_HOST else _node(source, line, fields[1], indices)
        beyond = _node(source, line, fields[2], indices)
        if to is not None and not network.nodes[to].is_host:
            raise source.error(
                f"{shown(fields[1])} is a switch", line, f"messages go to hosts: name one, or {EVERY_HOST}"
            )
        if to == at:
            raise source.error(f"a message to {shown(fields[1])} has arrived there", line, "remove this line")
        if (at, beyond) not in cables:
            near = [network.nodes[b].name for a, b in cables if a == at]
            raise source.error(
                f"{shown(fields[2])} is not a neighbour of {shown(fields[0])}",
                line,
                f"its neighbours: {some(near, 5)}",
            )
        if (first := seen.setdefault((at, to), line)) != line:
            raise source.error(
                f"{shown(fields[0])} has an entry for {shown(fields[1])} already, in line {first}",
                line,
                "remove one of them",
            )
        tables.hops.append((at, to, _cable(source, line, fields, cables[at, beyond])))
        tables.lines.append(line)
    if not tables.hops:
        raise source.error("holds no entries", remedy=f"write lines {FORM}, or leave routes out")
    return tables


def _rows(source: Source) -> Iterator[tuple[int, list[str]]]:
    begun = False
    for line, text in source.content_lines():
        try:
            fields = [field.strip() for field in next(csv.reader([text], skipinitialspace=True, strict=True))]
        except csv.Error as problem:
            raise source.error(f"{shown(text)} is not CSV: {problem}", line, f"write {FORM}") from None
        if not begun and fields[:3] == FORM.split(","):
            begun = True
            continue
        begun = True
        if len(fields) not in (3, 4) or not all(fields[:3]):
            raise source.error(
                f"{shown(text)} is not an entry", line, f"write {FORM}, or give what dump_fts prints"
            )
        yield line, fields


def _node(source: Source, line: int, name: str, indices: dict[str, int]) -> int:
    if (index := indices.get(name)) is None:
        raise _unknown(source, line, name, indices)
    return index


def _unknown(source: Source, line: int, name: str, known: Iterable[str]) -> NetworkError:
    if name == EVERY_HOST:
        return source.error(f"{EVERY_HOST} stands for a destination only", line, f"write {FORM}")
    remedy = suggestion(name, known) or "use the names of the network file"
    return source.error(f"no host or switch is called {shown(name)}", line, remedy)


def _cable(source: Source, line: int, fields: list[str], channels: list[int]) -> int:
    """Channel of the cable between two nodes: the first of several, or the one that the fourth field counts from 1."""
    if len(fields) < 4 or not fields[3]:
        return channels[0]
    text = fields[3]
    if not (text.isascii() and text.isdigit() and len(text) <= 7 and 1 <= int(text) <= len(channels)):
        raise source.error(
            f"there is no cable {shown(text)} from {shown(fields[0])} to {shown(fields[2])}",
            line,
            f"count the links between them from 1 to {len(channels)}",
        )
    return channels[int(text) - 1]


MAX_TABLES_BYTES: Final = 256 * 2**20  # dump_fts takes 80 bytes an entry


def attach_tables(network: NetworkDescription, path: str, *, choose_lids: bool = False) -> None:
    """Has the network route by the tables in a file: entries ``at,to,next``, or what ``dump_fts`` prints.

    ``choose_lids``: where ports have several lids, one is chosen for each pair of hosts.

    Raises :class:`NetworkError` for networks that are routed otherwise. A tree, where no tables can change the way of a
    message, stays one without them; that all messages arrive is checked here."""
    if network.shape not in ("tree", "graph"):
        raise NetworkError(
            f"the routes of a {network.grid.kind if network.grid else 'network of explicit routes'} are its own",
            where=Where(network.source),
            remedy="leave --forwarding out",
        )
    source = load(path, "a file with forwarding tables", MAX_TABLES_BYTES)
    if ibnetdiscover.sniff(source) and not dump_fts.sniff(source):
        raise source.error(
            "lists cables, not forwarding tables",
            remedy="give it as --network, and to --forwarding what dump_fts prints",
        )
    network.forwarding = (dump_fts.read_tables if dump_fts.sniff(source) else read_tables)(source, network)
    network.forwarding.choose = choose_lids and network.shape == "graph"
    if network.forwarding.choose and not network.forwarding.further:
        raise source.error(
            "no port has several lids (lmc > 0), among which to choose", remedy="leave --lids out"
        )
    if network.forwarding.further and network.shape == "graph":
        network.notes.append(said(network.build(), network.forwarding))
    if network.shape == "tree":
        replace(network, shape="graph").build()
        network.forwarding = None
