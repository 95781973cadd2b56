"""Slurm's ``topology.yaml`` (since 25.05): ``tree`` topologies.

A ``flat`` topology says nothing about hosts, so it is refused with the way out, as is ``block``.
"""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from hocket.errors import NetworkError
from hocket.network.description import Defaults, Link, NetworkDescription, suggestion
from hocket.network.hostlist import expand
from hocket.network.source import Source, shown
from hocket.network.spines import allow_spines

MAX_YAML: Final = 2**20  # PyYAML takes many seconds for each
_MAX_DEPTH: Final = 32
_SNIFF: Final = re.compile(r"(?m)^[ \t]*-[ \t]+[\"']?(?:topology|switch|tree|flat|block)\b")
_KINDS: Final = ("tree", "flat", "block")
_TOP: Final = ("topology", "cluster_default", *_KINDS)
_SWITCH: Final = ("switch", "children", "nodes")


def sniff(source: Source) -> bool:
    return source.is_file and (source.suffix in (".yaml", ".yml") or _SNIFF.search(source.text) is not None)


def read(source: Source, defaults: Defaults) -> NetworkDescription:
    """The tree of the default topology of the file (the only one, or the first ``cluster_default``)."""
    if len(source.text) > MAX_YAML:
        raise source.error(
            f"is larger than {MAX_YAML // 2**20} MiB", remedy="use topology.conf, which reads faster"
        )
    root = _compose(source)
    topologies = [_mapping(source, item, "topology", _TOP) for item in _sequence(source, root, "the file")]
    if not topologies:
        raise source.error("holds no topology", remedy="add one with a tree")
    chosen = [topology for topology in topologies if _is_true(topology.get("cluster_default"))]
    topology = (chosen or topologies)[0]
    line = _line(next(iter(topology.values()))) if topology else 0
    kinds = [kind for kind in _KINDS if kind in topology]
    if kinds != ["tree"]:
        problem = (
            f"is {kinds[0]}, which does not say how hosts are wired"
            if len(kinds) == 1
            else "has no single type"
        )
        at = _line(topology[kinds[0]]) if kinds else line
        raise source.error(f"the topology {problem}", at, "describe it as a tree of switches, or as star:N")
    tree = _mapping(source, topology["tree"], "tree", ("switches",))
    if "switches" not in tree:
        raise source.error("the tree has no switches", _line(topology["tree"]), "add a list of switches")
    result = NetworkDescription(source=source.name)
    for item in _sequence(source, tree["switches"], "switches"):
        _switch(source, defaults, item, result)
    if not result.hosts:
        raise source.error("the network has no hosts", _line(tree["switches"]), "add nodes to a switch")
    allow_spines(result)
    return result


def _switch(source: Source, defaults: Defaults, item: yaml.Node, result: NetworkDescription) -> None:
    values = _mapping(source, item, "switch", _SWITCH)
    line = _line(item)
    if "switch" not in values:
        raise source.error("the switch has no name", line, "begin it with switch: …")
    name = _text(source, values["switch"], "switch")
    result.add_switch(name, source.at(line))
    if "children" not in values and "nodes" not in values:
        raise source.error(f"switch {shown(name)} has neither children nor nodes", line, "add one or drop it")
    if "nodes" in values:
        at = _line(values["nodes"])
        for host in expand(_text(source, values["nodes"], "nodes"), source, at):
            result.add_host(host, defaults.ranks, source.at(at))
            result.links.append(Link(name, host, defaults.rate, defaults.latency, source.at(at), False))
    if "children" in values:
        at = _line(values["children"])
        for child in expand(_text(source, values["children"], "children"), source, at):
            result.links.append(Link(name, child, defaults.rate, defaults.latency, source.at(at), False))


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _is_true(node: yaml.Node | None) -> bool:
    return isinstance(node, yaml.ScalarNode) and str(node.value).lower() in ("true", "yes", "on")


def _sequence(source: Source, node: yaml.Node | None, what: str) -> list[yaml.Node]:
    if not isinstance(node, yaml.SequenceNode):
        raise source.error(f"{what} must be a list", _line(node) if node else 0, "begin each item with “- ”")
    return list(node.value)


def _mapping(source: Source, node: yaml.Node, what: str, known: tuple[str, ...]) -> dict[str, yaml.Node]:
    if not isinstance(node, yaml.MappingNode):
        raise source.error(
            f"the {what} must be “key: value” pairs", _line(node), f"known are {', '.join(known)}"
        )
    values: dict[str, yaml.Node] = {}
    for key_node, value in node.value:
        key = _text(source, key_node, "a key")
        if key not in known:
            raise source.error(
                f"a {what} has no key {shown(key)}",
                _line(key_node),
                suggestion(key, known) or f"known are {', '.join(known)}",
            )
        if key in values:
            raise source.error(f"{key} is given twice", _line(key_node), "keep one")
        values[key] = value
    return values


def _text(source: Source, node: yaml.Node, what: str) -> str:
    if isinstance(node, yaml.ScalarNode) and node.value:
        return str(node.value)
    raise source.error(f"{what} must be a text", _line(node), "write a name or a host list such as n[1-4]")


def _compose(source: Source) -> yaml.Node | None:
    """The node tree: with line marks, without objects, without the sharing that makes alias bombs."""
    depth = 0

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            nonlocal depth
            event = self.peek_event()  # type: ignore[no-untyped-call]
            line = event.start_mark.line + 1
            if isinstance(event, yaml.AliasEvent):
                raise source.error("holds an alias (*name)", line, "write the value out")
            if depth >= _MAX_DEPTH:
                raise source.error("is nested too deeply", line, "a topology needs four levels")
            depth += 1
            node = super().compose_node(parent, index)
            depth -= 1
            return node

    try:
        node: yaml.Node | None = yaml.compose(source.text, Loader)
        return node
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        what = " ".join(part for part in (problem.context, problem.problem) if part)
        raise source.error(
            f"is not YAML: {shown(what, 200)[1:-1]}", mark.line + 1 if mark else 0, "correct the syntax"
        ) from None
    except yaml.reader.ReaderError as problem:
        line = source.text.count("\n", 0, problem.position) + 1
        raise source.error(
            f"is not YAML: character {problem.character!r} is not allowed", line, "remove it"
        ) from None
    except NetworkError:
        raise
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as problem:
        raise source.error(
            f"is not YAML: {shown(str(problem), 200)[1:-1]}", 0, "correct the syntax"
        ) from None
