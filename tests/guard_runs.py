"""Calls under a guard, with costs that a test makes up."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random

from hocket._core.choose import Guard, GuardRules, Turn

NAN = math.nan


Cost = Callable[[int, int], float]  # call, arm: seconds


def rules(**changes: object) -> GuardRules:
    """Calls by all arms but the library's own can be cut short."""
    made = GuardRules()
    made.can_be_cut = 0b111110
    for name, value in changes.items():
        setattr(made, name, value)
    return made


class Run:
    """Calls under one guard. ``cost`` tells what a call by an arm takes; what is cut short ends as by the library."""

    def __init__(self, guard: Guard, cost: Cost) -> None:
        self.guard, self.cost = guard, cost
        self.turns: list[Turn] = []
        self.timed: list[float] = []
        self.taken: dict[int, float] = {}
        self.posts: list[list[float]] = []

    def call(self) -> Turn:
        if self.guard.due():
            self.guard.tell(self.posts.pop(0))
        turn = self.guard.next()
        if turn.timed:
            call, seconds = len(self.turns), self.cost(len(self.turns), turn.arm)
            if seconds > turn.limit:
                seconds = turn.limit + (1 - turn.limit / seconds) * self.cost(call, 0)
            self.timed.append(seconds)
            self.taken[call] = seconds
        if turn.post:
            self.posts.append(self.timed)
            self.timed = []
        self.turns.append(turn)
        return turn

    def calls(self, count: int) -> Run:
        for _ in range(count):
            self.call()
        return self

    @property
    def arms(self) -> list[int]:
        return [turn.arm for turn in self.turns]


def noisy(ratios: Sequence[float], noise: float = 0.02, seed: int = 0, seconds: float = 1e-3) -> Cost:
    random = Random(seed)
    return lambda _, arm: seconds * ratios[arm] * math.exp(random.gauss(0, noise))


def unknown(arms: int) -> list[float]:
    return [NAN] * arms
