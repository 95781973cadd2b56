"""Several spines over leaves that they share: not a tree, but wired without doubt."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from hocket.network.description import NetworkDescription


def allow_spines(description: NetworkDescription) -> None:
    """Makes a graph of switches that are below several others: each is wired to all that list it. Messages take the
    shortest paths.

    Links name the upper switch first. Switches above themselves stay as they are, for the core to refuse.
    """
    upper: dict[str, list[str]] = {node.name: [] for node in description.nodes if not node.is_host}
    piece = {name: {name} for name in upper}  # of the switches joined so far
    tree = True
    for index in description.uplinks():
        link = description.links[index]
        if link.a in upper[link.b]:
            return  # the same switch twice on one line
        upper[link.b].append(link.a)
        smaller, larger = sorted((piece[link.a], piece[link.b]), key=len)
        tree = tree and smaller is not larger
        larger |= smaller
        piece.update(dict.fromkeys(smaller, larger))
    if tree:
        return
    try:
        TopologicalSorter(upper).prepare()
    except CycleError:
        return
    description.shape = "graph"
