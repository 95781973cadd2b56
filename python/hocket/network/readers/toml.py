"""Hocket's own format, TOML; ``docs/networks.md`` describes it."""

import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

from hocket.errors import NetworkError, Where
from hocket.network.chosen import expand
from hocket.network.description import NetworkDescription, suggestion
from hocket.network.families import MAX_DIMENSIONS, check_sides, check_ties, read_coordinates
from hocket.network.parts import MAX_PORTS, MAX_RANKS, Defaults, Grid, GridKind, Link
from hocket.network.paths import read_paths, said
from hocket.network.readers.forwarding import read_tables
from hocket.network.source import Source, load_beside, shown
from hocket.units import parse_rate, parse_time

_GRIDS: Final[dict[str, GridKind]] = {"torus": "torus", "mesh": "mesh", "hypercube": "hypercube"}
_ARRAYS: Final = ("switch", "host", "link")
_TOP: Final = ("name", "shape", "routes", "paths", "defaults", *_ARRAYS, *_GRIDS)
_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "defaults": ("rate", "latency", "ranks", "ports", "forward"),
    "switch": (
        "name", "hosts", "uplink", "rate", "latency", "host_rate", "host_latency", "ranks", "ports", "forward"
    ),
    "host": ("name", "switch", "rate", "latency", "ranks", "ports", "forward"),
    "link": ("a", "b", "rate", "latency"),
    "torus": ("sides", "ties", "coordinates", "rate", "latency", "ranks", "ports"),
    "mesh": ("sides", "coordinates", "rate", "latency", "ranks", "ports"),
    "hypercube": ("dimensions", "rate", "latency", "ranks", "ports"),
}  # fmt: skip
_HEADER: Final = re.compile(r"[ \t]*\[\[?[ \t]*([A-Za-z]+)[ \t]*\]")
_KEY: Final = re.compile(r"[ \t]*([A-Za-z_]+)[ \t]*=")
_OURS: Final = re.compile(rf"(?m)^[ \t]*\[\[?[ \t]*(?:{'|'.join(_KEYS)})[ \t]*\]")
# tomllib takes quadratic time for a key of very many parts.
_LONG_KEY: Final = re.compile(
    r"(?m)^[ \t]*\[{0,2}[ \t]*(?:(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')[ \t]*\.[ \t]*){50}"
)


def sniff(source: Source) -> bool:
    return source.is_file and (source.suffix == ".toml" or _OURS.search(source.text) is not None)


def read(source: Source, defaults: Defaults) -> NetworkDescription:
    """The network of a TOML file."""
    return _Document(source, defaults).read()


class _Table:
    """Table of a file, with the line of its header and of each of its keys."""

    def __init__(
        self, source: Source, kind: str, values: dict[str, Any], line: int, lines: dict[str, int]
    ) -> None:
        self.source, self.kind, self.values, self.line, self.lines = source, kind, values, line, lines
        for key in values:
            if key not in _KEYS[kind]:
                raise self.error(
                    f"[{kind}] has no key {shown(key)}",
                    key,
                    suggestion(key, _KEYS[kind]) or f"it has {', '.join(_KEYS[kind])}",
                )

    @property
    def where(self) -> Where:
        return self.source.at(self.line)

    def error(self, what: str, key: str = "", remedy: str = "") -> NetworkError:
        return self.source.error(what, self.at(key).line, remedy)

    def at(self, key: str) -> Where:
        return self.source.at(self.lines.get(key, self.line))

    def text(self, key: str) -> str | None:
        if (value := self.values.get(key)) is None or (isinstance(value, str) and value):
            return value
        raise self.error(f"{key} must be a name in quotes", key, f'write {key} = "…"')

    def name(self, key: str) -> str:
        if (value := self.text(key)) is None:
            raise self.error(f"this [[{self.kind}]] has no {key}", remedy=f'add {key} = "…"')
        return value

    def quantity(self, key: str, parser: Callable[[str], float], default: float) -> float:
        if (value := self.values.get(key)) is None:
            return default
        if not isinstance(value, str):
            example = "1Gbit" if parser is parse_rate else "5us"
            raise self.error(f"{key} must be a text with a unit", key, f'write {key} = "{example}"')
        return self.source.parse(parser, value, self.at(key).line)

    def rate(self, default: float, key: str = "rate") -> float:
        return self.quantity(key, parse_rate, default)

    def latency(self, default: float, key: str = "latency") -> float:
        return self.quantity(key, parse_time, default)

    def integer(self, key: str, default: int, most: int) -> int:
        value = self.values.get(key, default)
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most:
            return value
        raise self.error(f"{key} must be a whole number from 1 to {most}", key, f"write {key} = 2")

    def over(self, defaults: Defaults) -> Defaults:
        """Defaults under what this table states of a link and a host."""
        forwards = self.values.get("forward", defaults.forwards)
        if not isinstance(forwards, bool):
            raise self.error("forward must be true or false", "forward", "write forward = true")
        return replace(
            defaults,
            rate=self.rate(defaults.rate),
            latency=self.latency(defaults.latency),
            ranks=self.integer("ranks", defaults.ranks, MAX_RANKS),
            ports=self.integer("ports", defaults.ports, MAX_PORTS),
            forwards=forwards,
        )


