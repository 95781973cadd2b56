"""Slurm's ``topology.conf`` for topology/tree.

Slurm's ``LinkSpeed`` is only a comment for people (Slurm ignores it, and it has no unit), so all links get
the default rate. Unlike Slurm, a switch may have ``Nodes`` and ``Switches`` at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hocket.network.description import Defaults, Link, NetworkDescription, suggestion
from hocket.network.hostlist import expand
from hocket.network.source import Source, shown

_SNIFF: Final = re.compile(r"(?im)^[ \t]*(?:SwitchName|BlockName|BlockSizes|RingName)[ \t]*=")
_PAIR: Final = re.compile(r"[ \t]*([A-Za-z]+)[ \t]*=[ \t]*(\"[^\"]*\"|[^\s\"]*)[ \t]*")
_KEYS: Final = ("switchname", "nodes", "switches", "linkspeed")
_OTHERS: Final = ("blockname", "blocksizes", "ringname")
_SPELLING: Final = {
    "switchname": "SwitchName",
    "nodes": "Nodes",
    "switches": "Switches",
    "linkspeed": "LinkSpeed",
}


def sniff(source: Source) -> bool:
    return source.is_file and _SNIFF.search(source.text) is not None


def read(source: Source, defaults: Defaults) -> NetworkDescription:
    """The tree of a ``topology.conf``; hosts in the order of the file."""
    result = NetworkDescription(source=source.name)
    for line, text in _logical_lines(source):
        _read_line(source, defaults, line, text, result)
    if not result.hosts:
        raise source.error("the network has no hosts", remedy="add Nodes=… to a SwitchName= line")
    return result


def _logical_lines(source: Source) -> Iterator[tuple[int, str]]:
    """Lines without comments, continuation lines joined, each with the number of its first line."""
    first, parts = 0, list[str]()
    for number, line in enumerate(source.text.split("\n"), 1):
        line = line.partition("#")[0].rstrip()
        first = first or number
        parts.append(line.removesuffix("\\"))
        if not line.endswith("\\"):
            yield first, " ".join(parts).strip()
            first, parts = 0, []
    if parts:
        yield first, " ".join(parts).strip()


def _read_line(source: Source, defaults: Defaults, line: int, text: str, result: NetworkDescription) -> None:
    if not text:
        return
    values = _pairs(source, line, text)
    name = values.get("switchname")
    if not name:
        raise source.error("the line names no switch", line, "begin it with SwitchName=…")
    if any(character in name for character in "[],="):
        raise source.error(
            f"SwitchName={shown(name)[1:-1]} is not one name",
            line,
            "give each switch a line and a name of its own",
        )
    where = source.at(line)
    result.add_switch(name, where)
    if not values.get("nodes") and not values.get("switches"):
        raise source.error(
            f"switch {shown(name)} has neither Nodes nor Switches", line, "add one or drop the line"
        )
    if values.get("nodes"):
        for host in expand(values["nodes"], source, line):
            result.add_host(host, defaults.ranks, where)
            result.links.append(Link(name, host, defaults.rate, defaults.latency, where, False))
    if values.get("switches"):
        for switch in expand(values["switches"], source, line):
            result.links.append(Link(name, switch, defaults.rate, defaults.latency, where, False))


def _pairs(source: Source, line: int, text: str) -> dict[str, str]:
    values: dict[str, str] = {}
    position = 0
    while position < len(text):
        match = _PAIR.match(text, position)
        if match is None or match.end() == position:
            raise source.error(
                f"{shown(text[position:])} is not Key=value",
                line,
                "write SwitchName=s0 Nodes=n[0-7] without spaces",
            )
        position = match.end()
        key = match[1].lower()
        if key in _OTHERS:
            raise source.error(
                f"{match[1]}= is of topology/block or topology/ring, which do not tell the wiring",
                line,
                "describe the switches as for topology/tree, or write Hocket's own format",
            )
        if key not in _KEYS:
            near = suggestion(key, _KEYS)
            for plain, spelled in _SPELLING.items():
                near = near.replace(plain, spelled)
            raise source.error(
                f"unknown key {shown(match[1])}", line, near or f"known are {', '.join(_SPELLING.values())}"
            )
        if key in values:
            raise source.error(f"{_SPELLING[key]} is given twice", line, "join the two lists with a comma")
        values[key] = match[2].strip('"')
    return values
