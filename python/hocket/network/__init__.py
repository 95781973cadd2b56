"""Networks from files and short forms.

:func:`read_network_description` gives what the file says, :func:`read_known_network` the network of the core and how
its uplinks are known."""

from hocket.network.description import NetworkDescription
from hocket.network.known import (
    KnownNetwork,
    Uplinks,
    read_components,
    read_known_network,
    read_network,
    read_network_description,
)
from hocket.network.parts import Defaults, Grid, Link, Node, Routing

__all__ = [
    "Defaults",
    "Grid",
    "KnownNetwork",
    "Link",
    "NetworkDescription",
    "Node",
    "Routing",
    "Uplinks",
    "read_components",
    "read_known_network",
    "read_network",
    "read_network_description",
]
