"""Several spines over the same leaves: not a tree, but wired without doubt."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from hocket.errors import NetworkError
from hocket.network.description import AS_GRAPH, NetworkDescription
from hocket.network.source import shown
from hocket.network.uplinks import uplinks_of
from hocket.text import some


def allow_spines(description: NetworkDescription) -> None:
    """Makes a graph of a tree whose switches may be below several others: where these are all above the
    same switches, each of the lower is wired to each of the upper.

    Links name the upper switch first. Two switches that list some of the same and some other switches are refused
    here, as nobody sees from a circle which list is wrong; anything else that is no tree is the core's to refuse.
    """
    lower: dict[str, list[str]] = {}
    upper: dict[str, list[str]] = {}
    for index in uplinks_of(description):
        link = description.links[index]
        lower.setdefault(link.a, []).append(link.b)
        upper.setdefault(link.b, []).append(link.a)
    if all(len(above) == 1 or len(lower[above[0]]) == 1 for above in upper.values()):
        return  # no two switches meet twice
    if any(len(set(below)) < len(below) for below in lower.values()):
        return  # the same switch twice on one line
    listed = {name: frozenset(below) for name, below in lower.items()}
    if any(len({listed[name] for name in above}) > 1 for above in upper.values()):
        _check_alike(description, upper, lower, listed)
        return
    try:
        TopologicalSorter(upper).prepare()
    except CycleError:
        return
    description.shape = "graph"


def _check_alike(
    description: NetworkDescription,
    upper: dict[str, list[str]],
    lower: dict[str, list[str]],
    listed: dict[str, frozenset[str]],
) -> None:
    """Raises :class:`NetworkError` for two switches that share two others and are not wired to all the same."""
    for first, *others in upper.values():
        for other in others:
            if listed[first] == listed[other] or len(listed[first] & listed[other]) < 2:
                continue
            alone = [
                f"{shown(some([each for each in lower[a] if each not in listed[b]]))} at {shown(a)} alone"
                for a, b in ((first, other), (other, first))
                if listed[a] - listed[b]
            ]
            raise NetworkError(
                f"{shown(first)} and {shown(other)} list some of the same switches, and {' and '.join(alone)}: "
                "neither a tree nor parallel spines",
                where=next(link.where for link in description.links if link.a == other),
                remedy=f"list the same switches at both; if it is wired so, {AS_GRAPH}",
            )
