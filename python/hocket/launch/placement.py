"""Placement files: where each rank runs, as host names or as coordinates of a torus, mesh or hypercube.

One place per line, for rank 0, 1, 2, …; ``#`` begins a comment. The preload library reads names only, so coordinates
become the names of their hosts before anything starts."""

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from hocket import _core
from hocket.errors import UsageError, Where
from hocket.network import NetworkDescription
from hocket.network.families import coordinates_of, node_at, sides_of
from hocket.network.parts import AssumedRate
from hocket.network.paths import choose, table_for_ranks
from hocket.network.uplinks import host_rates
from hocket.system.cache import keep
from hocket.system.files import read_file
from hocket.system.text import and_more, counted, shown

VARIABLE: Final = "HOCKET_PATHS"
WORDS: Final = ("hold", "spread", "off")
# Ports at which MPI libraries listen: UCX, libfabric, Open MPI's btl tcp.
_LISTENING: Final = {
    "UCX_TCP_PORT_RANGE": "{0}-{0}",
    "FI_TCP_PORT_LOW_RANGE": "{0}",
    "FI_TCP_PORT_HIGH_RANGE": "{0}",
    "OMPI_MCA_btl_tcp_port_min_v4": "{0}",
}
VARIABLES: Final = (VARIABLE, *_LISTENING)
_PAYLOAD: Final = 0.95  # of a link's rate; headers take the rest of frames of 1,500 bytes


