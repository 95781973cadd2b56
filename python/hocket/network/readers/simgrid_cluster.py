"""SimGrid's ``<cluster>``: flat, fat tree and torus."""

from __future__ import annotations

import io
import math
import re
import xml.sax
from dataclasses import dataclass, field
from typing import Final

from defusedxml import DefusedXmlException
from defusedxml.expatreader import create_parser

from hocket.errors import NetworkError
from hocket.network import families
from hocket.network.chosen import expand
from hocket.network.description import NetworkDescription
from hocket.network.parts import MAX_NODES, Defaults, Grid, Link
from hocket.network.source import Source, shown
from hocket.units import parse_rate, parse_time

_MAX_DEPTH: Final = 64
_MAX_ELEMENTS: Final = 3_000_000
_BARE: Final = re.compile(r"\s*[\d.]+(?:[eE][+-]?\d+)?\s*", re.ASCII)
POLICIES: Final = ("SHARED", "SPLITDUPLEX", "FATPIPE")


@dataclass(slots=True)
class Element:
    """An XML element and the line it begins on."""

    tag: str
    attributes: dict[str, str]
    line: int
    source: Source
    children: list[Element] = field(default_factory=list)

    def error(self, what: str, remedy: str = "") -> NetworkError:
        return self.source.error(what, self.line, remedy)

    def get(self, name: str, default: str | None = None) -> str:
        """An attribute; without ``default`` it must be there."""
        if (value := self.attributes.get(name, default)) is None or (not value and default is None):
            raise self.error(f"<{self.tag}> has no {name}", f'add {name}="…"')
        return value

    def rate(self, name: str) -> float:
        text = self.get(name)
        # SimGrid takes a number without unit as bytes per second.
        return self.source.parse(parse_rate, text + "Bps" if _BARE.fullmatch(text) else text, self.line)

    def time(self, name: str, default: str | None = None) -> float:
        text = self.get(name, default)
        return self.source.parse(parse_time, text + "s" if _BARE.fullmatch(text) else text, self.line)

    def policy(self, name: str, default: str) -> str:
        text = self.get(name, default).upper()
        text = "SPLITDUPLEX" if text == "FULLDUPLEX" else text
        if text not in POLICIES:
            raise self.error(f"{name} {shown(text)} is not understood", f"known are {', '.join(POLICIES)}")
        return text


class _Builder(xml.sax.ContentHandler):
    def __init__(self, source: Source) -> None:
        super().__init__()
        self.source = source
        self.path: list[Element] = []
        self.root: Element | None = None
        self.count = 0

    def startElement(self, name: str, attrs: xml.sax.xmlreader.AttributesImpl) -> None:  # noqa: N802
        line = int(self._locator.getLineNumber() or 0)  # type: ignore[attr-defined]
        element = Element(name, dict(attrs.items()), line, self.source)
        if self.path:
            self.path[-1].children.append(element)
        else:
            self.root = element
        self.path.append(element)
        self.count += 1
        if self.count > _MAX_ELEMENTS:
            raise element.error(f"holds more than {_MAX_ELEMENTS:,} elements", "read a part of it")
        if len(self.path) > _MAX_DEPTH:
            raise element.error("is nested too deeply", f"at most {_MAX_DEPTH} levels are read")

    def endElement(self, name: str) -> None:  # noqa: N802
        self.path.pop()


def parse(source: Source) -> Element:
    """The root element. Entities are refused, and the DTD that SimGrid files name is not fetched."""
    builder = _Builder(source)
    # forbid_external would refuse the DOCTYPE of every SimGrid file; expatreader leaves it unread anyway.
    parser = create_parser(forbid_dtd=False, forbid_entities=True, forbid_external=False)
    parser.setFeature(xml.sax.handler.feature_external_ges, False)
    parser.setContentHandler(builder)
    stream = xml.sax.xmlreader.InputSource()
    stream.setCharacterStream(io.StringIO(source.text))
    try:
        parser.parse(stream)
    except xml.sax.SAXParseException as problem:
        raise source.error(
            f"is not XML: {problem.getMessage()}", problem.getLineNumber() or 0, "correct the syntax"
        ) from None
    except DefusedXmlException:
        raise source.error("declares an entity", remedy="write its text out") from None
    except (xml.sax.SAXException, ValueError, LookupError) as problem:
        if isinstance(problem, NetworkError):
            raise
        raise source.error(f"is not XML: {shown(str(problem), 200)[1:-1]}", 0, "correct the syntax") from None
    if builder.root is None:
        raise source.error("holds no XML element", remedy="add a <platform>")
    return builder.root


_TOPOLOGIES: Final = ("FLAT", "FAT_TREE", "TORUS")


@dataclass(slots=True)
class Cluster:
    """Attributes of a ``<cluster>`` element; ``bb_rate`` is 0 without a backbone."""

    element: Element
    name: str
    hosts: list[str]
    router: str
    topology: str
    rate: float
    latency: float
    policy: str
    bb_rate: float
    bb_latency: float
    bb_policy: str

    @property
    def is_star(self) -> bool:
        """True if the hosts share nothing but their own links."""
        wide = self.bb_rate == 0 or self.bb_policy == "FATPIPE" or self.bb_rate >= self.rate * len(self.hosts)
        return self.topology == "FLAT" and wide and self.policy != "SHARED"


