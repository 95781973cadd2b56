"""The lab's cables: ``veth`` pairs, bridges, and a shaper at each end of a cable."""

import ctypes
import fcntl
import os
import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hocket.errors import MissingToolError
from hocket.lab import namespaces
from hocket.lab.state import BURST, LabNode
from hocket.network.description import NetworkDescription
from hocket.network.parts import beside, distances

ROUTER_ADDRESS = "02:01:00:00:00:00"  # hardware address of every port of every router
ANSWERS_A_SECOND = 100  # ICMP errors of a router to one host, as switches limit them
_IPV4 = Path("/proc/sys/net/ipv4")


Join = Callable[[Any, Mapping[str, int]], None]  # by a netlink connection, with the index of each port

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
    around = beside(network.nodes, network.links)
    hosts = {node.name for node in network.nodes if node.is_host}
    found: dict[str, dict[str, list[str]]] = {name: {} for name in around if name not in hosts}
    to_switches = {name: [other for other in others if other in found] for name, others in around.items()}
    for host in hosts:
        far = distances(to_switches, [host])
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

    ``next_hops``: of this router, by host. ``ways``: ports of a node towards another."""

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


BRIDGE = "br0"
HOST_PORT = "e0"

NUD_PERMANENT = 0x80
_SIOCETHTOOL = 0x8946
_SIOCGIFFLAGS = 0x8913
_IFF_RUNNING = 0x40
_OFFLOADS = (0x1F, 0x24, 0x2C)  # ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO


@dataclass(frozen=True, slots=True)
class Port:
    """End of a cable as its node sees it."""

    name: str
    rate: float


@dataclass(frozen=True, slots=True)
class Cable:
    """A veth pair: (namespace file, port name) at both ends."""

    a: tuple[Path, str]
    b: tuple[Path, str]


def _netlink() -> Any:
    """A netlink connection of the calling thread's namespace."""
    try:
        from pyroute2 import IPRoute
    except ImportError as error:
        raise MissingToolError(
            "the lab needs the Python package pyroute2", remedy="pip install pyroute2"
        ) from error
    return IPRoute()


def lay(cables: Sequence[Cable], mtu: int) -> None:
    """Make all veth pairs, their ends directly in the right namespaces."""
    with _netlink() as ip:
        for cable in cables:
            a = os.open(cable.a[0], os.O_RDONLY | os.O_CLOEXEC)
            b = os.open(cable.b[0], os.O_RDONLY | os.O_CLOEXEC)
            try:
                ip.link(
                    "add", ifname=cable.a[1], kind="veth", mtu=mtu, net_ns_fd=a,
                    peer={"ifname": cable.b[1], "mtu": mtu, "net_ns_fd": b},
                )  # fmt: skip
            finally:
                os.close(a)
                os.close(b)


def offloads_off(port: str) -> None:
    """Switch segmentation and receive offloads off, so that the shaper sees single packets.

    Runs in the port's namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        for command in _OFFLOADS:
            value = ctypes.create_string_buffer(struct.pack("II", command, 0))
            request = struct.pack("16sP16x", port.encode(), ctypes.addressof(value))
            with suppress(OSError):  # a kernel without this offload has nothing to switch off
                fcntl.ioctl(handle, _SIOCETHTOOL, request)


def hardware_address(address: str) -> str:
    """The locally administered MAC address that goes with an IP address of the lab."""
    return "02:00:" + ":".join(f"{int(part):02x}" for part in address.split("/")[0].split("."))


def configure(net: Path, ports: Sequence[Port], buffer: int, join: Join) -> None:
    """Shape ``ports`` of the node ``net``, and let ``join`` raise them: :func:`bridge`, :func:`host` or a router."""

    def work() -> None:
        for port in ports:
            offloads_off(port.name)
        with _netlink() as ip:
            ip.link("set", index=1, state="up")
            index_of = {link.get("ifname"): link["index"] for link in ip.get_links()}
            for port in ports:
                try:
                    ip.tc(
                        "add", "tbf", index_of[port.name], 0x10000, rate=f"{int(port.rate * 8)}bit", burst=BURST,
                        limit=buffer,
                    )  # fmt: skip
                except Exception as error:
                    raise MissingToolError(
                        f"the kernel refuses the tbf shaper: {error}",
                        remedy="load it with 'modprobe sch_tbf', or use a kernel that has CONFIG_NET_SCH_TBF",
                    ) from error
            join(ip, {port.name: index_of[port.name] for port in ports})

    namespaces.inside(net, work)


def bridge(mtu: int) -> Join:
    """A switch: all ports in one bridge."""

    def join(ip: Any, index_of: Mapping[str, int]) -> None:
        ip.link("add", ifname=BRIDGE, kind="bridge", br_stp_state=0, br_forward_delay=0, br_mcast_snooping=0)
        master = ip.link_lookup(ifname=BRIDGE)[0]
        ip.link("set", index=master, mtu=mtu, state="up")
        for index in index_of.values():
            ip.link("set", index=index, master=master, state="up")

    return join


def host(address: str, peers: Sequence[str], router: str = "") -> Join:
    """A host. It is told the hardware addresses of its ``peers`` (IP addresses): dozens of launchers that start at once
    on few cores can starve address resolution until it gives up. All are that of the ``router``, if there is one."""
    own, length = address.split("/")

    def join(ip: Any, index_of: Mapping[str, int]) -> None:
        for index in index_of.values():
            ip.link("set", index=index, address=hardware_address(address))
            ip.addr("add", index=index, address=own, prefixlen=int(length))
            ip.link("set", index=index, state="up")
            for peer in peers:
                if (dst := peer.split("/")[0]) != own:
                    ip.neigh(
                        "replace",
                        dst=dst,
                        lladdr=router or hardware_address(peer),
                        ifindex=index,
                        state=NUD_PERMANENT,
                    )

    return join


def wait_until_running(net: Path, port: str, seconds: float = 5.0) -> None:
    """Wait until the kernel reports a carrier on ``port``; it tells so up to a second late, and MPI
    libraries pass over ports without one."""

    def work() -> None:
        deadline = time.monotonic() + seconds
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
            while time.monotonic() < deadline:
                answer = fcntl.ioctl(handle, _SIOCGIFFLAGS, struct.pack("16sH22x", port.encode(), 0))
                if struct.unpack("16sH22x", answer)[1] & _IFF_RUNNING:
                    return
                time.sleep(0.01)
        raise MissingToolError(f"the port {port} in {net.name} does not come up", remedy="see 'dmesg'")

    namespaces.inside(net, work)
