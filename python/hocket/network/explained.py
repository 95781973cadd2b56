"""Errors of the core in the terms of the file: the cycles, the hosts that are not wired."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from hocket.network.parts import Link, Node, Shape
from hocket.network.source import shown
from hocket.system.text import some

_AS_GRAPH: Final = (
    "describe it by [[link]] tables in Hocket's TOML with shape = \"graph\" ('hocket help networks')"
)


def explained(
    nodes: Sequence[Node], links: Sequence[Link], shape: Shape, message: str, node: int, link: int
) -> tuple[str, str]:
    """Problem and remedy for the core's ``message`` on a node and a link (-1: on none)."""
    if shape == "tree" and link >= 0 and message.endswith("closes a cycle"):
        return message, f"remove one link of the cycle; if it is wired so, {_AS_GRAPH}"
    alone = _alone(nodes, links) if node >= 0 and "is not connected to" in message else []
    if alone:
        hosts = "a host is" if len(alone) == 1 else f"{len(alone):,} hosts are"
        return (
            f"{message}: {hosts} wired to nothing",
            f'in Hocket\'s TOML, add switch = "…" to each, or hosts = "{_listed(alone)}" to a [[switch]]',
        )
    if shape == "graph" and node >= 0 and "is not connected to" in message and joined(nodes, links):
        return (
            f"{message}: only hosts that do not forward lie between them",
            "say which hosts pass on what is for others: forward = true",
        )
    what = "this link" if link >= 0 else "this host or switch" if node >= 0 else "the network"
    return message, f"correct {what}"


def joined(nodes: Sequence[Node], links: Sequence[Link]) -> bool:
    """True if links join all nodes, whether hosts forward or not."""
    beside: dict[str, list[str]] = {node.name: [] for node in nodes}
    for link in links:
        beside[link.a].append(link.b)
        beside[link.b].append(link.a)
    seen = {nodes[0].name}
    waiting = list(seen)
    while waiting:
        new = set(beside[waiting.pop()]) - seen
        seen |= new
        waiting += new
    return len(seen) == len(nodes)


def _alone(nodes: Sequence[Node], links: Sequence[Link]) -> list[str]:
    ends = {end for link in links for end in (link.a, link.b)}
    return [host.name for host in nodes if host.is_host and host.name not in ends]


def _listed(names: list[str]) -> str:
    """A host list of names that count up; else the first few."""
    match = re.fullmatch(r"(.+?)(0|[1-9]\d{0,8})", names[0])
    if match is not None and len(names) > 1:
        first = int(match[2])
        last = first + len(names) - 1
        if names == [f"{match[1]}{number}" for number in range(first, last + 1)]:
            return f"{shown(match[1])[1:-1]}[{first}-{last}]"
    return shown(some(names).replace(" ", ""))[1:-1]
