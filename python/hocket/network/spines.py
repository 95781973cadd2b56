"""Several spines over the same leaves: not a tree, but wired without doubt."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from hocket.network.description import NetworkDescription


def allow_spines(description: NetworkDescription) -> None:
    """Makes a graph of a tree whose switches may be below several others: where these are all above the
    same switches, each of the lower is wired to each of the upper.

    Links name the upper switch first. Anything else that is no tree stays as it is, for the core to refuse.
    """
    lower: dict[str, list[str]] = {}
    upper: dict[str, list[str]] = {}
    for index in description.uplinks():
        link = description.links[index]
        lower.setdefault(link.a, []).append(link.b)
        upper.setdefault(link.b, []).append(link.a)
    if all(len(above) == 1 or len(lower[above[0]]) == 1 for above in upper.values()):
        return  # no two switches meet twice
    if any(len(set(below)) < len(below) for below in lower.values()):
        return  # the same switch twice on one line
    if any(len({frozenset(lower[name]) for name in above}) > 1 for above in upper.values()):
        return
    try:
        TopologicalSorter(upper).prepare()
    except CycleError:
        return
    description.shape = "graph"
