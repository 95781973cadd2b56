"""Trees of switches that clouds tell: what ``aws ec2 describe-instance-topology`` prints (JSON), and ``kubectl get
nodes -o json`` of Kubernetes' nodes with the labels of NVIDIA's topograph.

An instance of Amazon's lies below three or four network nodes, from the top down; how fast links between these are is
not told. Labels tell the switch next to a node and those above it: ``fabric.topograph.run/tier-0`` and up, before
version 1 ``network.topology.nvidia.com/leaf``, ``spine`` and ``core`` (topograph's reference of node labels)."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from hocket.network.description import NetworkDescription
from hocket.network.parts import Defaults
from hocket.network.readers.json_files import Lines, documents, entries, name, sniffs
from hocket.network.source import Source, shown
from hocket.system.text import some

sniff_aws = sniffs(r'"NetworkNodes"\s*:')
sniff_kubernetes = sniffs(r'"items"\s*:\s*\[')

ROOT: Final = "root"
_AWS: Final = "aws ec2 describe-instance-topology"
_AWS_AGAIN: Final = f"run '{_AWS}' again, for instances of one availability zone"
_KUBECTL: Final = "kubectl get nodes -o json"
_LABELS_AGAIN: Final = (
    "look at the labels (kubectl get nodes --show-labels), let topograph set them, print them again"
)
_TIER: Final = "fabric.topograph.run/tier-"
_NAMED: Final = "network.topology.nvidia.com/"
_LEVELS: Final = ("leaf", "spine", "core")


def read_aws(source: Source, defaults: Defaults) -> NetworkDescription:
    """A tree of network nodes. Hosts are called by their instance ids and come in the order of the file, which may hold
    several answers one after the other."""
    result = _layered(source, _instances(source), defaults, "network node", _AWS_AGAIN)
    if not result.hosts:
        raise source.error("lists no instance", remedy=_AWS_AGAIN)
    return result


def _instances(source: Source) -> Iterator[tuple[str, list[str]]]:
    pages = f"'{_AWS}' ask for them all (without --max-items and --no-paginate)"
    for entry in _paged(source, "Instances", ("NextToken",), f"{_AWS} --output json", pages):
        host, nodes = name(source, entry, "InstanceId"), entry.get("NetworkNodes")
        if not (isinstance(nodes, list) and nodes and all(isinstance(node, str) and node for node in nodes)):
            raise source.error(f"{shown(host)} has no NetworkNodes", Lines(source).of(host), _AWS_AGAIN)
        yield host, nodes


def read_kubernetes(source: Source, defaults: Defaults) -> NetworkDescription:
    """A tree of the switches that labels name. Hosts come in the order of the file; nodes without labels of topograph
    (control planes) are left out, and said."""
    without: list[str] = []
    result = _layered(source, _nodes(source, without), defaults, "switch", _LABELS_AGAIN)
    if not result.hosts:
        raise source.error(f"no node has labels {_TIER}0 or {_NAMED}leaf", remedy=_LABELS_AGAIN)
    if without:
        result.notes.append(
            f"left out, without labels of topograph: {len(without)} of the nodes ({some(without)})"
        )
    return result


def _nodes(source: Source, without: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Nodes with their switches from the top down; those that have no labels are added to ``without``."""
    pages = f"'{_KUBECTL}' ask for them all"
    for entry in _paged(source, "items", ("metadata", "continue"), _KUBECTL, pages):
        metadata = entry.get("metadata")
        if not isinstance(metadata, dict):
            raise source.error(
                "an item has no metadata", remedy="give what kubectl get nodes -o json prints, whole"
            )
        host = name(source, metadata, "name")
        labels = metadata.get("labels")
        if switches := _switches(source, host, labels if isinstance(labels, dict) else {}):
            yield host, switches[::-1]
        else:
            without.append(host)


def _switches(source: Source, host: str, labels: dict[str, Any]) -> list[str]:
    """Switches of a host from the nearest up. A gap between two is an error: the missing one would be guessed."""
    tiers = {
        int(key[len(_TIER) :]): value
        for key, value in labels.items()
        if key.startswith(_TIER) and re.fullmatch(r"[0-9]{1,2}", key[len(_TIER) :])
    }
    if not tiers:
        tiers = {
            level: labels[_NAMED + word] for level, word in enumerate(_LEVELS) if _NAMED + word in labels
        }
    found = [tiers[level] for level in sorted(tiers)]
    if sorted(tiers) != list(range(len(tiers))) or not all(isinstance(one, str) and one for one in found):
        raise source.error(
            f"{shown(host)} has a label of a switch and none of the one below it, or an empty one",
            Lines(source).of(host), _LABELS_AGAIN,
        )  # fmt: skip
    return found


def _paged(
    source: Source, key: str, cursor: tuple[str, ...], command: str, pages: str
) -> Iterator[dict[str, Any]]:
    """The objects of the lists called ``key`` in all documents of a file, which are the pages of one answer of a
    ``command``. Raises :class:`hocket.errors.NetworkError` for what is no JSON, and where the last document has
    ``cursor`` (key by key), by which tools ask for a next page (``pages``: how to have them all)."""
    found = documents(source, f"regenerate it: {command}")
    left: Any = found[-1]
    for each in cursor:
        left = left.get(each) if isinstance(left, dict) else None
    if left:
        line = source.text.count("\n", 0, source.text.rfind(f'"{cursor[-1]}"')) + 1
        remedy = f"give all pages, one after the other in one file, or let {pages}"
        raise source.error(f"is incomplete: {cursor[-1]} tells of a further page", line, remedy)
    for document in found:
        yield from entries(source, document.get(key) if isinstance(document, dict) else None, key)


def _layered(
    source: Source, hosts: Iterable[tuple[str, list[str]]], defaults: Defaults, what: str, again: str
) -> NetworkDescription:
    """A tree of ``hosts``, in their order, each with its network nodes from the top down; with a root above those at
    the top where there are several. ``what`` a network node is, and ``again`` the remedy, are for messages."""
    lines = Lines(source)
    result = NetworkDescription(source=source.name)
    above: dict[str, str] = {}  # of each network node; "" at the top
    for host, nodes in hosts:
        for upper, lower in zip(["", *nodes], nodes, strict=False):
            if above.setdefault(lower, upper) != upper:
                raise source.error(
                    f"{what} {shown(lower)} lies below {shown(above[lower])} and below {shown(upper)}",
                    lines.of(lower), again,
                )  # fmt: skip
        where = source.at(lines.of(host))
        result.add_host(host, defaults.ranks, where)
        result.wire(nodes[-1], host, defaults, where)
    tops = [node for node, upper in above.items() if not upper]
    for node, upper in above.items():
        where = source.at(lines.of(node))
        result.add_switch(node, where)
        if upper or len(tops) > 1:
            result.wire(upper or ROOT, node, defaults, where)
    if len(tops) > 1:
        result.add_switch(ROOT)
    return result
