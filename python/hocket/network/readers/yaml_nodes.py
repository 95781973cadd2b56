"""YAML as nodes with their lines: what readers of YAML files take apart."""

from __future__ import annotations

from typing import Any, Final

import yaml

from hocket.errors import NetworkError
from hocket.network.description import suggestion
from hocket.network.source import Source, shown

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
        key = text(source, key_node, "a key")
        if key not in known:
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
