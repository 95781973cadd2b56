"""Slurm's ``topology.yaml`` (since 25.05): ``tree``, and what :mod:`slurm_shapes` reads.

A ``flat`` topology says nothing about hosts, so it is refused with the way out.
"""

from __future__ import annotations

import re
from typing import Final

import yaml

from hocket.network import slurm_shapes
from hocket.network.description import Defaults, Link, NetworkDescription
from hocket.network.hostlist import expand
from hocket.network.source import Source, shown
from hocket.network.spines import allow_spines
from hocket.network.yaml_nodes import compose, is_true, line_of, mapping, sequence, text

MAX_YAML: Final = 2**20  # PyYAML takes many seconds for each
_SNIFF: Final = re.compile(r"(?m)^[ \t]*-[ \t]+[\"']?(?:topology|switch|tree|flat|block|ring|torus3d)\b")
_SHAPES: Final = {
    "block": slurm_shapes.read_blocks,
    "ring": slurm_shapes.read_ring,
    "torus3d": slurm_shapes.read_torus,
}
_KINDS: Final = ("tree", "flat", *_SHAPES)
_TOP: Final = ("topology", "cluster_default", *_KINDS)
_SWITCH: Final = ("switch", "children", "nodes")


def sniff(source: Source) -> bool:
    return source.is_file and (source.suffix in (".yaml", ".yml") or _SNIFF.search(source.text) is not None)


def read(source: Source, defaults: Defaults) -> NetworkDescription:
    """The default topology of the file (the only one, or the first ``cluster_default``)."""
    if len(source.text) > MAX_YAML:
        raise source.error(
            f"is larger than {MAX_YAML // 2**20} MiB", remedy="use topology.conf, which reads faster"
        )
    root = compose(source)
    topologies = [mapping(source, item, "topology", _TOP) for item in sequence(source, root, "the file")]
    if not topologies:
        raise source.error("holds no topology", remedy="add one with a tree")
    chosen = [topology for topology in topologies if is_true(topology.get("cluster_default"))]
    topology = (chosen or topologies)[0]
    line = line_of(next(iter(topology.values()))) if topology else 0
    kinds = [kind for kind in _KINDS if kind in topology]
    if len(kinds) == 1 and kinds[0] in _SHAPES:
        return _SHAPES[kinds[0]](source, defaults, topology[kinds[0]])
    if kinds != ["tree"]:
        problem = (
            f"is {kinds[0]}, which does not say how hosts are wired"
            if len(kinds) == 1
            else "has no single type"
        )
        at = line_of(topology[kinds[0]]) if kinds else line
        raise source.error(f"the topology {problem}", at, "describe it as a tree of switches, or as star:N")
    tree = mapping(source, topology["tree"], "tree", ("switches",))
    if "switches" not in tree:
        raise source.error("the tree has no switches", line_of(topology["tree"]), "add a list of switches")
    result = NetworkDescription(source=source.name)
    for item in sequence(source, tree["switches"], "switches"):
        _switch(source, defaults, item, result)
    if not result.hosts:
        raise source.error("the network has no hosts", line_of(tree["switches"]), "add nodes to a switch")
    allow_spines(result)
    return result


def _switch(source: Source, defaults: Defaults, item: yaml.Node, result: NetworkDescription) -> None:
    values = mapping(source, item, "switch", _SWITCH)
    line = line_of(item)
    if "switch" not in values:
        raise source.error("the switch has no name", line, "begin it with switch: …")
    name = text(source, values["switch"], "switch")
    result.add_switch(name, source.at(line))
    if "children" not in values and "nodes" not in values:
        raise source.error(f"switch {shown(name)} has neither children nor nodes", line, "add one or drop it")
    if "nodes" in values:
        at = line_of(values["nodes"])
        for host in expand(text(source, values["nodes"], "nodes"), source, at):
            result.add_host(host, defaults.ranks, source.at(at))
            result.links.append(Link(name, host, defaults.rate, defaults.latency, source.at(at), False))
    if "children" in values:
        at = line_of(values["children"])
        for child in expand(text(source, values["children"], "children"), source, at):
            result.links.append(Link(name, child, defaults.rate, defaults.latency, source.at(at), False))
