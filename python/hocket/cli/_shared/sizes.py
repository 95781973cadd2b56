"""What a demand's messages carry, in a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hocket.demand.collectives import ALL_REDUCE, IRREGULAR, REDUCE_SCATTER
from hocket.units import format_bytes, format_total

if TYPE_CHECKING:
    from hocket._core import Demand


def size_text(demand: Demand) -> str:
    """Of one message, one block or all blocks."""
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
