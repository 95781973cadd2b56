"""Networks from files and short forms.

:func:`read_network_description` gives what the file says, :func:`read_known_network` the network of the core
and how its uplinks are known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hocket.network.description import Defaults, Grid, Link, NetworkDescription, Node, Routing
from hocket.network.known import KnownNetwork, Uplinks, read_islands, read_known_network
from hocket.network.readers import short_forms
from hocket.network.source import Source, load

if TYPE_CHECKING:
    from hocket._core import Network

__all__ = [
    "Defaults",
    "Grid",
    "KnownNetwork",
    "Link",
    "NetworkDescription",
    "Node",
    "Routing",
    "Uplinks",
    "read_islands",
    "read_known_network",
    "read_network",
    "read_network_description",
]


def read_network_description(source: str, defaults: Defaults | None = None) -> NetworkDescription:
    """What a network file or short form says. ``source`` is a path, or for example ``star:24``.

    ``defaults`` fill in what the source leaves open (for Slurm files: all rates and latencies).
    Raises :class:`hocket.errors.NetworkError`, and nothing else, when the source is no network.
    """
    text = Source(source, source, is_file=False)
    defaults = defaults or Defaults()
    if short_forms.sniff(text):
        description = short_forms.read(text, defaults)
    else:
        from hocket.network.readers import registry  # parsers of XML and YAML take long to load

        text = load(source)
        description = registry.find(text).read(text, defaults)
    description.source = source
    if text.is_file and description.routing is None:
        description.link_ends()
    if defaults.forwarding is not None:
        from hocket.network.readers.tables import attach_tables

        attach_tables(description, defaults.forwarding)
    return description


def read_network(source: str, defaults: Defaults | None = None) -> Network:
    """The network of the core, with all its checks passed; :func:`read_known_network` also says how its
    uplinks are known."""
    return read_known_network(source, defaults).network
