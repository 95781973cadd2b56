"""What a lab is made with, and how rates and sizes are written."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from hocket.errors import UsageError

_BITS = {"bit": 1.0, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
_BYTES = {"b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30}
_NUMBER = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([a-zA-Z/]*)\s*")

BURST = 10_240  # bytes that a link may send at once; the shaper's token bucket
MAX_RATE = 4e9  # bytes/s: the shaper's rate is a 32-bit number


def parse_rate(text: str) -> float:
    """``50Mbit``, ``1Gbit/s`` or ``6.25MB/s`` as bytes per second."""
    match = _NUMBER.fullmatch(text)
    unit = match.group(2).lower().removesuffix("/s").removesuffix("ps") if match else ""
    if match and unit in _BITS:
        return float(match.group(1)) * _BITS[unit] / 8
    if match and unit in _BYTES:
        return float(match.group(1)) * _BYTES[unit]
    raise UsageError(f"rate '{text}' is not understood", remedy="write for example 50Mbit or 6.25MB/s")


def parse_size(text: str) -> int:
    """``60KB``, ``64KiB`` or ``61440`` as bytes."""
    match = _NUMBER.fullmatch(text)
    unit = (match.group(2).lower() or "b") if match else ""
    if match and unit in _BYTES:
        return int(float(match.group(1)) * _BYTES[unit])
    raise UsageError(f"size '{text}' is not understood", remedy="write for example 60KB or 64KiB")


@dataclass(frozen=True, slots=True)
class LabOptions:
    """How the emulated wires behave.

    ``rate``: bytes/s of every link, or None for the rates of the network.
    ``buffer``: bytes that each port may queue. ``congestion_control``: TCP's, set in each host.
    ``mtu``: bytes of an IP packet.
    """

    rate: float | None = None
    buffer: int = 60_000
    congestion_control: str = "cubic"
    mtu: int = 1500

    def check(self) -> None:
        """Raise :class:`UsageError` on values that no switch could have."""
        if not 576 <= self.mtu <= 9216:
            raise UsageError(f"an MTU of {self.mtu} bytes is out of range", remedy="choose 576 to 9216")
        if self.rate is not None:
            check_rate(self.rate, "the lab's rate")
        if not self.mtu + 18 <= self.buffer <= 1 << 30:
            raise UsageError(
                f"a port buffer of {self.buffer} bytes is out of range",
                remedy=f"choose at least one packet ({self.mtu + 18} bytes) and at most 1 GiB",
            )
        if not re.fullmatch(r"[a-z0-9_]+", self.congestion_control):
            raise UsageError(
                f"'{self.congestion_control}' is no congestion control",
                remedy="choose for example cubic or reno",
            )

    def to_json(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return asdict(self)


def check_rate(rate: float, what: str) -> None:
    """Raise :class:`UsageError` unless the shaper can do ``rate`` bytes/s."""
    if not 1e3 <= rate <= MAX_RATE:
        raise UsageError(
            f"{what}, {rate:g} bytes/s, is out of the lab's range",
            remedy="use --rate with 8Kbit to 32Gbit (50Mbit suits 32 hosts on two cores)",
        )
