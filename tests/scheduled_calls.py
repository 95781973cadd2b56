"""Irregular exchanges of test programs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from hocket import _core

#: All are scheduled, and planned for their sizes.
ALL = {"HOCKET_MIN_BYTES": "1", "HOCKET_ALGORITHM": "auto"}
#: And exchanges of equal sizes, too.
EVERYTHING = ALL


def scheduled(trace: Path) -> int:
    """Number of exchanges that rank 0 recorded in a trace (HOCKET_TRACE)."""
    path = trace.with_name(trace.name + ".0")
    return len(re.findall("^irregular [0-9]+ ", path.read_text(), re.MULTILINE)) if path.exists() else 0


def thirds(ranks: int, size: int, place: Sequence[int] | None = None) -> _core.Demand:
    """Demand of vector_rounds; ``place``: where the network has each rank, if not in their order."""
    at = place or range(ranks)
    messages = [(at[a], at[b], (a * 5 + b * 3) % 4 * size // 3) for a in range(ranks) for b in range(ranks)]
    sent = [message for message in messages if message[2] > 0 and message[0] != message[1]]
    return _core.Demand.irregular(ranks, *map(list, zip(*sent, strict=True)))
