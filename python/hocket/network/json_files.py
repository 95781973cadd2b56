"""JSON files of other tools, with the lines of what stands in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hocket.network.source import Source, shown


def parse(source: Source) -> Any:
    """What the file holds. Raises :class:`hocket.errors.NetworkError` for what is not JSON, with its line."""
    try:
        return json.loads(source.text)
    except json.JSONDecodeError as problem:
        raise source.error(f"is not JSON: {problem.msg}", problem.lineno, "write it anew, whole") from None
    except (RecursionError, ValueError):  # nested too deeply, or a number of thousands of digits
        raise source.error("is not JSON that a network needs", remedy="write it anew, whole") from None


def documents(source: Source) -> Iterator[Any]:
    """What a file holds that has several JSON documents one after the other. Raises as :func:`parse`."""
    place, text, decoder = 0, source.text, json.JSONDecoder()
    while True:
        while place < len(text) and text[place].isspace():
            place += 1
        if place == len(text):
            return
        try:
            value, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError as problem:
            raise source.error(
                f"is not JSON: {problem.msg}", problem.lineno, "write it anew, whole"
            ) from None
        except (RecursionError, ValueError):
            raise source.error("is not JSON that a network needs", remedy="write it anew, whole") from None
        yield value


def entries(source: Source, value: Any, what: str) -> list[dict[str, Any]]:
    """A list of objects; ``what`` it is for messages."""
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise source.error(f"{what} is no list of objects", remedy="write the file anew, whole")
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