class _Document:
    def __init__(self, source: Source, defaults: Defaults) -> None:
        self.source = source
        self.defaults = defaults
        self.values = _parse(source)
        self.headers = _headers(source.text)
        for key, value in self.values.items():
            if key not in _TOP:
                raise source.error(
                    f"unknown key or table {shown(key)}",
                    self._line_of(key),
                    suggestion(key, _TOP) or f"known are {', '.join(_TOP)}",
                )
            wanted = list if key in _ARRAYS else dict if key in _KEYS else str
            if not isinstance(value, wanted):
                form = (
                    f"[[{key}]] table" if wanted is list else f"[{key}] table" if wanted is dict else "text"
                )
                raise source.error(
                    f"{key} must be a {form}", self._line_of(key), "see 'hocket help networks'"
                )

    def _line_of(self, key: str) -> int:
        if key in self.headers:
            return self.headers[key][0][0]
        match = re.search(rf"(?m)^[ \t]*\[{{0,2}}[ \t]*[\"']?{re.escape(key)}\b", self.source.text)
        return self.source.text.count("\n", 0, match.end()) + 1 if match else 0

    def _tables(self, kind: str) -> Iterable[_Table]:
        values = self.values.get(kind, [])
        values = values if isinstance(values, list) else [values]
        places = self.headers.get(kind, [])
        # Headers are found by their look; a multi-line text may imitate one, and then no line is better.
        if len(places) != len(values):
            places = [(self._line_of(kind), {})] * len(values)
        for value, (line, keys) in zip(values, places, strict=True):
            if not isinstance(value, dict):
                raise self.source.error(
                    f"{kind} must be a [[{kind}]] table", line, "see 'hocket help networks'"
                )
            yield _Table(self.source, kind, value, line, keys)

    def read(self) -> NetworkDescription:
        if (shape := self.values.get("shape", "tree")) not in ("tree", "graph"):
            raise self.source.error(
                f"there is no shape {shown(shape)}", self._line_of("shape"), 'write shape = "tree" or "graph"'
            )
        for table in self._tables("defaults"):
            self.defaults = table.over(self.defaults)
        tables = [table for kind in _ARRAYS for table in self._tables(kind)]
        grids = [table for kind in _GRIDS for table in self._tables(kind)]
        if len(grids) > 1 or (grids and tables):
            raise self.source.error(
                f"a [{grids[0].kind}] is the whole network",
                grids[0].line,
                "put everything else into other files",
            )
        if "routes" in self.values and (grids or shape != "graph"):
            raise self.source.error(
                "routes are the forwarding tables of a graph",
                self._line_of("routes"),
                "ties say where messages of a torus go"
                if grids
                else 'write shape = "graph" or remove routes',
            )
        if grids:
            return self._grid(grids[0])
        result = NetworkDescription(source=self.source.name, shape=shape)
        readers = {"switch": self._switch, "host": self._host, "link": self._link}
        for table in sorted(tables, key=lambda table: table.line):
            readers[table.kind](table, result)
        if not result.hosts:
            raise self.source.error("the network has no hosts", remedy='add hosts = "n[0-7]" to a [[switch]]')
        if shape != "graph":
            for table in (*self._tables("defaults"), *tables):
                if table.values.get("forward"):
                    raise table.error(
                        "hosts forward only in a graph; in a tree each has one link",
                        "forward",
                        'write shape = "graph" or remove forward',
                    )
        if "routes" in self.values:
            routes = load_beside(self.source, self.values["routes"], self._line_of("routes"), "routes")
            result.forwarding = read_tables(routes, result)
        if "paths" in self.values:
            self._paths(shape, result)
        return result

    def _paths(self, shape: str, result: NetworkDescription) -> None:
        line = self._line_of("paths")
        if shape != "graph":
            raise self.source.error("paths are of a graph", line, 'write shape = "graph" or remove paths')
        beside = load_beside(self.source, self.values["paths"], line, "paths")
        result.paths = read_paths(beside)
        if unknown := result.paths.addresses.keys() - {host.name for host in result.hosts}:
            raise beside.error(
                f"the network has no host {shown(min(unknown))}",
                remedy="find the paths of this network: hocket network discover --paths",
            )
        result.notes.append(said(replace(result, paths=None).build(), result.paths))

    def _switch(self, table: _Table, result: NetworkDescription) -> None:
        own, name = table.over(self.defaults), table.name("name")
        result.add_switch(name, table.at("name"))
        if (uplink := table.text("uplink")) is not None:
            result.links.append(Link(uplink, name, own.rate, own.latency, table.at("uplink")))
        elif "rate" in table.values or "latency" in table.values:
            key = "rate" if "rate" in table.values else "latency"
            raise table.error(
                f"{key} is that of the uplink, and there is none", key, f"use host_{key} or uplink"
            )
        hosts = table.values.get("hosts")
        rate = table.rate(self.defaults.rate, "host_rate")
        latency = table.latency(self.defaults.latency, "host_latency")
        if hosts is None or hosts == "":
            return
        where = table.at("hosts")
        items = hosts if isinstance(hosts, list) else [hosts]
        for item in items:
            if not isinstance(item, str):
                raise table.error("hosts must be a host list in quotes", "hosts", 'write hosts = "n[0-7]"')
            for host in expand(item, self.source, where.line):
                result.add_host(host, own.ranks, where, own.ports, own.forwards)
                result.links.append(Link(name, host, rate, latency, where))

    def _host(self, table: _Table, result: NetworkDescription) -> None:
        name, switch = table.name("name"), table.text("switch")
        own = table.over(self.defaults)
        result.add_host(name, own.ranks, table.at("name"), own.ports, own.forwards)
        if switch is not None:
            result.links.append(Link(switch, name, own.rate, own.latency, table.at("switch")))

    def _link(self, table: _Table, result: NetworkDescription) -> None:
        own = table.over(self.defaults)
        result.links.append(Link(table.name("a"), table.name("b"), own.rate, own.latency, table.where))

    def _grid(self, table: _Table) -> NetworkDescription:
        if table.kind == "hypercube":
            if "dimensions" not in table.values:
                raise table.error("this [hypercube] has no dimensions", remedy="add dimensions = 6")
            sides = [table.integer("dimensions", 0, MAX_DIMENSIONS)]
        else:
            sides = table.values.get("sides", [])
            if not isinstance(sides, list) or not sides or not all(type(s) is int and s >= 1 for s in sides):
                raise table.error("sides must be whole numbers from 1", "sides", "write sides = [8, 4, 8, 2]")
        check_sides(
            self.source,
            table.kind,
            sides,
            table.at("dimensions" if table.kind == "hypercube" else "sides").line,
        )
        own, ties, names = table.over(self.defaults), table.values.get("ties"), self._names(table, sides)
        if ties is not None:
            ties = check_ties(self.source, sides, ties, table.at("ties").line)
        grid = Grid(_GRIDS[table.kind], sides, own.rate, own.latency, names, own.ranks, ties, own.ports)
        return NetworkDescription(source=self.source.name, shape="grid", grid=grid)

    def _names(self, table: _Table, sides: list[int]) -> list[str] | None:
        if (name := table.text("coordinates")) is None:
            return None
        return read_coordinates(
            load_beside(self.source, name, table.at("coordinates").line, "coordinates"), sides
        )


