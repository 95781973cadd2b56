"""Slurm's ``topology.yaml`` (since 25.05), and what ``scontrol show topoconf`` prints: trees, blocks, rings (25.11) and
tori (26.05); :mod:`slurm_shapes` says what they mean.

A ``flat`` topology says nothing about hosts, so it is refused with the way out."""

import re
import shlex
from collections.abc import Callable, Sequence
from typing import Any, Final

import yaml

from hocket.errors import NetworkError
from hocket.network.description import NetworkDescription, suggestion
from hocket.network.parts import Defaults
from hocket.network.readers import slurm_shapes as shapes
from hocket.network.source import Source, shown
from hocket.system.text import some

_MAX_DEPTH: Final = 32


def line_of(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def is_true(node: yaml.Node | None) -> bool:
    return isinstance(node, yaml.ScalarNode) and str(node.value).lower() in ("true", "yes", "on")


def sequence(source: Source, node: yaml.Node | None, what: str) -> list[yaml.Node]:
    if not isinstance(node, yaml.SequenceNode):
        raise source.error(
            f"{what} must be a list", line_of(node) if node else 0, "begin each item with “- ”"
        )
    return list(node.value)


def mapping(source: Source, node: yaml.Node, what: str, known: tuple[str, ...]) -> dict[str, yaml.Node]:
    if not isinstance(node, yaml.MappingNode):
        raise source.error(
            f"the {what} must be “key: value” pairs", line_of(node), f"known are {', '.join(known)}"
        )
    values: dict[str, yaml.Node] = {}
    for key_node, value in node.value:
        if (key := text(source, key_node, "a key")) not in known:
            raise source.error(
                f"a {what} has no key {shown(key)}",
                line_of(key_node),
                suggestion(key, known) or f"known are {', '.join(known)}",
            )
        if key in values:
            raise source.error(f"{key} is given twice", line_of(key_node), "keep one")
        values[key] = value
    return values


def text(source: Source, node: yaml.Node, what: str) -> str:
    if isinstance(node, yaml.ScalarNode) and node.value:
        return str(node.value)
    raise source.error(f"{what} must be a text", line_of(node), "write a name or a host list such as n[1-4]")


def compose(source: Source) -> yaml.Node | None:
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


MAX_YAML: Final = 2**20  # PyYAML takes many seconds for each
_SNIFF: Final = re.compile(r"(?m)^[ \t]*-[ \t]+[\"']?(?:topology|switch|tree|flat|block|ring|torus3d)\b")
_AXES: Final = ("x", "y", "z")
_TORUS: Final = ("name", "dims", "nodes", "regions", "placements")
_Topology = dict[str, yaml.Node]
_NO_LIST: Final = ("", "~", "null", "(null)")  # where scontrol has nothing to say


def sniff(source: Source) -> bool:
    return source.is_file and (source.suffix in (".yaml", ".yml") or _SNIFF.search(source.text) is not None)


def read(source: Source, defaults: Defaults) -> NetworkDescription:
    """The topology that the user names; else the default one of the file (the only one, or the first
    ``cluster_default``)."""
    if len(source.text) > MAX_YAML:
        raise source.error(
            f"is larger than {MAX_YAML // 2**20} MiB", remedy="use topology.conf, which reads faster"
        )
    root = compose(source)
    topologies = [mapping(source, item, "topology", _TOP) for item in sequence(source, root, "the file")]
    if not topologies:
        raise source.error("holds no topology", remedy="add one with a tree")
    topology = _chosen(source, topologies, defaults.topology)
    kinds = _kinds(topology)
    if len(kinds) != 1 or kinds[0] not in _READ:
        problem = (
            f"is {kinds[0]}, which does not say how hosts are wired"
            if len(kinds) == 1
            else "has no single type"
        )
        node = topology[kinds[0]] if kinds else next(iter(topology.values()), None)
        others = [name for each in topologies if (name := _name(each)) and {*_kinds(each)} & {*_READ}]
        raise source.error(
            f"the topology {problem}", line_of(node) if node else 0,
            f"choose another one: --topology {shlex.quote(others[0])}" if others
            else "describe it as a tree of switches, or as star:N",
        )  # fmt: skip
    return _READ[kinds[0]](source, defaults, topology[kinds[0]])


def _chosen(source: Source, topologies: Sequence[_Topology], name: str | None) -> _Topology:
    if name is None:
        return next((each for each in topologies if is_true(each.get("cluster_default"))), topologies[0])
    for each in topologies:
        if _name(each) == name:
            return each
    names = [_name(each) for each in topologies]
    raise source.error(
        f"has no topology {shown(name)}", remedy=suggestion(name, names) or f"--topology takes {some(names)}"
    )


def _name(topology: _Topology) -> str:
    node = topology.get("topology")
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ""


def _kinds(topology: _Topology) -> list[str]:
    named = [kind for kind in _KINDS if kind in topology]
    return [kind for kind in named if _says_something(topology[kind])] or named


def _says_something(node: yaml.Node) -> bool:
    """``scontrol show topoconf`` lists the kinds that a topology is not, too: ``tree: {}``, ``flat: false``."""
    if isinstance(node, yaml.ScalarNode):
        return str(node.value).lower() not in (*_NO_LIST, "false", "no", "off")
    return bool(node.value)


def _tree(source: Source, defaults: Defaults, node: yaml.Node) -> NetworkDescription:
    tree = mapping(source, node, "tree", ("switches",))
    if "switches" not in tree:
        raise source.error("the tree has no switches", line_of(node), "add a list of switches")
    switches = _units(source, tree["switches"], "switches", "switch", ("children", "nodes"))
    return shapes.tree_of(source, defaults, switches, line_of(tree["switches"]), "add nodes to a switch")


def _blocks(source: Source, defaults: Defaults, node: yaml.Node) -> NetworkDescription:
    values = mapping(source, node, "block topology", ("block_sizes", "blocks"))
    if "blocks" not in values:
        raise source.error("the topology has no blocks", line_of(node), "add a list of blocks")
    sizes = sequence(source, values["block_sizes"], "block_sizes") if "block_sizes" in values else []
    told = [shapes.Told(text(source, size, "a block size"), line_of(size)) for size in sizes]
    blocks = _units(source, values["blocks"], "blocks", "block", ("nodes",))
    return shapes.blocks_of(source, defaults, blocks, told, line_of(node))


def _ring(source: Source, defaults: Defaults, node: yaml.Node) -> NetworkDescription:
    values = mapping(source, node, "ring", ("rings",))
    rings = _units(source, values.get("rings"), "rings", "ring", ("nodes",))
    return shapes.ring_of(source, defaults, rings, "rings", line_of(node))


def _units(
    source: Source, node: yaml.Node | None, what: str, kind: str, keys: tuple[str, ...]
) -> list[shapes.Unit]:
    units = []
    for item in sequence(source, node, what):
        values = mapping(source, item, kind, (kind, *keys))
        if kind not in values:
            raise source.error(f"the {kind} has no name", line_of(item), f"begin it with {kind}: …")
        name = shapes.Told(text(source, values[kind], kind), line_of(item))
        nodes, children = (_listed(source, values.get(key), key) for key in ("nodes", "children"))
        units.append(shapes.Unit(name, nodes, children))
    return units


def _listed(source: Source, node: yaml.Node | None, what: str) -> shapes.Told | None:
    if node is None or (isinstance(node, yaml.ScalarNode) and str(node.value).lower() in _NO_LIST):
        return None
    return shapes.Told(text(source, node, what), line_of(node))


def _torus(source: Source, defaults: Defaults, node: yaml.Node) -> NetworkDescription:
    """Placements are Slurm's own affair."""
    values = mapping(source, node, "torus3d", ("toruses",))
    items = sequence(source, values.get("toruses"), "toruses")
    shapes.check_only(source, "toruses", len(items), line_of(node))
    torus = mapping(source, items[0], "torus3d", _TORUS)
    line = line_of(next(iter(torus.values()))) if torus else line_of(node)
    nodes = _listed(source, torus.get("nodes"), "nodes")
    regions = torus.get("regions")
    regions = regions if regions is not None and _says_something(regions) else None
    if "dims" not in torus or (nodes is None) == (regions is None):
        raise source.error(
            "a torus needs dims, and either nodes or regions", line, "write dims: {x: 4, y: 4, z: 2}"
        )
    sides = _triple(source, torus["dims"], "dims")
    boxes = (
        [shapes.Region((0, 0, 0), sides, nodes, nodes.line)]
        if nodes is not None
        else [_region(source, item) for item in sequence(source, regions, "regions")]
    )
    return shapes.torus_of(source, defaults, sides, boxes, line_of(torus["dims"]))


def _region(source: Source, item: yaml.Node) -> shapes.Region:
    values = mapping(source, item, "region", ("anchor", "dims", "nodes"))
    if (nodes := _listed(source, values.get("nodes"), "nodes")) is None or len(values) != 3:
        raise source.error("a region needs anchor, dims and nodes", line_of(item), "add what is missing")
    anchor, dims = (_triple(source, values[key], key) for key in ("anchor", "dims"))
    return shapes.Region(anchor, dims, nodes, line_of(item))


def _triple(source: Source, node: yaml.Node, what: str) -> shapes.Triple:
    values = mapping(source, node, what, _AXES)
    if len(values) != len(_AXES):
        raise source.error(f"{what} needs x, y and z", line_of(node), f"write {what}: {{x: 4, y: 4, z: 2}}")
    x, y, z = (
        shapes.whole(source, shapes.Told(text(source, values[axis], axis), line_of(values[axis])), axis)
        for axis in _AXES
    )
    return x, y, z


_READ: Final[dict[str, Callable[[Source, Defaults, yaml.Node], NetworkDescription]]] = {
    "tree": _tree, "block": _blocks, "ring": _ring, "torus3d": _torus,
}  # fmt: skip
_KINDS: Final = ("flat", *_READ)
_TOP: Final = ("topology", "cluster_default", *_KINDS)
