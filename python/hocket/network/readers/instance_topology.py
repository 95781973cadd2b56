"""Amazon's instances: what ``aws ec2 describe-instance-topology`` prints (JSON).

An instance lies below three or four network nodes, from the top down; how fast links between these are is not told.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hocket.network.description import NetworkDescription
from hocket.network.parts import Defaults
from hocket.network.readers.json_files import Lines, layered, name, paged_entries, sniffs
from hocket.network.source import Source, shown

_AGAIN: Final = "run 'aws ec2 describe-instance-topology' again, for instances of one availability zone"
_ANEW: Final = "regenerate it: aws ec2 describe-instance-topology --output json"
_PAGES: Final = (
    "give all pages, one after the other in one file, or let 'aws ec2 describe-instance-topology' ask for them all "
    "(without --max-items and --no-paginate)"
)


sniff = sniffs(r'"NetworkNodes"\s*:')


def read(source: Source, defaults: Defaults) -> NetworkDescription:
    """A tree of network nodes. Hosts are called by their instance ids and come in the order of the file, which may hold
    several answers one after the other."""
    result = layered(source, _instances(source), defaults, "network node", _AGAIN)
    if not result.hosts:
        raise source.error("lists no instance", remedy=_AGAIN)
    return result


def _instances(source: Source) -> Iterator[tuple[str, list[str]]]:
    for entry in paged_entries(source, "Instances", ("NextToken",), _ANEW, _PAGES):
        host = name(source, entry, "InstanceId")
        nodes = entry.get("NetworkNodes")
        if (
            not isinstance(nodes, list)
            or not nodes
            or not all(isinstance(node, str) and node for node in nodes)
        ):
            raise source.error(f"{shown(host)} has no NetworkNodes", Lines(source).of(host), _AGAIN)
        yield host, nodes
