"""Host lists such as ``n[0-7,9],gpu[01-16]``: expanded in the order they are written.

ClusterShell knows the ranges (padding, steps). The list around them is taken apart here because ClusterShell
sorts it, drops duplicates silently, resolves ``@groups`` on this machine, and expands before it counts.
"""

from __future__ import annotations

import itertools
import re
from typing import Final

from ClusterShell.RangeSet import RangeSet, RangeSetException

from hocket.network.source import Source, shown

MAX_LIST: Final = 200_000  # names in one list

_PIECE: Final = re.compile(r"[^,\[\]]*(?:\[[^\[\]]*\][^,\[\]]*)*")
_LITERAL: Final = re.compile(r"[\w.:+-]*")
_RANGE: Final = re.compile(r"(\d{1,18})(?:-(\d{1,18})(?:/(\d{1,18}))?)?", re.ASCII)
_REMEDY: Final = "write it like n[0-7],gpu[01-16]"


def expand(text: str, source: Source, line: int = 0, limit: int = MAX_LIST) -> list[str]:
    """Expand the list ``text`` to names; refuses a list of more than ``limit`` names before expanding it."""
    names: list[str] = []
    position = 0
    while True:
        match = _PIECE.match(text, position)
        assert match is not None  # the pattern matches the empty string
        piece, position = match[0].strip(), match.end()
        if position < len(text) and text[position] != ",":
            raise source.error(f"unbalanced bracket in the host list {shown(text)}", line, _REMEDY)
        if not piece:
            raise source.error(f"empty name in the host list {shown(text)}", line, _REMEDY)
        names += _expand_piece(piece, source, line, limit - len(names), limit)
        if position >= len(text):
            return names
        position += 1


def _expand_piece(piece: str, source: Source, line: int, left: int, limit: int) -> list[str]:
    parts: list[list[str]] = []
    count = 1
    for index, part in enumerate(re.split(r"\[([^\[\]]*)\]", piece)):
        if index % 2 == 0:
            if not _LITERAL.fullmatch(part):
                raise source.error(f"{shown(piece)} is not a host name or host list", line, _REMEDY)
            parts.append([part])
        else:
            ranges = part.split(",", left + 1)
            before, count = count, left + 1
            if len(ranges) <= left:
                count = before * sum(_size(item.strip(), source, line) for item in ranges)
            if count > left:
                raise source.error(
                    f"the host list {shown(piece)} has more than {limit:,} names",
                    line,
                    "is the range a typo?",
                )
            parts.append([name for item in ranges for name in _numbers(item.strip(), source, line)])
        if len(parts) > 64:
            raise source.error(f"too many brackets in the host list {shown(piece)}", line, _REMEDY)
    if count > left:
        raise source.error(f"the host list has more than {limit:,} names", line, "split it")
    if len(parts) == 1:
        return parts[0]
    return ["".join(combination) for combination in itertools.product(*parts)]


def _size(item: str, source: Source, line: int) -> int:
    match = _RANGE.fullmatch(item)
    if match is None:
        raise source.error(f"{shown(item)} is not a range of a host list", line, _REMEDY)
    first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
    if last < first or step < 1:
        raise source.error(f"the range {shown(item)} runs backwards or has step 0", line, _REMEDY)
    return (last - first) // step + 1


def _numbers(item: str, source: Source, line: int) -> list[str]:
    if "-" not in item:
        return [item]
    try:
        return [str(number) for number in RangeSet(item).striter()]
    except (RangeSetException, ValueError) as problem:
        raise source.error(f"the range {shown(item)} cannot be expanded: {problem}", line, _REMEDY) from None
