"""Switches of a lab that route: equal-cost next hops, chosen by the kernel's hash of addresses and ports."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hocket.errors import MissingToolError
from hocket.lab.state import LabNode
from hocket.lab.wires import NUD_PERMANENT, Join, hardware_address
from hocket.network.description import NetworkDescription

ROUTER_ADDRESS = "02:01:00:00:00:00"  # hardware address of every port of every router
ANSWERS_A_SECOND = 100  # ICMP errors of a router to one host, as switches limit them
_IPV4 = Path("/proc/sys/net/ipv4")


_SETTINGS = {
    "ip_forward": 1,
    # Not policy 1: between veth ends it takes the random number that the sender's socket has for its packets.
    "fib_multipath_hash_policy": 3,
    "fib_multipath_hash_fields": 0x37,  # addresses, protocol, ports
    "conf/all/rp_filter": 0,
    "conf/default/rp_filter": 0,
    "conf/all/ignore_routes_with_linkdown": 1,  # as routers do: what has no carrier is no next hop
    "icmp_ratelimit": 1000 // ANSWERS_A_SECOND,
}


def next_hops(network: NetworkDescription) -> dict[str, dict[str, list[str]]]:
    """Neighbours of each switch on shortest ways to each host, by names. Hosts forward nothing."""
    around: dict[str, list[str]] = {node.name: [] for node in network.nodes}
    for link in network.links:
        around[link.a].append(link.b)
        around[link.b].append(link.a)
    hosts = {node.name for node in network.nodes if node.is_host}
    found: dict[str, dict[str, list[str]]] = {name: {} for name in around if name not in hosts}
    for host in hosts:
        far = {host: 0}
        todo = deque([host])
        while todo:
            here = todo.popleft()
            for name in around[here]:
                if name not in far and name not in hosts:
                    far[name] = far[here] + 1
                    todo.append(name)
        for switch in found:
            if switch in far:
                found[switch][host] = [
                    name for name in dict.fromkeys(around[switch]) if far.get(name) == far[switch] - 1
                ]
    return found


def forward(seed: int | None) -> None:
    """Let the calling thread's namespace route, and hash addresses and ports with ``seed`` (32 bits), or with the
    kernel's own, which another start of the machine changes."""
    for name, value in _SETTINGS.items():
        (_IPV4 / name).write_text(str(value), encoding="ascii")
    if seed is None:
        return
    try:
        (_IPV4 / "fib_multipath_hash_seed").write_text(str(seed), encoding="ascii")
    except OSError as error:
        raise MissingToolError(
            "this kernel has no fib_multipath_hash_seed", remedy="leave --ecmp-seed out, or use Linux 6.11"
        ) from error


def router(
    node: LabNode,
    next_hops: Mapping[str, Sequence[str]],
    ways: Mapping[tuple[str, str], Sequence[str]],
    node_of: Mapping[str, LabNode],
) -> Join:
    """A router: its address, its neighbours, and a route to each host by all equally short ways.

    ``next_hops``: of this router, by host. ``ways``: ports of a node towards another.
    """

    def join(ip: Any, index_of: Mapping[str, int]) -> None:
        ip.addr("add", index=1, address=_ip(node), prefixlen=32)
        for index in index_of.values():
            ip.link("set", index=index, address=ROUTER_ADDRESS, state="up")
        for (name, other), ports in ways.items():
            for port in ports if name == node.name else ():
                there = node_of[other]
                lladdr = hardware_address(there.address) if there.ranks else ROUTER_ADDRESS
                ip.neigh(
                    "replace", dst=_ip(there), lladdr=lladdr, ifindex=index_of[port], state=NUD_PERMANENT
                )
        for host, hops in next_hops.items():
            onward = [(port, node_of[hop]) for hop in hops for port in ways[node.name, hop]]
            ip.route(
                "add",
                dst=f"{_ip(node_of[host])}/32",
                multipath=[
                    {"oif": index_of[port], "gateway": _ip(hop), "flags": ["onlink"]} for port, hop in onward
                ],
            )

    return join


def _ip(node: LabNode) -> str:
    return node.address.split("/")[0]
