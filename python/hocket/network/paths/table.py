"""Ways that connections take by their ports, as found in a running network; a JSON file beside the network's TOML.

``{"version": 2, "found": "2026-11-27T20:30:00Z", "listen": 28000, "ports": 28, "addresses": {"n0": "10.0.0.1"},
"routers": {"10.255.0.5": "s4"}, "ways": ["s4", "s5"],
"pairs": [["n0", "n5", [way of each port], [way of each answer]]]}``

A way is the switch by which it differs from the others. A connection from host a to host b comes from one of ``ports``
ports and goes to the port ``listen``; ``pairs`` has the ways from a to b of connections that a opens, and of what a
answers on connections that b opens. ``routers``: by which addresses switches have answered.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Final

from hocket.network.parts import MAX_NAME
from hocket.network.source import Source

VERSION: Final = 2
LISTEN: Final = 28000  # below the ports that Linux gives to connections
PORTS: Final = 28  # of a pair
FIRST_PORT: Final = 33000
_LAST_PORT: Final = 60000  # Linux gives 32768 to 60999
SILENT: Final = -1  # nobody answered, or somebody else
SEVERAL: Final = -2  # one port, several ways
MAX_PAIRS: Final = 1_000_000
_MOST_PORTS: Final = 64
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z", re.ASCII)
_ADDRESS: Final = re.compile(r"[0-9A-Fa-f:.]{2,45}", re.ASCII)


@dataclass(slots=True)
class Paths:
    """Ways by ports. ``pairs``: of hosts by name, in both orders; see the module."""

    found: str
    addresses: dict[str, str]
    ways: list[str]
    routers: dict[str, str] = field(default_factory=dict)
    pairs: dict[tuple[str, str], tuple[list[int], list[int]]] = field(default_factory=dict)
    listen: int = LISTEN
    ports: int = PORTS
    chosen: tuple[Any, Any] | None = field(default=None, compare=False, repr=False)
    """Kept by choose(): the network and its choice. Pairs do not change once it stands."""

    @property
    def spraying(self) -> bool:
        """True if packets of one connection were seen on several ways."""
        return any(SEVERAL in ways for both in self.pairs.values() for ways in both)

    def to_json(self) -> str:
        """Text of the file."""
        pairs = ",\n".join(json.dumps([a, b, *both]) for (a, b), both in self.pairs.items())
        head = {"version": VERSION, "found": self.found, "listen": self.listen, "ports": self.ports,
                "addresses": self.addresses, "routers": self.routers, "ways": self.ways}  # fmt: skip
        return json.dumps(head)[:-1] + f', "pairs": [\n{pairs}\n]}}\n'


def port_of(number: int, ports: int, index: int) -> int:
    """Source port of connections to the ``number``-th host, the ``index``-th of ``ports``."""
    sets = (_LAST_PORT - FIRST_PORT) // ports
    return FIRST_PORT + number % sets * ports + index


def read_paths(source: Source) -> Paths:
    """Paths of a file. Raises :class:`hocket.errors.NetworkError` for what is none."""
    try:
        return _checked(json.loads(source.text))
    except (ValueError, RecursionError, TypeError, KeyError) as problem:
        what = str(problem) if type(problem) is ValueError else "is no table of paths"
        raise source.error(what, remedy="find them again: hocket network discover --paths") from None


def _checked(told: Any) -> Paths:
    if told["version"] != VERSION:
        raise ValueError("is a table of paths of another version")
    listen, ports = told["listen"], told["ports"]
    if type(listen) is not int or not 1024 <= listen < FIRST_PORT:
        raise ValueError(f"listen is not a port from 1024 to {FIRST_PORT - 1}")
    if type(ports) is not int or not 1 <= ports <= _MOST_PORTS:
        raise ValueError(f"ports is not a number from 1 to {_MOST_PORTS}")
    if not isinstance(told["found"], str) or not _DATE.fullmatch(told["found"]):
        raise ValueError("found is not a time like 2026-11-27T20:30:00Z")
    addresses, routers, ways, pairs = (told[key] for key in ("addresses", "routers", "ways", "pairs"))
    if not all(isinstance(a, str) and _ADDRESS.fullmatch(a) for a in (*addresses.values(), *routers)):
        raise ValueError("an address is no IP address")
    if not all(isinstance(way, str) and len(way) <= MAX_NAME for way in (*ways, *routers.values())):
        raise ValueError("a way is no name")
    if not isinstance(pairs, list) or len(pairs) > MAX_PAIRS:
        raise ValueError(f"pairs are no list of at most {MAX_PAIRS:,}")
    paths = Paths(told["found"], addresses, ways, routers, listen=listen, ports=ports)
    for a, b, asked, answered in pairs:
        if a not in addresses or b not in addresses or a == b or (a, b) in paths.pairs:
            raise ValueError("a pair has an unknown host, or stands twice")
        for numbers in (asked, answered):
            if len(numbers) != ports or not all(type(n) is int and SEVERAL <= n < len(ways) for n in numbers):
                raise ValueError(f"the ways from {a} to {b} are not one for each port")
        paths.pairs[a, b] = asked, answered
    return paths
