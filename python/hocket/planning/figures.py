"""Figures of a schedule that every report shows, in one object."""

from __future__ import annotations

import resource
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Irregular:
    """Additional figures of an irregular exchange."""

    largest_bytes: int
    total_bytes: int
    lockstep_seconds: float  # its phases one after the other
    load_bound_seconds: float  # the busiest channel or port
    splits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """A schedule of a demand on a network in plain numbers: sizes in bytes, times in seconds.

    ``ratio`` is what the schedule takes over the least possible; 1.0 is optimal. An all-to-all counts phases;
    those of blocks (all-gathers, reductions) and of parts of messages may differ in length, so these count predicted
    seconds; an irregular exchange counts the seconds of its phases one after the other. ``time_ratio`` is predicted
    seconds over the least: it also counts latencies. None: not known, where one rank's row stands for a schedule.
    """

    pattern: str
    algorithm: str
    hosts: int
    ranks: int
    messages: int
    transfers: int
    bytes: int
    phases: int
    bound_phases: int
    ratio: float
    time_ratio: float
    bound_seconds: float
    predicted_seconds: float
    waits: int | None = None
    waits_before_reduction: int | None = None
    window: int | None = None
    irregular: Irregular | None = None

    def as_json(self) -> dict[str, Any]:
        """Figures as one flat object."""
        numbers = asdict(self)
        more: dict[str, Any] = numbers.pop("irregular") or {}
        return {**numbers, **more}


def ratio(taken: float, bound: float) -> float:
    """``taken / bound``; nothing to do is done optimally."""
    return taken / bound if bound else 1.0


def peak_rss_bytes() -> int:
    """The most memory that this process has had."""
    try:  # ru_maxrss also counts the process that forked this one, so the kernel's own figure comes first
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
