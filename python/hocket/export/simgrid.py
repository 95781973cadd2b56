"""A network as a SimGrid platform, so that its simulator can be asked as an independent referee.

Every channel becomes one SHARED link, so that the two directions of a wire are independent, and every two
hosts get their explicit route. Format: SimGrid platform XML, version 4.1 (manual of SimGrid 3.32).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from hocket.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hocket._core import Network

# Routes are written out, so the file grows with the square of the hosts.
MAX_HOSTS = 1024
# Speed of a host in flop/s: irrelevant for communication, but the format wants one.
_HOST_SPEED = "1Gf"


def platform_xml(network: Network) -> str:
    """The platform file of a network: hosts by their names, links by the names of the channels."""
    if len(network.hosts) > MAX_HOSTS:
        raise UsageError(
            f"a SimGrid platform with all routes of {len(network.hosts)} hosts would be too large",
            remedy=f"take a network of at most {MAX_HOSTS} hosts",
        )
    lines = [
        "<?xml version='1.0'?>",
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
        '<platform version="4.1">',
        '  <zone id="hocket" routing="Full">',
        *_hosts(network),
        *_links(network),
        *_routes(network),
        "  </zone>",
        "</platform>",
    ]
    return "\n".join(lines) + "\n"


def hostfile(network: Network) -> str:
    """Lines with one host per rank, in rank order, for ``smpirun -hostfile``."""
    names = network.names
    for host in network.hosts:
        if re.search(r"[\s:#]", names[host]):
            raise UsageError(
                f"a host called {names[host]!r} cannot stand in a hostfile",
                remedy="rename it without blanks, colons and #",
            )
    return "".join(f"{names[network.host_of(rank)]}\n" for rank in range(network.ranks))


def _hosts(network: Network) -> Iterator[str]:
    names, ranks = network.names, network.ranks_per_node
    for host in network.hosts:
        yield f'    <host id={quoteattr(names[host])} speed="{_HOST_SPEED}" core="{ranks[host]}"/>'


def _links(network: Network) -> Iterator[str]:
    for channel in range(network.channels):
        yield (
            f"    <link id={quoteattr(link_name(network, channel))}"
            f' bandwidth="{network.rate(channel)!r}Bps" latency="{network.latency(channel)!r}s"'
            ' sharing_policy="SHARED"/>'
        )


def _routes(network: Network) -> Iterator[str]:
    names = network.names
    first_rank: dict[int, int] = {}
    for rank in range(network.ranks):
        first_rank.setdefault(network.host_of(rank), rank)
    uses = [f"<link_ctn id={quoteattr(link_name(network, c))}/>" for c in range(network.channels)]
    for src in network.hosts:
        for dst in network.hosts:
            if src == dst:
                continue
            route = "".join(uses[c] for c in network.route(first_rank[src], first_rank[dst]))
            yield (
                f"    <route src={quoteattr(names[src])} dst={quoteattr(names[dst])}"
                f' symmetrical="NO">{route}</route>'
            )


def link_name(network: Network, channel: int) -> str:
    """The name of a channel's link in the platform; unique even where channel names are not."""
    return f"{channel}:{network.channel_name(channel)}"
