"""Trust in figures: those count that a second look confirms, and that their neighbours do not contradict.

What else runs on a machine only makes a kernel slower, and seldom for as long as all figures take; so that the
least of several measurements far apart is the machine's, once another is near it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Final

from hocket.measure.memory.sizes import Shape

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