def _parse(source: Source) -> dict[str, Any]:
    if long_key := _LONG_KEY.search(source.text):
        line = source.text.count("\n", 0, long_key.end()) + 1
        raise source.error("a key of more than 50 parts", line, "a network file needs no such key")
    try:
        return tomllib.loads(source.text)
    except RecursionError:
        raise source.error("is nested too deeply", remedy="a network file needs no nested arrays") from None
    except ValueError as problem:  # TOMLDecodeError is one, and so is an integer of thousands of digits
        text = str(problem)
        place = re.search(r"\(at line (\d+), column (\d+)\)", text)
        line = int(place[1]) if place else source.text.count("\n") + 1 if "end of document" in text else 0
        what = re.sub(r"\s*\(at .*\)", "", text)
        raise source.error(f"is not TOML: {shown(what, 200)[1:-1]}", line, "correct the syntax") from None


def _headers(text: str) -> dict[str, list[tuple[int, dict[str, int]]]]:
    """Lines of each table's headers and of the keys under each, by the table's name."""
    found: dict[str, list[tuple[int, dict[str, int]]]] = {}
    keys: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.match(line):
            keys = {}
            found.setdefault(header[1], []).append((number, keys))
        else:
            if key := _KEY.match(line):
                keys.setdefault(key[1], number)
    return found
