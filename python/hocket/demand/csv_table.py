"""A square table of sizes with commas between them: row = sender, column = receiver."""

import re
from typing import Final

from hocket.demand.arrays import whole_number
from hocket.demand.traffic import Source, Traffic
from hocket.errors import HocketError
from hocket.system.text import shown
from hocket.units import parse_bytes

_REMEDY: Final = "write n lines of n sizes with commas between them: line = sender, column = receiver"
_HAS_UNIT: Final = re.compile(r"[^-].*[A-Za-z]")


def begins(data: bytes) -> bool:
    return re.match(rb"(?:\xef\xbb\xbf)?\s*[0-9#]", data) is not None


def read(source: Source) -> Traffic:
    traffic: Traffic | None = None
    senders, last = 0, 0
    for line, text in source.lines("#"):
        fields = text.removesuffix(",").split(",")
        if traffic is None:
            traffic = Traffic(len(fields), source)
        if senders == traffic.ranks:
            raise source.error(f"more lines than the {senders} columns", line, _REMEDY)
        if len(fields) != traffic.ranks:
            raise source.error(f"{len(fields)} sizes, but {traffic.ranks} in the lines before", line, _REMEDY)
        for receiver, written in enumerate(fields):
            traffic.add(senders, receiver, _size(source, line, written.strip()), line)
        senders, last = senders + 1, line
    if traffic is None:
        raise source.error("holds no sizes", remedy=_REMEDY)
    if senders != traffic.ranks:
        raise source.error(f"{senders} lines of {traffic.ranks} sizes are not square", last, _REMEDY)
    return traffic


def _size(source: Source, line: int, written: str) -> int:
    if not written:
        raise source.error("a size is missing between commas", line, _REMEDY)
    if (size := whole_number(written)) == "is not a number" and _HAS_UNIT.match(written):
        try:
            size = parse_bytes(written)
        except HocketError as problem:
            raise source.error(problem.what, line, problem.remedy) from None
    if isinstance(size, str):
        raise source.error(f"{shown(written)} {size}", line, "write sizes such as 4096 or 64KiB")
    return size
