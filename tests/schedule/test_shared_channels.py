"""Which channels messages of different speeds fill: as the rule says, counted anew for every channel that is tried."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hocket import _core
from strategies import few_ranks, random_tree, unequal

WHOLE = 720_720
A_LITTLE = 1 + 1e-9


class ByTheRule:
    """Messages of as many bytes, and what they claim."""

    def __init__(self, network: _core.Network, pairs: list[tuple[int, int]], exactly: bool) -> None:
        self.rates = [network.rate(channel) for channel in range(network.channels)]
        self.exactly = exactly
        self.routes = [network.route(src, dst) for src, dst in pairs]
        load = [sum(route.count(channel) for route in self.routes) for channel in range(network.channels)]
        self.bound = max(count / rate for count, rate in zip(load, self.rates, strict=True))

    def filling(self, channel: int, speed: float) -> int:
        return max(1, math.ceil(self.rates[channel] / speed * (1 - 1e-9)))

    def part(self, channel: int, own: float, speed: float, filled: set[int]) -> int:
        least = WHOLE // self.filling(channel, own)
        if channel in filled:
            return least
        alike = self.rates[channel] / speed * A_LITTLE
        if self.exactly and alike > 1:
            return max(least, math.ceil(WHOLE / alike))
        return max(least, WHOLE // max(1, math.floor(alike)))

    def work(self, filled: set[int]) -> list[float]:
        """Seconds that each channel is claimed, a byte a message."""
        seconds = [0.0] * len(self.rates)
        for route in self.routes:
            if not route:
                continue
            own = min(self.rates[channel] for channel in route)
            speed = min([own, *(self.rates[c] / self.filling(c, own) for c in route if c in filled)])
            for channel in route:
                seconds[channel] += self.part(channel, own, speed, filled) / (speed * WHOLE)
        return seconds

    def filled(self) -> set[int]:
        apart = self.work(set())
        late = {channel for channel, seconds in enumerate(apart) if seconds > self.bound * A_LITTLE}
        kept: set[int] = set()
        tried: set[int] = set()
        seconds, in_vain = apart, 0
        while max(seconds) > self.bound * A_LITTLE and len(tried) < 24 and in_vain < 4:
            left = [c for c in range(len(seconds)) if c not in tried and seconds[c] > self.bound]
            if not left:
                break
            worst = max(left, key=lambda channel: seconds[channel])
            tried.add(worst)
            then = self.work(kept | {worst})
            if max(then) * A_LITTLE < max(seconds):
                kept, seconds, in_vain = kept | {worst}, then, 0
            else:
                in_vain += 1
        return late if max(self.work(late)) <= 1.12 * max(seconds) else kept


@pytest.mark.parametrize("exactly", [False, True])
@given(st.integers(0, 2**32 - 1), st.integers(3, 12))
def test_channels_are_filled_as_the_rule_says(exactly: bool, seed: int, hosts: int) -> None:
    """Some messages only, so that the two directions of a link differ."""
    rng = Random(seed)
    plan = random_tree(rng, hosts, ranks=few_ranks, switch_link=unequal)
    plan.rates = [rate * (0.4 + rng.random()) for rate in plan.rates]
    network = plan.build()
    if network.ranks < 2:
        return
    ranks = range(network.ranks)
    pairs = [(src, dst) for src in ranks for dst in ranks if src != dst and (src == 0 or rng.random() < 0.4)]
    rows = [(phase, src, dst, src, dst, 0, 1) for phase, (src, dst) in enumerate(pairs)]
    filled = _core.filled_channels(network, _core.Schedule.from_rows(network.ranks, 1, rows), exactly)
    expected = ByTheRule(network, pairs, exactly).filled()
    assert {channel for channel, is_filled in enumerate(filled) if is_filled} == expected
