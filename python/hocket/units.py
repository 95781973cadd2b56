"""Rates, sizes and times as people write them: ``1Gbit``, ``125MB/s``, ``64KiB``, ``5us``.

A small ``b`` or ``bit`` means bits, a capital ``B`` means bytes. ``k``, ``M``, ``G``, ``T`` are powers of 1000, ``Ki``,
``Mi``, ``Gi``, ``Ti`` powers of 1024. Internally a rate is bytes per second, a time seconds."""

import math
import re
from functools import lru_cache
from typing import Final

from hocket.errors import UsageError

_PREFIXES: Final[dict[str, float]] = {
    "": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
    "Ki": 2.0**10, "ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40,
}  # fmt: skip
_BITS: Final = ("bit/s", "bits/s", "bit", "bits", "bps", "b/s", "b")
_BYTES: Final = ("byte/s", "bytes/s", "byte", "bytes", "Bps", "B/s", "B")
_SIZES: Final = ("B", "byte", "bytes")

_RATE_UNITS: Final[dict[str, float]] = {
    prefix + unit: factor / (8 if units is _BITS else 1)
    for prefix, factor in _PREFIXES.items()
    for units in (_BITS, _BYTES)
    for unit in units
}
_SIZE_UNITS: Final[dict[str, float]] = {
    "": 1, **{prefix + unit: factor for prefix, factor in _PREFIXES.items() for unit in _SIZES}
}  # fmt: skip
_TIME_UNITS: Final[dict[str, float]] = {
    "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9, "ps": 1e-12,
}  # fmt: skip

MIN_RATE, MAX_RATE = 1e3, 1e13  # bytes per second of a link, as the core demands
MAX_SECONDS: Final = 1e6
MOST_BYTES: Final = 2**63 - 1

_QUANTITY: Final = re.compile(r"\s*((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-zµμ/]*)\s*", re.ASCII)
_LONGEST: Final = 64


def _split(text: str, what: str, remedy: str) -> tuple[str, str]:
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        shown = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
        raise UsageError(f"{shown!r} is not a {what}", remedy=remedy)
    return match[1], match[2]


def _parse(text: str, units: dict[str, float], what: str, remedy: str) -> float:
    number, unit = _split(text, what, remedy)
    if unit not in units:
        problem = f"has the unknown unit {unit!r}" if unit else "has no unit"
        raise UsageError(f"the {what} {text.strip()!r} {problem}", remedy=remedy)
    # Dividing by an exact power keeps "5us" equal to the literal 5e-6.
    factor = units[unit]
    value = float(number) * factor if factor >= 1 else float(number) / (1 / factor)
    if not math.isfinite(value):
        raise UsageError(f"the {what} {text.strip()!r} is too large for any machine", remedy=remedy)
    return value


@lru_cache(maxsize=256)  # a file says the same of ten thousands of links
def parse_rate(text: str) -> float:
    """Bytes per second from ``1Gbit``, ``100Mbit/s``, ``10Gbps``, ``125MB/s`` or ``1GiB/s``."""
    return _parse(text, _RATE_UNITS, "rate", "write it like 1Gbit, 100Mbit/s or 125MB/s")


def parse_link_rate(text: str) -> float:
    """Parse the rate of a link, 8 kbit/s to 80 Tbit/s, in bytes/s. Raises UsageError."""
    rate = parse_rate(text)
    if not MIN_RATE <= rate <= MAX_RATE:
        remedy = "give 8kbit/s to 80Tbit/s; a capital B means bytes"
        raise UsageError(f"{text.strip()} is not a possible link rate", remedy=remedy)
    return rate


@lru_cache(maxsize=256)
def parse_time(text: str) -> float:
    """Seconds, at most a million, from ``5us``, ``0.1ms`` or ``2s``; a bare ``0`` needs no unit."""
    if text.strip() == "0":
        return 0.0
    if (seconds := _parse(text, _TIME_UNITS, "time", "write it like 5us, 0.1ms or 2s")) > MAX_SECONDS:
        raise UsageError(f"{text.strip()} is too long", remedy=f"give at most {MAX_SECONDS:.0f}s")
    return seconds


def parse_bytes(text: str | int) -> int:
    """Bytes, at most 2^63 - 1, from ``64KiB`` (1024), ``256KB`` (1000), ``1MB`` or a plain integer."""
    size = _whole_bytes(text, remedy := "write it like 4096, 64KiB or 1MB")
    if size > MOST_BYTES:
        raise UsageError(f"{str(text).strip()} is more than 2^63 - 1 bytes", remedy=remedy)
    return size


def _whole_bytes(text: str | int, remedy: str) -> int:
    if isinstance(text, int) and not isinstance(text, bool):
        if text < 0:
            raise UsageError(f"{text} bytes is negative", remedy=remedy)
        return text
    text = str(text)
    if len(text) <= _LONGEST and text.isascii() and text.strip().isdecimal():
        return int(text)
    value = _parse(text, _SIZE_UNITS, "size", remedy)
    number, unit = _split(text, "size", remedy)
    if number.isdecimal():  # exact where a float is not
        return int(number) * int(_SIZE_UNITS[unit])
    if value != int(value):
        raise UsageError(f"the size {text.strip()!r} is not a whole number of bytes", remedy=remedy)
    return int(value)


def _with_prefix(value: float, steps: tuple[tuple[float, str], ...], digits: int) -> str:
    for factor, unit in steps:
        # Rounding first, so that 999.9999 Mbit is shown as 1 Gbit.
        if abs(float(f"{value / factor:.{digits}g}")) >= 1:
            return f"{value / factor:.{digits}g} {unit}"
    factor, unit = steps[-1]
    return f"{value / factor:.{digits}g} {unit}"


def format_rate(rate: float, digits: int = 6) -> str:
    """``125e6`` bytes per second as ``1 Gbit/s``; :func:`parse_rate` reads it back."""
    steps = ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
    return _with_prefix(rate * 8, steps, digits)


def format_time(seconds: float, digits: int = 6) -> str:
    """``5e-6`` as ``5 us``; :func:`parse_time` reads it back."""
    if seconds == 0:
        return "0 s"
    return _with_prefix(
        seconds, ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"), (1e-12, "ps")), digits
    )


def format_bytes(size: int) -> str:
    """``65536`` as ``64 KiB``: the largest unit that divides it, so that nothing is rounded."""
    for factor, unit in (
        (2**40, "TiB"), (10**12, "TB"), (2**30, "GiB"), (10**9, "GB"), (2**20, "MiB"), (10**6, "MB"),
        (2**10, "KiB"), (10**3, "KB"),
    ):  # fmt: skip
        if size and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


def format_total(size: int) -> str:
    """A sum of sizes: as :func:`format_bytes` where that is short, else rounded, ``16.38 GB``."""
    exact = format_bytes(size)
    if size < 10_000 or not exact.endswith(" B"):
        return exact
    return _with_prefix(size, ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB")), 4)
