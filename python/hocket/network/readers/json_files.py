"""JSON files of other tools, with the lines of what stands in them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from hocket.network.description import NetworkDescription
from hocket.network.parts import Defaults
from hocket.network.source import Source, shown

_ANEW: Final = "regenerate the file"


def sniffs(pattern: str) -> Callable[[Source], bool]:
    """A function that tells a JSON object in a file which holds ``pattern``."""
    look = re.compile(pattern)
    return lambda source: (
        source.is_file and source.text.lstrip()[:1] == "{" and look.search(source.text) is not None
    )


def parse(source: Source, again: str = _ANEW) -> Any:
    """Parse a file that has one JSON document. ``again``: how to make the file anew.

    Raises :class:`hocket.errors.NetworkError` for what is not JSON, with its line."""
    (_, value), *others = _documents(source, again)
    if others:
        raise source.error(
            "a second JSON document begins here", others[0][0], "give each a file of its own, and one of them"
        )
    return value


def documents(source: Source, again: str = _ANEW) -> list[Any]:
    """Parse a file that has several JSON documents one after the other. Raises as :func:`parse`."""
    return [value for _, value in _documents(source, again)]


def paged_entries(
    source: Source, key: str, cursor: tuple[str, ...], again: str, remedy: str
) -> Iterator[dict[str, Any]]:
    """The objects of the lists called ``key`` in all documents of a file, which are the pages of one answer.

    Raises as :func:`parse`, and where the last document has ``cursor`` (key by key), by which tools ask for a next page
    (``remedy``)."""
    found = documents(source, again)
    left: Any = found[-1]
    for each in cursor:
        left = left.get(each) if isinstance(left, dict) else None
    if left:
        line = source.text.count("\n", 0, source.text.rfind(f'"{cursor[-1]}"')) + 1
        raise source.error(f"is incomplete: {cursor[-1]} tells of a further page", line, remedy)
    for document in found:
        yield from entries(source, document.get(key) if isinstance(document, dict) else None, key)


def _documents(source: Source, again: str) -> list[tuple[int, Any]]:
    """Documents, at least one, each with the line where it begins."""
    place, text, decoder = 0, source.text, json.JSONDecoder()
    found: list[tuple[int, Any]] = []
    while True:
        while place < len(text) and text[place].isspace():
            place += 1
        if place == len(text) and found:
            return found
        line = text.count("\n", 0, place) + 1
        try:
            value, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError as problem:
            raise source.error(f"is not JSON: {problem.msg}", problem.lineno, again) from None
        except RecursionError:
            raise source.error("JSON is nested too deeply", remedy=again) from None
        except ValueError:
            raise source.error("JSON has a number of thousands of digits", remedy=again) from None
        found.append((line, value))


def entries(source: Source, value: Any, what: str) -> list[dict[str, Any]]:
    """A list of objects; ``what`` it is for messages."""
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise source.error(f"{what} is not a list of objects", remedy="regenerate the file")
    return list(value)


def name(source: Source, entry: dict[str, Any], key: str) -> str:
    """A name that is there."""
    value = entry.get(key)
    if isinstance(value, str) and value:
        return value
    near = next((text for text in entry.values() if isinstance(text, str)), "")
    raise source.error(f"an entry has no {key}", line_of(source, near), f"give each a {shown(key)}")


class Lines:
    """The line of a text in quotation marks, the first; 0 where there is none."""

    def __init__(self, source: Source) -> None:
        self._found: dict[str, int] = {}
        for number, line in enumerate(source.text.split("\n"), 1):
            for text in line.split('"')[1::2]:
                self._found.setdefault(text, number)

    def of(self, text: str) -> int:
        return self._found.get(text, 0)


def line_of(source: Source, text: str) -> int:
    """The line where a text first stands in quotation marks; 0 where it does not."""
    return Lines(source).of(text)


ROOT: Final = "root"


def layered(
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
