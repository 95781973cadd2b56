"""Sizes on the command line: as users give them, and what a demand's messages carry, in a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hocket import _core
from hocket.cli._shared.usage import named
from hocket.demand.collectives import ALL_REDUCE, IRREGULAR, REDUCE_SCATTER
from hocket.errors import UsageError
from hocket.units import format_bytes, format_total

if TYPE_CHECKING:
    from hocket._core import Demand

DEFAULT_BYTES: Final = format_bytes(_core.REFERENCE_BYTES).replace(" ", "")
MOST_BYTES: Final = 2**50


def parse_size(size: str, option: str = "--bytes") -> int:
    from hocket.units import parse_bytes

    value = named(option, parse_bytes, size)
    if not 1 <= value <= MOST_BYTES:
        problem = "too little" if value < 1 else "more than any memory"
        raise UsageError(f"{option} {size} is {problem}", remedy="give a size between 1 and 1 PiB")
    return value


def size_text(demand: Demand) -> str:
    """Size of one message, one block or all blocks, as text."""
    if demand.pattern == IRREGULAR:
        if demand.messages == 0:
            return "nothing"
        return f"at most {format_bytes(demand.bytes)}, {format_total(demand.total_bytes)} in all"
    if not demand.by_blocks:
        return format_bytes(demand.bytes)
    if demand.contributions:
        return f"{format_bytes(sum(demand.contributions))} in all"
    if demand.pattern == ALL_REDUCE:
        return f"{format_bytes(demand.bytes * demand.ranks)} in all"
    return f"{format_bytes(demand.bytes)} {'for' if demand.pattern == REDUCE_SCATTER else 'from'} each"
