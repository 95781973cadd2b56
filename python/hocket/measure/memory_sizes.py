"""Shapes of memory operations to measure: for each work, those where its cost bends.

A cost depends on the bytes that are reached (caches, address translation), on the width of an element, and on how many
buckets or how long runs are. Between these shapes a profile interpolates."""

import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
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
    """Shapes in the order of the works; no rank works on more than ``memory`` bytes at once."""
    wanted = _all(memory, ranks, quick)
    return sorted(set(wanted), key=lambda shape: (shape.work, shape.width, shape.parts, shape.bytes))


def in_turn(wanted: Iterable[Shape]) -> list[Shape]:
    """Order of measuring: one shape of every work, the largest, then a second of every work, and so on. If
    time runs out, each work has a figure before any has several."""
    seen: Counter[str] = Counter()
    turns: list[tuple[int, Shape]] = []
    for shape in sorted(wanted, key=lambda shape: -shape.bytes):
        turns.append((seen[shape.work], shape))
        seen[shape.work] += 1
    return [shape for _, shape in sorted(turns, key=lambda turn: (turn[0], turn[1].work))]


def _all(memory: int, ranks: int, quick: bool) -> Iterator[Shape]:
    widths = (4, 8) if quick else (4, 8, 16, 64)
    large = min(memory // 2, 64 * MIB)
    sizes = (min(large, MIB), large)
    yield from _anywhere(memory, ranks, widths, quick)
    for width in widths[:3]:
        for size in sizes:
            yield from (Shape(work, width, 1, size) for work in ("strided-read", "strided-write", "pack"))
            yield from _sorting(width, size, quick)
    for width in (4, 8, 16):  # 16: keys with payload
        for size in (32 * KIB, *sizes):
            for bits in sort_bits(width, quick):
                yield Shape("sort", width, bits, size)
    for width in widths:
        yield Shape("split", width, ranks, large)
    for regions in (ranks, 32, 256, 2048):
        yield Shape("route", 8, regions, large)
    for run in (16, 256, 4 * KIB) if quick else (16, 64, 256, 4 * KIB, 64 * KIB):
        for size in sizes:
            yield Shape("pull", 1, run, size)
    yield Shape("scan", 8, 1, 32 * KIB)
    yield Shape("touch", 1, 1, large)
    yield Shape("shared-touch", 1, 1, large)
    yield from _waiting(memory, ranks)


def _anywhere(memory: int, ranks: int, widths: tuple[int, ...], quick: bool) -> Iterator[Shape]:
    """Shapes whose cost depends on how much memory is reached."""
    reach = [size for size in (256 * KIB, 4 * MIB, 32 * MIB) if size < memory] + [memory]
    if quick and len(reach) > 2:
        reach = [reach[0], reach[-1]]
    for size in reach:
        yield Shape("copy", 1, 1, size)
        for width in widths:
            yield Shape("gather", width, 1, size)
            yield Shape("scatter", width, 1, size)
            yield Shape("shared-gather", width, 1, size * ranks)
            yield Shape("shared-scatter", width, 1, size * ranks)


def _sorting(width: int, size: int, quick: bool) -> Iterator[Shape]:
    for buckets in (256, 4096) if quick else (256, 2048, 4096):
        yield Shape("count", width, buckets, size)
        yield Shape("partition", width, buckets, size)
    for parts in (2, 64) if quick else (2, 16, 64):
        yield Shape("divide", width, parts, size)
        yield Shape("classify", width, parts - 1, size)
    if width in (4, 8):
        yield Shape("library-sort", width, 1, size)


def _waiting(memory: int, ranks: int) -> Iterator[Shape]:
    yield Shape("meet")
    yield Shape("collective")
    for size in (8, KIB, 16 * KIB, 256 * KIB, 4 * MIB, 32 * MIB):
        if ranks > 1 and size * (ranks - 1) <= memory:
            yield Shape("message", 1, 1, size)


def sort_bits(width: int, quick: bool) -> tuple[int, ...]:
    """Bits in which keys differ: the sort leaves out the digits in which they do not."""
    if width == 4:
        return (32,) if quick else (16, 32)
    return (64,) if quick else (32, 64)


_NEAR: Final = 1.2  # two measurements that agree
_FAR: Final = 2.0  # from both neighbours: a figure that stands out
_SLOWER: Final = 1.2  # a sort that a profile has made slower
_BUSY: Final = 0.05  # of the figures do not agree: the machine had other things to do


def agree(seconds: Sequence[float]) -> bool:
    """Return true if the two least are near each other."""
    least = sorted(seconds)[:2]
    return len(least) == 2 and least[1] <= _NEAR * least[0]


def standing_out(figures: Mapping[Shape, float]) -> set[Shape]:
    """Shapes whose figure is far above, or below, the next ones on both sides: the same work on fewer and on more
    bytes, in fewer and more parts, or with narrower and wider elements."""
    lines: defaultdict[tuple[object, ...], list[Shape]] = defaultdict(list)
    for shape in figures:
        place = (shape.work, shape.width, shape.parts, shape.bytes)
        for axis in range(1, len(place)):
            lines[(axis, *place[:axis], *place[axis + 1 :])].append(shape)
    found = set()
    for line in lines.values():
        line.sort(key=lambda shape: (shape.width, shape.parts, shape.bytes))
        for below, own, above in zip(line, line[1:], line[2:], strict=False):
            beside = sorted((figures[below], figures[above]))
            if figures[own] > _FAR * beside[1] or figures[own] < beside[0] / _FAR:
                found.add(own)
    return found


def doubtful(taken: Mapping[Shape, Sequence[float]]) -> list[Shape]:
    """The shapes that have to be measured again, in their order."""
    out = standing_out({shape: min(seconds) for shape, seconds in taken.items()})
    return [shape for shape, seconds in taken.items() if shape in out or not agree(seconds)]


def was_busy(differing: int, figures: int) -> bool:
    """Return true if so many figures differ between measurements that the machine cannot have been idle."""
    return differing > _BUSY * figures


def slower(times: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> dict[str, float]:
    """Sorts that the profile makes slower, each with the ratio of its time to that by the built-in profile;
    the two took turns."""
    ratios = {
        case: median(a / b for a, b in zip(own, built_in, strict=True))
        for case, (own, built_in) in times.items()
    }
    return {case: ratio for case, ratio in ratios.items() if ratio > _SLOWER}


_SECONDS: Final = 0.03  # for the repetitions of one figure
_LEAST_REPEATS, _MOST_REPEATS = 3, 15
_TURNS: Final = 6  # measurements of a figure, at most

Figure = tuple[str, int, int, int, int, float]  # work, ranks, width, parts, bytes, seconds


class Budget:
    """Seconds from now on. ``agree`` turns a rank's value into that of rank 0, whose clock counts."""

    def __init__(
        self, seconds: float, agree: Callable[[float], float], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._agree = agree
        self._clock = clock
        self._end = clock() + seconds

    def left(self) -> float:
        """Seconds, the same on all ranks, which must call together. Negative when the time is over."""
        return self._agree(self._end - self._clock())


def repeats(first: float, share: float) -> int:
    """Number of repetitions of a kernel that took ``first`` seconds, if its figure may take ``share`` seconds."""
    wanted = min(max(math.ceil(_SECONDS / max(first, 1e-7)), _LEAST_REPEATS), _MOST_REPEATS)
    return max(min(wanted, int(share / max(first, 1e-7)) - 1), 0)


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures in the order of their shapes; ``differing``: how many no second measurement has confirmed."""

    figures: list[Figure]
    differing: int


def measured(
    todo: Sequence[Shape],
    ranks: int,
    seconds: Callable[[Shape, float], float],
    budget: Budget,
    say: Callable[[int, str], None],
) -> Measured:
    """The figures of the shapes for which there is time: each once, then all of them again, then those again
    that are in doubt (``agreement``), a few times at most. ``seconds`` measures a shape in the seconds given to
    it, if it can; ``say`` hears how many there are so far and what comes next."""
    taken: dict[Shape, list[float]] = {}
    again = list(todo)
    for _ in range(_TURNS):
        for at, shape in enumerate(again):
            if (left := budget.left()) <= 0:
                break
            say(len(taken), shape.work)
            taken.setdefault(shape, []).append(seconds(shape, left / (len(again) - at)))
        again = doubtful(taken)
    figures = [(s.work, ranks, s.width, s.parts, s.bytes, min(times)) for s, times in taken.items()]
    return Measured(figures, sum(not agree(times) for times in taken.values()))
