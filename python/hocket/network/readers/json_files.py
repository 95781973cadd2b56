"""JSON files of other tools, with the lines of what stands in them."""

import json
import re
from collections.abc import Callable
from typing import Any

from hocket.network.source import Source, shown


def sniffs(pattern: str) -> Callable[[Source], bool]:
    """A function that tells a JSON object in a file which holds ``pattern``."""
    look = re.compile(pattern)
    return lambda source: (
        source.is_file and source.text.lstrip()[:1] == "{" and look.search(source.text) is not None
    )


def parse(source: Source, again: str) -> Any:
    """Parse a file that has one JSON document. ``again``: how to make the file anew.

    Raises :class:`hocket.errors.NetworkError` for what is not JSON, with its line."""
    (_, value), *others = _documents(source, again)
    if others:
        raise source.error(
            "a second JSON document begins here", others[0][0], "give each a file of its own, and one of them"
        )
    return value


def documents(source: Source, again: str) -> list[Any]:
    """Parse a file that has several JSON documents one after the other. Raises as :func:`parse`."""
    return [value for _, value in _documents(source, again)]


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