def read_cluster(element: Element) -> Cluster:
    """The cluster of an element, its host names expanded."""
    name = element.get("id")
    prefix, suffix, radical = element.get("prefix", ""), element.get("suffix", ""), element.get("radical")
    if not re.fullmatch(r"[\d\s,-]+", radical, re.ASCII):
        raise element.error(
            f"radical {shown(radical)} is not a list of numbers", 'write it like radical="0-7,9"'
        )
    numbers = expand(f"[{radical}]", element.source, element.line, MAX_NODES)
    if "limiter_link" in element.attributes:
        raise element.error("limiter_link is not understood", "fold it into bw, or leave it out")
    if (topology := element.get("topology", "FLAT").upper()) not in _TOPOLOGIES:
        raise element.error(
            f"topology {shown(topology)} is not understood", f"known are {', '.join(_TOPOLOGIES)}"
        )
    backbone = "bb_bw" in element.attributes
    cluster = Cluster(
        element,
        name,
        [f"{prefix}{int(number)}{suffix}" for number in numbers],
        element.get("router_id", "") or f"{prefix}{name}_router{suffix}",
        topology,
        element.rate("bw"),
        element.time("lat", "0"),
        element.policy("sharing_policy", "SPLITDUPLEX"),
        element.rate("bb_bw") if backbone else 0.0,
        element.time("bb_lat", "0") if backbone else 0.0,
        element.policy("bb_sharing_policy", "SHARED"),
    )
    if backbone and cluster.bb_rate == 0:
        raise element.error("the backbone has rate 0", "correct bb_bw")
    if topology != "FLAT" and cluster.policy == "SHARED":
        raise element.error(
            f"a {topology} of half-duplex links (SHARED) is not understood",
            'write sharing_policy="SPLITDUPLEX"',
        )
    return cluster


def describe_cluster(cluster: Cluster, defaults: Defaults) -> NetworkDescription:
    """The network of a lone cluster that is a star, a fat tree or a torus."""
    if cluster.topology == "TORUS":
        return _torus(cluster, defaults)
    if cluster.topology == "FAT_TREE":
        return _fat_tree(cluster, defaults)
    where = cluster.element.source.at(cluster.element.line)
    result = NetworkDescription(source=cluster.element.source.name)
    result.add_switch(cluster.router, where)
    # A backbone that never limits still takes its time; every path has two host links to carry it.
    latency = cluster.latency + cluster.bb_latency / 2
    for host in cluster.hosts:
        result.add_host(host, defaults.ranks, where)
        result.links.append(Link(cluster.router, host, cluster.rate, latency, where))
    return result


def _numbers(cluster: Cluster, text: str) -> list[int]:
    items = [item.strip() for item in text.split(",", 64)]
    if not all(re.fullmatch(r"\d{1,7}", item, re.ASCII) and 1 <= int(item) <= MAX_NODES for item in items):
        raise cluster.element.error(
            f"topo_parameters {shown(text)} are not numbers from 1",
            f"see SimGrid's manual on {cluster.topology}",
        )
    return [int(item) for item in items]


def _check_count(cluster: Cluster, wanted: int) -> None:
    if wanted != len(cluster.hosts):
        raise cluster.element.error(
            f"topo_parameters ask for {wanted:,} hosts, radical gives {len(cluster.hosts):,}",
            "make the two agree",
        )


def _torus(cluster: Cluster, defaults: Defaults) -> NetworkDescription:
    element = cluster.element
    sides = _numbers(cluster, element.get("topo_parameters"))
    _check_count(cluster, math.prod(sides))
    # SimGrid's first side runs fastest, Hocket's last; a side of 1 adds nothing.
    sides = [side for side in reversed(sides) if side > 1] or [1]
    families.check_sides(element.source, "torus", sides, element.line)
    grid = Grid("torus", sides, cluster.rate, cluster.latency, cluster.hosts, defaults.ranks, _ties(sides))
    return NetworkDescription(source=element.source.name, shape="grid", grid=grid)


def _ties(sides: list[int]) -> list[str]:
    """Tie-breaking of SimGrid's TorusZone half-way round: up, but down from the coordinate in the middle."""
    return [
        "+" * (side // 2) + "-" + "+" * (side // 2 - 1) if side > 2 and side % 2 == 0 else ""
        for side in sides
    ]


def _fat_tree(cluster: Cluster, defaults: Defaults) -> NetworkDescription:
    """A tree if each switch has one parent, else a graph; parallel cables are one faster link."""
    element = cluster.element
    parameters = element.get("topo_parameters").split(";")
    if len(parameters) != 4 or len(_numbers(cluster, parameters[0])) != 1:
        raise element.error(
            "topo_parameters of a fat tree are “levels;down;up;cables”", "as in 2;4,4;1,2;1,2"
        )
    levels = _numbers(cluster, parameters[0])[0]
    down, up, cables = (_numbers(cluster, parameter) for parameter in parameters[1:])
    if not len(down) == len(up) == len(cables) == levels or levels > families.MAX_DIMENSIONS:
        raise element.error(
            f"topo_parameters do not give {levels} numbers for each of down, up and cables",
            f"at most {families.MAX_DIMENSIONS} levels, as in 2;4,4;1,2;1,2",
        )
    _check_count(cluster, math.prod(down))
    sizes = families.fat_tree_levels(down, up)
    nodes, wires = sum(sizes), families.fat_tree_links(down, up)
    if nodes > 2 * MAX_NODES or wires > families.MAX_LINKS:
        raise element.error(f"a fat tree of {nodes:,} nodes and {wires:,} links", "give smaller parameters")
    names = [
        f"{cluster.name}_switch_{level}_{at}" for level in range(1, levels + 1) for at in range(sizes[level])
    ]
    return families.fat_tree(
        element.source.name, down, up, cables, Defaults(cluster.rate, cluster.latency, defaults.ranks),
        element.source.at(element.line), [*cluster.hosts, *names],
    )  # fmt: skip
