"""A network of the core as files that Hocket reads: TOML, and what it refers to."""

import csv
import io
from collections import Counter
from pathlib import PurePath
from typing import Final

from hocket import _core
from hocket._core import Network
from hocket.errors import UsageError
from hocket.network.families import coordinates_of
from hocket.network.parts import DEFAULT_LATENCY, DEFAULT_RATE
from hocket.network.readers.forwarding import EVERY_HOST, FORM
from hocket.units import format_rate, format_time, parse_rate, parse_time

_ESCAPES: Final = {ord(c): f"\\u{ord(c):04x}" for c in map(chr, [*range(32), 127])} | {
    ord('"'): '\\"',
    ord("\\"): "\\\\",
}


def network_files(network: Network, path: str, comment: str = "") -> dict[str, str]:
    """Path and text of each file that describes ``network``, the TOML file ``path`` first.

    Channels keep their numbers. Raises :class:`UsageError` for networks of explicit routes."""
    if network.shape.name == "routed":
        raise UsageError(
            "a network of explicit routes has no form in Hocket's TOML", remedy="keep its SimGrid platform"
        )
    head = "".join(f"# {line}\n" for line in comment.splitlines())
    if network.sides:
        return _grid(network, path, head)
    return _graph(network, path, head)


def _grid(network: Network, path: str, head: str) -> dict[str, str]:
    kind, sides = network.shape.name, network.sides
    rate, latency = (network.rate(0), network.latency(0)) if network.channels else (0.0, 0.0)
    lines = [f"[{kind}]"]
    lines.append(f"dimensions = {sides[0]}" if kind == "hypercube" else f"sides = {sides}")
    if network.channels:
        lines += [f"rate = {_rate(rate)}", f"latency = {_time(latency)}"]
    lines += _ranks(network.ranks_per_node)
    if network.ports:
        lines.append(f"ports = {network.ports[0]}")
    if kind == "torus":
        lines.append(f"ties = {_ties(network)}")
    files = {}
    plain = _core.Network.grid(kind, sides, rate or DEFAULT_RATE, latency)
    if network.names != plain.names:
        beside = _beside(path, "coordinates", "txt")
        lines.append(f"coordinates = {_text(PurePath(beside).name)}")
        files[beside] = _coordinates(network.names, sides)
    return {path: head + "\n".join(lines) + "\n", **files}


def _ranks(per_node: list[int]) -> list[str]:
    """The usual number of ranks; none where all hosts have one, which --ranks-per-host may still change."""
    ranks = _usual([count for count in per_node if count])
    return [] if max(per_node) == 1 else [f"ranks = {ranks}"]


def _ties(network: Network) -> str:
    for rule in ("parity", "up"):
        if network.ties == _core.Network.ties_by_rule(rule, network.sides):
            return _text(rule)
    return "[" + ", ".join(map(_text, network.ties)) + "]"


def _coordinates(names: list[str], sides: list[int]) -> str:
    lines = []
    for place, name in enumerate(names):
        if name != " ".join(name.split()) or "#" in name:
            raise UsageError(
                f"the host name {name!r} cannot stand in a file of coordinates", remedy="rename it"
            )
        lines.append(" ".join([name, *map(str, coordinates_of(place, sides))]))
    return "\n".join(lines) + "\n"


def _graph(network: Network, path: str, head: str) -> dict[str, str]:
    names, links = network.names, network.links
    rate = _usual([network.rate(2 * index) for index in range(len(links))] or [DEFAULT_RATE])
    latency = _usual([network.latency(2 * index) for index in range(len(links))] or [DEFAULT_LATENCY])
    ranks = _usual([count for count in network.ranks_per_node if count])
    files = {}
    text = io.StringIO()
    text.write(f'{head}shape = "{network.shape.name}"\n')
    if network.next_hops:
        beside = _beside(path, "routes", "csv")
        text.write(f"routes = {_text(PurePath(beside).name)}\n")
        files[beside] = _tables(network)
    text.write(f"\n[defaults]\nrate = {_rate(rate)}\nlatency = {_time(latency)}\n")
    text.writelines(f"{line}\n" for line in _ranks(network.ranks_per_node))
    ports, forwards = network.ports, network.forwards
    for node, (name, count) in enumerate(zip(names, network.ranks_per_node, strict=True)):
        text.write(f"\n[[{'host' if count else 'switch'}]]\nname = {_text(name)}\n")
        if count and count != ranks:
            text.write(f"ranks = {count}\n")
        if count and ports and ports[node] != 1:
            text.write(f"ports = {ports[node]}\n")
        if count and forwards and forwards[node]:
            text.write("forward = true\n")
    for index, (a, b) in enumerate(links):
        text.write(f"\n[[link]]\na = {_text(names[a])}\nb = {_text(names[b])}\n")
        if network.rate(2 * index) != rate:
            text.write(f"rate = {_rate(network.rate(2 * index))}\n")
        if network.latency(2 * index) != latency:
            text.write(f"latency = {_time(network.latency(2 * index))}\n")
    return {path: text.getvalue(), **files}


def _tables(network: Network) -> str:
    names = network.names
    ends = [end for a, b in network.links for end in ((a, b), (b, a))]
    cables: dict[tuple[int, int], list[int]] = {}
    for channel, end in enumerate(ends):
        cables.setdefault(end, []).append(channel)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    text.write(FORM + "\n")
    for at, to, channel in network.next_hops:
        beyond = ends[channel][1]
        row = [names[at], EVERY_HOST if to is None else names[to], names[beyond]]
        if channel != cables[at, beyond][0]:
            row.append(str(cables[at, beyond].index(channel) + 1))
        rows.writerow(row)
    return text.getvalue()


def _usual(values: list[float] | list[int]) -> float:
    counts = Counter(values)
    return max(counts, key=lambda value: counts[value])


def _rate(rate: float) -> str:
    text = format_rate(rate)
    return _text(text if parse_rate(text) == rate else f"{rate!r}B/s")


def _time(seconds: float) -> str:
    text = format_time(seconds)
    return _text(text if parse_time(text) == seconds else f"{seconds!r}s")


def _text(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _beside(path: str, what: str, suffix: str) -> str:
    """``cluster.toml`` becomes ``cluster.routes.csv``."""
    return str(PurePath(path).with_suffix(f".{what}.{suffix}"))
