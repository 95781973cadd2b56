"""Irregular exchanges of test programs."""

from __future__ import annotations

import re
from pathlib import Path

#: Limits so low that all are scheduled.
ALL = {"HOCKET_MIN_FLOWS": "1", "HOCKET_MIN_VECTOR_BYTES": "1"}
#: And exchanges of equal sizes, too.
EVERYTHING = {**ALL, "HOCKET_MIN_BYTES": "1", "HOCKET_MIN_GATHER_BYTES": "1"}


def scheduled(trace: Path) -> int:
    """How many exchanges rank 0 recorded there (HOCKET_TRACE)."""
    path = trace.with_name(trace.name + ".0")
    return len(re.findall("^irregular [0-9]+ ", path.read_text(), re.MULTILINE)) if path.exists() else 0