def paths_environment(
    description: NetworkDescription, environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Variables for every rank: the table of the ports of its connections, with the rate at which they send during
    scheduled calls where the network states or has measured rates; and the port at which MPI libraries listen.

    Nothing where the network has no paths, packets are sprayed, or ``HOCKET_PATHS`` is off. What the user has set
    stays. Raises UsageError for a wrong word."""
    if (word := environment.get(VARIABLE, "").partition(":")[0] or "hold") not in WORDS:
        raise UsageError(
            f"{VARIABLE}='{word}' is none of {', '.join(WORDS)}", remedy=f"correct or unset {VARIABLE}"
        )
    if (paths := description.paths) is None or paths.spraying or word == "off":
        return {}
    network = replace(description, paths=None).build()
    rates = host_rates(description)
    known = rates and not any(isinstance(rate, AssumedRate) for rate in rates)
    pace = int(_PAYLOAD * max(rates)) if known else None
    table = keep("paths", table_for_ranks(network, paths, choose(network, paths), pace).encode(), ".txt")
    listening = {
        name: form.format(paths.listen) for name, form in _LISTENING.items() if name not in environment
    }
    return {VARIABLE: f"{word}:{table}", **listening}


_SEPARATOR = re.compile(r"\s*,\s*|\s+")
_KINDS = {_core.Shape.torus: "torus", _core.Shape.mesh: "mesh", _core.Shape.hypercube: "hypercube"}

Line = tuple[int, str]  # its number, from 1, and what it says


def hosts_by_coordinates(path: Path, network: _core.Network, ranks: int) -> list[str] | None:
    """The host names that the coordinates in a file stand for, line by line; None for a file of names.

    ``ranks``: how many ranks start. Raises UsageError, with file and line, for coordinates that the network does not
    have, that repeat more often than their host has ranks, or that are too few; for a file that mixes names and
    coordinates; for coordinates in a network that has none."""
    lines = _lines(path)
    names = set(network.names)
    if not (coordinates := [line for line in lines if _is_coordinates(line[1], names, network)]):
        return None
    if len(coordinates) < len(lines):
        other = next(line for line in lines if line not in coordinates)
        raise UsageError(
            f"{shown(other[1])} reads as a host name, but line {coordinates[0][0]} as coordinates",
            where=Where(str(path), other[0]),
            remedy="give names on all lines, or coordinates on all",
        )
    if network.shape not in _KINDS:
        raise UsageError(
            f"{shown(coordinates[0][1])} is not a host, and only a torus, mesh or hypercube has coordinates",
            where=Where(str(path), coordinates[0][0]),
            remedy="write one host name per line, for rank 0, 1, 2, …",
        )
    return _Grid(network, path).hosts_of(coordinates, ranks)


def _lines(path: Path) -> list[Line]:
    try:
        text = read_file(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = error.object[: error.start].count(b"\n") + 1
        raise UsageError(
            "this is not text", where=Where(str(path), number), remedy="write one place per line"
        ) from None
    except OSError as error:
        raise UsageError(
            f"cannot read the placement file: {error.strerror}",
            where=Where(str(path)),
            remedy="check path and permissions",
        ) from None
    stripped = ((number, line.partition("#")[0].strip()) for number, line in enumerate(text.split("\n"), 1))
    return [line for line in stripped if line[1]]


def _is_coordinates(line: str, names: set[str], network: _core.Network) -> bool:
    """Names of hosts come first: a host may be called 7."""
    if line in names:
        return False
    fields = _SEPARATOR.split(line)
    if network.shape in _KINDS and len(fields) > 1:
        return True
    return all(re.fullmatch(r"[-+]?\d+", field) for field in fields)


class _Grid:
    """Row-major coordinates of the hosts of a torus, mesh or hypercube."""

    def __init__(self, network: _core.Network, path: Path) -> None:
        self.network, self.path = network, path
        self.kind = _KINDS[network.shape]
        self.sides = sides_of(network)
        self.places = network.ranks_per_node
        self.free = list(self.places)

    def hosts_of(self, lines: list[Line], ranks: int) -> list[str]:
        seen: dict[int, int] = {}  # node to the line that took its last place
        nodes = []
        for number, text in lines:
            node = self._node(number, text)
            if self.free[node] == 0:
                raise self._error(
                    number,
                    f"{shown(text)} repeats line {seen[node]}, and its host has {counted(self.places[node], 'rank')}",
                    "give every host as often as it has ranks" + self._free_places(),
                )
            self.free[node] -= 1
            seen[node] = number
            nodes.append(node)
        if len(nodes) < ranks:
            raise self._error(
                0,
                f"{counted(len(nodes), 'line')} of coordinates for {ranks} ranks",
                f"add a line for rank {len(nodes)} and each one after it{self._free_places()}",
            )
        return [self.network.name_of(node) for node in nodes]

    def _node(self, number: int, text: str) -> int:
        fields = _SEPARATOR.split(text)
        if len(fields) != len(self.sides):
            raise self._error(
                number,
                f"{shown(text)} has {counted(len(fields), 'coordinate')}, the {self.kind} "
                f"{counted(len(self.sides), 'dimension')}",
                f"write {len(self.sides)} numbers, such as {self._written(0)}",
            )
        coordinates = []
        for dimension, (field, side) in enumerate(zip(fields, self.sides, strict=True), 1):
            if not re.fullmatch(r"[-+]?[0-9]{1,9}", field):
                raise self._error(
                    number,
                    f"{shown(field)} is not a coordinate",
                    f"write {len(self.sides)} numbers, such as {self._written(0)}",
                )
            value = int(field)
            if not 0 <= value < side:
                raise self._error(
                    number,
                    f"coordinate {dimension} of {shown(text)} is out of range",
                    f"coordinate {dimension} of this {self.kind} goes from 0 to {side - 1}",
                )
            coordinates.append(value)
        return node_at(coordinates, self.sides)

    def _free_places(self) -> str:
        """Continue an error message with the places that no line has taken."""
        if not (free := [node for node, places in enumerate(self.free) if places]):
            return f"; no place of the {self.kind} is free, so start at most {self.network.ranks} ranks"
        return f"; free: {and_more([self._written(node) for node in free])}"

    def _written(self, node: int) -> str:
        return " ".join(map(str, coordinates_of(node, self.sides)))

    def _error(self, line: int, what: str, remedy: str) -> UsageError:
        return UsageError(what, where=Where(str(self.path), line), remedy=remedy)
