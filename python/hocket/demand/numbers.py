"""Sizes as files of numbers write them: whole, not negative, below 2^63."""

from __future__ import annotations

import math
import re
from typing import Final

from hocket.units import MOST_BYTES

_PLAIN: Final = re.compile(r"[0-9]{1,18}")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eEdD][+-]?[0-9]+)?")
_NOT_FINITE: Final = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
LONGEST: Final = 64


def problem_of(value: float) -> str:
    """Reason why a number is not a size, as the end of an error message; empty if it is one."""
    if not math.isfinite(value):
        return "is not a number of bytes"
    if value < 0:
        return "is negative"
    if value != math.floor(value):
        return "is not a whole number of bytes"
    return "is more than 2^63 - 1 bytes" if value > MOST_BYTES else ""


def whole_number(text: str) -> int | str:
    """The size that ``text`` says, or how a message about it goes on."""
    if _PLAIN.fullmatch(text):
        return int(text)
    if _NOT_FINITE.fullmatch(text):
        return "is not a number of bytes"
    if len(text) > LONGEST or not _NUMBER.fullmatch(text):
        return "is not a number"
    value = int(text) if text.lstrip("+-").isdecimal() else float(text.lower().replace("d", "e"))
    if value == math.inf:
        return "is more than 2^63 - 1 bytes"
    return problem_of(value) or int(value)
