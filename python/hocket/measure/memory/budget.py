"""Time limit of measuring, whatever the machine's load: all ranks decide alike."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from hocket.measure.memory.agreement import agree, doubtful
from hocket.measure.memory.sizes import Shape

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
    """Number of repetitions of a kernel that took ``first`` seconds, if its figure may take ``share``
    seconds."""
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
            left = budget.left()
            if left <= 0:
                break
            say(len(taken), shape.work)
            taken.setdefault(shape, []).append(seconds(shape, left / (len(again) - at)))
        again = doubtful(taken)
    figures = [(s.work, ranks, s.width, s.parts, s.bytes, min(times)) for s, times in taken.items()]
    return Measured(figures, sum(not agree(times) for times in taken.values()))
