"""What plan files and saved tables have in common."""

from __future__ import annotations

MASK = 2**64 - 1


def checksum(data: bytes) -> int:
    """As docs/plan-format.md has it."""
    value = 0xCBF29CE484222325 ^ len(data)
    for i in range(0, len(data), 8):
        word = int.from_bytes(data[i : i + 8], "little")
        value = (value ^ word) * 0x100000001B3 & MASK
        value ^= value >> 29
    return value
