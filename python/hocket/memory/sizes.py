"""Which figures are measured: for each work, where its cost bends.

A cost depends on the bytes that are reached (caches, address translation), on the width of an element, and on
how many buckets or how long runs are. Between these shapes a profile interpolates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

KIB: Final = 1 << 10
MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Shape:
    """A figure to be measured; ``bytes`` is what one rank works through, or what its indices reach."""

    work: str
    width: int = 1
    parts: int = 1
    bytes: int = 1


def shapes(memory: int, ranks: int, quick: bool) -> list[Shape]:
    """In the order of the works; no rank works on more than ``memory`` bytes at once."""
    wanted = _all(memory, ranks, quick)
    return sorted(set(wanted), key=lambda shape: (shape.work, shape.width, shape.parts, shape.bytes))


def _all(memory: int, ranks: int, quick: bool) -> Iterator[Shape]:
    widths = (4, 8) if quick else (4, 8, 16, 64)
    reach = [size for size in (256 * KIB, 4 * MIB, 32 * MIB) if size < memory] + [memory]
    if quick:
        reach = reach[::2] if len(reach) > 2 else reach
    for size in reach:
        yield Shape("copy", 1, 1, size)
    for width in widths:
        for size in reach:
            yield Shape("gather", width, 1, size)
            yield Shape("scatter", width, 1, size)
            yield Shape("shared-gather", width, 1, size * ranks)
            yield Shape("shared-scatter", width, 1, size * ranks)
    large = min(memory // 2, 64 * MIB)
    small = min(large, MIB)
    for width in widths[:3]:
        for size in (small, large):
            yield Shape("strided-read", width, 1, size)
            yield Shape("strided-write", width, 1, size)
            yield Shape("transpose", width, 1, size)
            yield Shape("pack", width, 1, size)
            for buckets in (256, 2048, 4096) if not quick else (256, 4096):
                yield Shape("count", width, buckets, size)
                yield Shape("partition", width, buckets, size)
            for parts in (2, 16, 64) if not quick else (2, 64):
                yield Shape("divide", width, parts, size)
                yield Shape("classify", width, parts - 1, size)
            for bits in sort_bits(width, quick):
                yield Shape("sort", width, bits, size)
    for run in (16, 64, 256, 4 * KIB, 64 * KIB) if not quick else (16, 256, 4 * KIB):
        for size in (small, large):
            yield Shape("pull", 1, min(run, size), size)
    yield Shape("scan", 8, 1, 32 * KIB)
    yield Shape("touch", 1, 1, large)
    yield Shape("shared-touch", 1, 1, large)
    yield Shape("meet")
    yield Shape("collective")
    if ranks > 1:
        for size in (8, KIB, 16 * KIB, 256 * KIB, 4 * MIB, 32 * MIB):
            if size * (ranks - 1) <= memory:
                yield Shape("message", 1, 1, size)


def sort_bits(width: int, quick: bool) -> tuple[int, ...]:
    """Bits in which keys differ: the sort leaves out the digits in which they do not."""
    if width == 4:
        return (32,) if quick else (16, 32)
    return (64,) if quick else (32, 64)
