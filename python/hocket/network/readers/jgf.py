"""Flux's resource graphs: JGF (JSON Graph Format), as Fluxion reads and writes it.

Read is what contains what: vertices of type ``node`` are hosts, those that hold hosts are switches."""

from typing import Any, Final

from hocket.network.description import NetworkDescription
from hocket.network.parts import Defaults
from hocket.network.readers.json_files import Lines, entries, name, parse, sniffs
from hocket.network.source import Source, shown

HOST: Final = "node"  # Flux's word
CONTAINMENT: Final = "containment"
_ANEW: Final = "regenerate it: flux ion-resource find -q --format=jgf status=up"


sniff = sniffs(r'"graph"\s*:\s*\{')


def read(source: Source, defaults: Defaults) -> NetworkDescription:
    """The tree of what contains what, down to the hosts, each in the order of the file."""
    found = parse(source, _ANEW)
    if isinstance(found, dict) and isinstance(found.get("scheduling"), dict):
        found = found["scheduling"]  # a resource set (R) with the graph
    graph = found.get("graph") if isinstance(found, dict) else None
    if not isinstance(graph, dict):
        raise source.error("has no graph", remedy=_ANEW)
    lines = Lines(source)
    vertices = {name(source, entry, "id"): entry for entry in entries(source, graph.get("nodes"), "nodes")}
    above: dict[str, str] = {}
    for edge in entries(source, graph.get("edges", []), "edges"):
        upper, lower = name(source, edge, "source"), name(source, edge, "target")
        for end in (upper, lower):
            if end not in vertices:
                raise source.error(f"an edge names the vertex {shown(end)}, which is not listed", 0, _ANEW)
        if _contains(edge) and above.setdefault(lower, upper) != upper:
            raise source.error(
                f"vertex {shown(lower)} lies in {shown(above[lower])} and in {shown(upper)}", 0, _ANEW
            )
    if not (hosts := [key for key, vertex in vertices.items() if _type(vertex) == HOST]):
        raise source.error("holds no vertex of type node", remedy="write the graph with its hosts")
    needed = _holders(hosts, above)
    called = {key: _called(source, vertices[key]) for key in (*needed, *hosts)}
    result = NetworkDescription(source=source.name)
    for key in needed:
        result.add_switch(called[key], source.at(lines.of(called[key])))
    for key in hosts:
        result.add_host(called[key], defaults.ranks, source.at(lines.of(called[key])))
    for key in (*needed, *hosts):
        if key in above and above[key] in called:
            result.wire(called[above[key]], called[key], defaults, source.at(lines.of(called[key])))
    return result


def _holders(hosts: list[str], above: dict[str, str]) -> list[str]:
    """Every vertex that holds hosts, maybe through others."""
    found: dict[str, None] = {}
    for host in hosts:
        upper = above.get(host)
        while upper is not None and upper not in found:
            found[upper] = None
            upper = above.get(upper)
    return list(found)


def _contains(edge: dict[str, Any]) -> bool:
    metadata = edge.get("metadata")
    told = metadata if isinstance(metadata, dict) else {}
    subsystem = told.get("subsystem", CONTAINMENT)
    names = told.get("name", {})
    downward = names.get(CONTAINMENT, "contains") != "in" if isinstance(names, dict) else True
    return subsystem == CONTAINMENT and downward


def _type(vertex: dict[str, Any]) -> str:
    metadata = vertex.get("metadata")
    return str(metadata.get("type", "")) if isinstance(metadata, dict) else ""


def _called(source: Source, vertex: dict[str, Any]) -> str:
    """A host's name; of others the path, as racks of two clusters may share a name."""
    metadata = vertex.get("metadata")
    told = metadata if isinstance(metadata, dict) else {}
    paths = told.get("paths")
    path = paths.get(CONTAINMENT) if isinstance(paths, dict) and _type(vertex) != HOST else None
    for given in (path, told.get("name")):
        if isinstance(given, str) and given:
            return given
    return f"{_type(vertex)} {name(source, vertex, 'id')}".strip()
