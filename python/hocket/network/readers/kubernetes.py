"""Nodes of Kubernetes with the labels of NVIDIA's topograph: what ``kubectl get nodes -o json`` prints.

Labels tell the switch next to a node and those above it: ``fabric.topograph.run/tier-0`` and up, before version 1
``network.topology.nvidia.com/leaf``, ``spine`` and ``core`` (topograph's reference of node labels).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from hocket.network.description import NetworkDescription
from hocket.network.parts import Defaults
from hocket.network.readers.json_files import Lines, layered, name, paged_entries, sniffs
from hocket.network.source import Source, shown
from hocket.system.text import some

_TIER: Final = "fabric.topograph.run/tier-"
_NAMED: Final = "network.topology.nvidia.com/"
_LEVELS: Final = ("leaf", "spine", "core")
_AGAIN: Final = (
    "look at the labels (kubectl get nodes --show-labels), let topograph set them, print them again"
)
_ANEW: Final = "regenerate it: kubectl get nodes -o json"
_PAGES: Final = (
    "give all pages, one after the other in one file, or let 'kubectl get nodes -o json' ask for them all"
)


sniff = sniffs(r'"items"\s*:\s*\[')


def read(source: Source, defaults: Defaults) -> NetworkDescription:
    """A tree of the switches that labels name. Hosts come in the order of the file; nodes without labels of topograph
    (control planes) are left out, and said."""
    without: list[str] = []
    result = layered(source, _nodes(source, without), defaults, "switch", _AGAIN)
    if not result.hosts:
        raise source.error(f"no node has labels {_TIER}0 or {_NAMED}leaf", remedy=_AGAIN)
    if without:
        result.notes.append(
            f"left out, without labels of topograph: {len(without)} of the nodes ({some(without)})"
        )
    return result


def _nodes(source: Source, without: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Nodes with their switches from the top down; those that have no labels are added to ``without``."""
    for entry in paged_entries(source, "items", ("metadata", "continue"), _ANEW, _PAGES):
        metadata = entry.get("metadata")
        if not isinstance(metadata, dict):
            raise source.error(
                "an item has no metadata", remedy="give what kubectl get nodes -o json prints, whole"
            )
        host = name(source, metadata, "name")
        labels = metadata.get("labels")
        switches = _switches(source, host, labels if isinstance(labels, dict) else {})
        if switches:
            yield host, switches[::-1]
        else:
            without.append(host)


def _switches(source: Source, host: str, labels: dict[str, Any]) -> list[str]:
    """Switches of a host from the nearest up. A gap between two is an error: the missing one would be
    guessed."""
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
            Lines(source).of(host), _AGAIN,
        )  # fmt: skip
    return found
