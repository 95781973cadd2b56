"""InfiniBand fabrics: what ``ibnetdiscover`` prints (infiniband-diags).

A host's name is the first word of its adapter's node description (``n1 mlx5_0``). A host takes part with one port: the
first that has a lid, by adapter and number. Link rates are those of data, without encoding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from hocket.errors import NetworkError
from hocket.network.description import NetworkDescription
from hocket.network.parts import Defaults, Fabric, Link, distances
from hocket.network.source import Source, shown
from hocket.system.text import natural

# Data of a lane, bit/s: 8b/10b code up to QDR, 64b/66b after; IBTA volume 1, chapter "Link/Phy Interface".
LANE_RATES: Final = {
    "SDR": 2.5e9 * 8 / 10,
    "DDR": 5e9 * 8 / 10,
    "QDR": 10e9 * 8 / 10,
    "FDR10": 10.3125e9 * 64 / 66,
    "FDR": 14.0625e9 * 64 / 66,
    "EDR": 25.78125e9 * 64 / 66,
    "HDR": 50e9,
    "NDR": 100e9,
    "XDR": 200e9,
}
LATENCY: Final = 0.3e-6  # s of a cable and half a host or switch, where the user states none
_WIDTHS: Final = (1, 2, 4, 8, 12)
_AGAIN: Final = "run ibnetdiscover again, and dump_fts after it"

_SNIFFED: Final = re.compile(
    r'^(?:(?:Switch|Ca|Rt)[ \t]+\d+[ \t]+"[SHR]-|# Topology file: generated on|Unicast lids \[|'
    r"(?:Switch|Ca|Rt)[ \t]*: 0x[0-9a-f]+ ports \d)",
    re.MULTILINE,
)
_SKIPPED: Final = re.compile(
    r"(?:vendid|devid|sysimgguid|switchguid|caguid|rtguid)=|Chassis \d|Non-Chassis Nodes|DR path "
)
_NODE: Final = re.compile(
    r'(Switch|Ca|Rt)[ \t]+(\d{1,3})[ \t]+"([SHR]-[0-9a-f]{1,16})"[ \t]*# ?"(.*)"([^"]*)$'
)
_PORT: Final = re.compile(
    r"\[(\d{1,3})\](?:\[ext \d+\])?(?:\(([0-9a-f]{1,16})\))?[ \t]*"
    r'"([SHR]-[0-9a-f]{1,16})"\[(\d{1,3})\](?:\[ext \d+\])?(?:\([0-9a-f]{1,16}\))?[ \t]*'
    r'#[ \t]*(?:lid (\d{1,5}) lmc ([0-7]) )?"(.*)" lid \d{1,5} (\d{1,2})x([A-Za-z0-9?]+)(?: [^"]*)?$'
)
_NO_NAME: Final = re.compile(
    r"MT\d+\b|ConnectX|InfiniHost|Mellanox|QLogic|Infiniband|localhost\b", re.IGNORECASE
)
_SHARP: Final = "Aggregation Node"  # a switch's own adapter, which adds numbers up and runs no program


@dataclass(slots=True)
class _Port:
    """An end of a cable."""

    node: _Node
    number: int
    line: int
    beyond: str  # the node at the other end, and its port
    beyond_port: int
    rate: float
    guid: int = 0
    lid: int = 0
    lmc: int = 0  # 2^lmc lids


@dataclass(slots=True)
class _Node:
    kind: str
    id: str
    description: str
    line: int
    ports: dict[int, _Port] = field(default_factory=dict)
    name: str = ""

    @property
    def guid(self) -> int:
        return int(self.id[2:], 16)


def sniff(source: Source) -> bool:
    return source.is_file and _SNIFFED.search(source.text) is not None


def read(source: Source, defaults: Defaults) -> NetworkDescription:
    """Switches and hosts, each sorted by name, numbers in names by their value."""
    nodes = _nodes(source)
    _check_cables(source, nodes)
    result = NetworkDescription(source=source.name)
    switches = [node for node in nodes.values() if node.kind == "Switch"]
    hosts = _hosts(source, nodes, result)
    _name_switches(switches, hosts)
    switches = _reached(nodes, hosts)
    fabric = result.fabric = Fabric(
        {}, {}, {}, {node.guid for node in nodes.values() if node.kind == "Switch"}
    )
    index: dict[str, int] = {}
    for node in sorted(switches, key=lambda node: natural(node.name)):
        index[node.id] = fabric.switches[node.guid] = len(result.nodes)
        result.add_switch(node.name, source.at(node.line))
    for name, port in sorted(hosts.items(), key=lambda item: natural(item[0])):
        index[port.node.id] = len(result.nodes)
        fabric.lids.setdefault(port.lid, (len(result.nodes), port.guid))
        fabric.host_lids[len(result.nodes)] = port.lid
        for number in range(1, 2**port.lmc if port.lid else 1):
            fabric.further_lids.setdefault(port.lid + number, (len(result.nodes), number))
        result.add_host(name, defaults.ranks, source.at(port.line))
    latency = defaults.latency if defaults.latency_given else LATENCY
    _add_cables(source, nodes, index, {id(port) for port in hosts.values()}, latency, result)
    _check_lids(source, hosts)
    result.shape = "tree" if len(result.links) < len(result.nodes) else "graph"
    return result


def _nodes(source: Source) -> dict[str, _Node]:
    """Every node of the file by its id, with its ports."""
    nodes: dict[str, _Node] = {}
    node: _Node | None = None
    for number, text in _lines(source):
        if (match := _NODE.match(text)) is not None:
            kind, _, name, description, _ = match.groups()
            node = _Node(kind, name, description.strip(), number)
            if (first := nodes.setdefault(name, node)) is not node:
                raise source.error(
                    f"{name} is listed twice, first in line {first.line}", number,
                    "give the output of one ibnetdiscover",
                )  # fmt: skip
        elif (match := _PORT.match(text)) is not None and node is not None:
            port = _port(source, number, node, match)
            if port.number in node.ports:
                raise source.error(
                    f"port {port.number} of {node.id} is listed twice", number,
                    "give the output of one ibnetdiscover",
                )  # fmt: skip
            node.ports[port.number] = port
        else:
            raise _no_line(source, number, text)
    if not nodes:
        raise source.error("lists no node: it is cut off", remedy=_AGAIN)
    return nodes


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(source.text.split("\n"), 1):
        text = line.strip()
        if text and not text.startswith("#") and not _SKIPPED.match(text):
            yield number, text


def _no_line(source: Source, line: int, text: str) -> NetworkError:
    if text.startswith("Unicast lids"):
        return source.error(
            "these are forwarding tables, no network", line,
            "give them by --forwarding, and as --network what ibnetdiscover prints",
        )  # fmt: skip
    if re.match(r"(?:Switch|Ca|Rt)[ \t]*: 0x", text):
        return source.error(
            "this is a list of nodes without cables", line, "run ibnetdiscover without -l, -H, -S or -R"
        )
    if text.startswith(("Switch", "Ca", "Rt", "[")):
        return source.error(f"{shown(text)} is cut off or not understood", line, _AGAIN)
    return source.error(
        f"{shown(text)} is not a line of ibnetdiscover", line, "leave standard error out of the file, and options"
        " other than -f and -g"
    )  # fmt: skip


def _port(source: Source, line: int, node: _Node, match: re.Match[str]) -> _Port:
    number, guid, beyond, beyond_port, lid, lmc, _, width, speed = match.groups()
    if (lane := LANE_RATES.get(speed)) is None or int(width) not in _WIDTHS:
        raise source.error(
            f"{width}x{speed} is no width and speed of a link", line,
            f"known are {', '.join(f'{w}x' for w in _WIDTHS)} of {', '.join(LANE_RATES)}; {_AGAIN}",
        )  # fmt: skip
    rate = int(width) * lane / 8
    port_guid = int(guid, 16) if guid else 0
    return _Port(
        node, int(number), line, beyond, int(beyond_port), rate, port_guid, int(lid or 0), int(lmc or 0)
    )


def _check_cables(source: Source, nodes: dict[str, _Node]) -> None:
    """Every cable stands at both of its ends: a file that was cut off does not pass."""
    for node in nodes.values():
        for port in node.ports.values():
            if (other := nodes.get(port.beyond)) is None:
                raise source.error(
                    f"port {port.number} of {node.id} is wired to {port.beyond}, which is not listed: "
                    "the file is cut off", port.line, _AGAIN,
                )  # fmt: skip
            back = other.ports.get(port.beyond_port)
            if back is None or (back.beyond, back.beyond_port) != (node.id, port.number):
                raise source.error(
                    f"port {port.number} of {node.id} is wired to port {port.beyond_port} of {other.id}, "
                    f"which is not wired to it (line {(back or other).line})", port.line,
                    f"the file is cut off, or cables changed meanwhile: {_AGAIN}",
                )  # fmt: skip


def _hosts(source: Source, nodes: dict[str, _Node], result: NetworkDescription) -> dict[str, _Port]:
    """The port that each host takes part with, by the host's name."""
    adapters: dict[str, list[_Node]] = {}
    left_out = {"router": 0, "adapter of a switch": 0}
    for node in nodes.values():
        if node.kind == "Rt":
            left_out["router"] += 1
        elif node.kind == "Ca" and _SHARP in node.description:
            left_out["adapter of a switch"] += 1
        elif node.kind == "Ca" and node.ports:
            adapters.setdefault(_host_name(source, node), []).append(node)
    hosts, several = {}, 0
    for name, own in adapters.items():
        _check_adapters(source, name, own)
        own.sort(key=lambda node: natural(node.description))
        ports = [node.ports[number] for node in own for number in sorted(node.ports)]
        hosts[name] = next((port for port in ports if port.lid), ports[0])
        several += len(ports) > 1
    if not hosts:
        raise source.error(
            "lists no host with a cable", remedy="run ibnetdiscover on a host whose port is up (ibstat)"
        )
    if several:
        result.notes.append(
            f"{several} of {len(hosts)} hosts have several ports: planned is the first with a lid of each; "
            "tell the MPI to use these (UCX_NET_DEVICES)"
        )
    if told := [f"{count} {what}{'s' if count > 1 else ''}" for what, count in left_out.items() if count]:
        result.notes.append(f"left out, as no program runs there: {', '.join(told)}")
    return hosts


