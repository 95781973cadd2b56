"""Slurm's ``topology.conf`` for topology/tree, and what ``scontrol show topology`` prints of it.

``LinkSpeed`` is that of the links which a line names: from the switch to its ``Nodes`` or ``Switches``. Its
unit is arbitrary (topology.conf(5)), so it only tells rates in proportion, and nothing where
all are the same. Unlike Slurm, a switch may have ``Nodes`` and ``Switches`` at once. Switches that list the
same ``Switches`` are parallel spines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hocket.network.description import Defaults, Link, NetworkDescription, suggestion
from hocket.network.hostlist import expand
from hocket.network.source import Source, shown
from hocket.network.spines import allow_spines

_SNIFF: Final = re.compile(r"(?im)^[ \t]*(?:SwitchName|BlockName|BlockSizes|RingName)[ \t]*=")
_PAIR: Final = re.compile(r"[ \t]*([A-Za-z]+)[ \t]*=[ \t]*(\"[^\"]*\"|[^\s\"]*)[ \t]*")
_SPEED: Final = re.compile(r"\d{1,18}", re.ASCII)
_KEYS: Final = ("switchname", "nodes", "switches", "linkspeed", "level")
_OTHERS: Final = ("blockname", "blocksizes", "ringname")
_SPELLING: Final = {
    "switchname": "SwitchName",
    "nodes": "Nodes",
    "switches": "Switches",
    "linkspeed": "LinkSpeed",
    "level": "Level",
}


def sniff(source: Source) -> bool:
    return source.is_file and _SNIFF.search(source.text) is not None


def read(source: Source, defaults: Defaults) -> NetworkDescription:
    """The tree of a ``topology.conf``; hosts in the order of the file."""
    result = NetworkDescription(source=source.name)
    speeds: list[float | None] = []  # of each link
    for line, text in _logical_lines(source):
        speed = _read_line(source, defaults, line, text, result)
        speeds += [speed] * (len(result.links) - len(speeds))
    if not result.hosts:
        raise source.error("the network has no hosts", remedy="add Nodes=… to a SwitchName= line")
    _use_speeds(result, speeds)
    allow_spines(result)
    return result


def _use_speeds(result: NetworkDescription, speeds: Sequence[float | None]) -> None:
    """Rates in proportion to the speeds, hosts' usual links at the default rate; only where all lines tell
    one, and not all the same."""
    hosts = {node.name for node in result.nodes if node.is_host}
    of_hosts = [speed for link, speed in zip(result.links, speeds, strict=True) if link.b in hosts]
    if None in speeds or len(set(speeds)) < 2 or not of_hosts:
        return
    usual = max(sorted({speed for speed in of_hosts if speed is not None}), key=of_hosts.count)
    for link, speed in zip(result.links, speeds, strict=True):
        if speed is not None:
            link.rate, link.rate_given = link.rate * (speed / usual), True


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


def _read_line(
    source: Source, defaults: Defaults, line: int, text: str, result: NetworkDescription
) -> float | None:
    """Adds what the line says; returns its LinkSpeed, if it is a number."""
    if not text:
        return None
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
    # With levels it is scontrol's output, which repeats at each switch all nodes below it.
    if values.get("nodes") and not (values.get("level") and values.get("switches")):
        for host in expand(values["nodes"], source, line):
            result.add_host(host, defaults.ranks, where)
            result.links.append(Link(name, host, defaults.rate, defaults.latency, where, False))
    if values.get("switches"):
        for switch in expand(values["switches"], source, line):
            result.links.append(Link(name, switch, defaults.rate, defaults.latency, where, False))
    speed = values.get("linkspeed", "")
    return float(speed) if _SPEED.fullmatch(speed) and int(speed) > 0 else None


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
