"""Read each rank's contribution to an all-gather from a file."""

from __future__ import annotations

import re
from typing import Final

from hocket.cli._shared.sizes import MOST_BYTES
from hocket.cli._shared.work import read_whole
from hocket.errors import HocketError, UsageError, Where
from hocket.units import parse_bytes

MOST_SHOWN: Final = 64
REMEDY: Final = "write one size per rank, one on each line or with commas between them"


def read_contributions(path: str, ranks: int) -> list[int]:
    """Bytes of each rank: sizes such as ``64KiB`` on lines of their own or with commas between them.

    Empty lines and what follows a ``#`` count for nothing.
    """
    try:
        text = read_whole(path, "contributions").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UsageError("this is not text", where=Where(path, line), remedy=REMEDY) from None
    sizes: list[int] = []
    for number, written in enumerate(text.split("\n"), 1):
        content = written.partition("#")[0].strip().removesuffix(",")
        if not content:
            continue
        for item in content.split(","):
            sizes.append(_size(item, Where(path, number)))
            if len(sizes) > ranks:
                raise UsageError(
                    f"there are more contributions than the {_counted(ranks)} of the network",
                    where=Where(path, number),
                    remedy=REMEDY,
                )
    if len(sizes) != ranks:
        raise UsageError(
            f"there are {len(sizes)} contributions for {_counted(ranks)}", where=Where(path), remedy=REMEDY
        )
    return sizes


def _size(item: str, where: Where) -> int:
    shown = item.strip()[:MOST_SHOWN]
    if not shown:
        raise UsageError("a size is missing between commas", where=where, remedy=REMEDY)
    if re.match(r"-\s*\d", shown):
        raise UsageError(f"{shown!r} is negative", where=where, remedy=REMEDY)
    try:
        size = parse_bytes(item.strip())
    except HocketError as problem:
        raise UsageError(problem.what, where=where, remedy=problem.remedy) from None
    if size > MOST_BYTES:
        raise UsageError(f"{shown} is more than any memory", where=where, remedy="give at most 1 PiB")
    return size


def _counted(ranks: int) -> str:
    return f"{ranks} rank" if ranks == 1 else f"{ranks} ranks"