def _host_name(source: Source, node: _Node) -> str:
    words = node.description.replace("'", " ").replace('"', " ").split()
    if not words or _NO_NAME.match(words[0]):
        raise source.error(
            f"the node description {shown(node.description)} of {node.id} does not begin with a host's name",
            node.line,
            "let rdma-ndd set node descriptions, or name nodes by ibnetdiscover --node-name-map",
        )
    return words[0]


def _check_adapters(source: Source, name: str, adapters: list[_Node]) -> None:
    seen: dict[str, _Node] = {}
    for node in adapters:
        if (first := seen.setdefault(node.description, node)) is not node:
            raise source.error(
                f"two adapters are described as {shown(node.description)}, {first.id} in line {first.line} too",
                node.line,
                f"if both are in host {shown(name)}, describe them as {name} HCA-1 and {name} HCA-2, else by the "
                "names of their hosts (rdma-ndd, or ibnetdiscover --node-name-map)",
            )


def _name_switches(switches: list[_Node], hosts: dict[str, _Port]) -> None:
    """Name switches by their descriptions; by description and id where it is shared or equals a host's name."""
    count: dict[str, int] = dict.fromkeys(hosts, 1)
    for node in switches:
        count[node.description] = count.get(node.description, 0) + 1
    for node in switches:
        unique = bool(node.description) and count[node.description] == 1
        node.name = node.description if unique else f"{node.description} {node.id}".strip()


def _reached(nodes: dict[str, _Node], hosts: dict[str, _Port]) -> list[_Node]:
    """The switches that a cable leads to from a host's port, maybe through others. Others have no part in it."""
    wired = {
        node.id: [port.beyond for port in node.ports.values()] if node.kind == "Switch" else []
        for node in nodes.values()
    }
    reached = distances(wired, (port.beyond for port in hosts.values()))
    return [nodes[place] for place in reached if nodes[place].kind == "Switch"]


def _add_cables(
    source: Source,
    nodes: dict[str, _Node],
    index: dict[str, int],
    used: set[int],
    latency: float,
    result: NetworkDescription,
) -> None:
    """Add each cable once, at the lower rate that its ends state. ``used``: the ports of hosts."""
    assert result.fabric is not None
    for node in nodes.values():
        for port in node.ports.values():
            other = nodes[port.beyond]
            back = other.ports[port.beyond_port]
            if not all(end.node.id in index for end in (port, back)):
                continue
            if any(end.node.kind != "Switch" and id(end) not in used for end in (port, back)):
                continue
            if node is other or (node.id, port.number) > (other.id, back.number):
                continue  # a loop-back plug, or the cable's other end
            a, b = index[node.id], index[other.id]
            fabric, channel = result.fabric, 2 * len(result.links)
            fabric.ports[a, port.number] = channel
            fabric.ports[b, back.number] = channel + 1
            rate, where = min(port.rate, back.rate), source.at(port.line)
            result.links.append(Link(result.nodes[a].name, result.nodes[b].name, rate, latency, where))


def _check_lids(source: Source, hosts: dict[str, _Port]) -> None:
    seen: dict[int, _Port] = {}
    for port in hosts.values():
        first = seen.setdefault(port.lid, port) if port.lid else port
        if first is not port:
            raise source.error(
                f"lid {port.lid} is given twice, first in line {first.line}", port.line,
                f"two subnet managers may be at work (sminfo): end one; {_AGAIN}",
            )  # fmt: skip
