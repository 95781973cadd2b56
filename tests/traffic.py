"""Random irregular demands: seeded, and as a hypothesis strategy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

from hypothesis import strategies as st

from hocket import _core

Message = tuple[int, int, int]  # sender, receiver, bytes
UNIT = 4096


def demand_of(ranks: int, messages: Iterable[Message]) -> _core.Demand:
    rows = list(messages)
    return _core.Demand.irregular(ranks, [m[0] for m in rows], [m[1] for m in rows], [m[2] for m in rows])


def regular(rng: Random, ranks: int, degree: int, size: Callable[[Random], int] = lambda _: UNIT) -> _core.Demand:
    """Every rank sends to `degree` random others and receives from as many (test set 1)."""
    order = rng.sample(range(ranks), ranks)
    shifts = rng.sample(range(1, ranks), degree)
    pairs = [[order[i], order[(i + shift) % ranks]] for i in range(ranks) for shift in shifts]
    taken = {(src, dst) for src, dst in pairs}
    for _ in range(4 * len(pairs)):  # two messages exchange receivers: degrees stay, the pattern goes
        one, two = rng.choice(pairs), rng.choice(pairs)
        new = {(one[0], two[1]), (two[0], one[1])}
        if one[0] == two[1] or two[0] == one[1] or new & taken:
            continue
        taken -= {(one[0], one[1]), (two[0], two[1])}
        taken |= new
        one[1], two[1] = two[1], one[1]
    return demand_of(ranks, ((src, dst, size(rng)) for src, dst in pairs))


def units(most: int) -> Callable[[Random], int]:
    """1 … most units, all alike."""
    return lambda rng: UNIT * rng.randint(1, most)


def skewed(rng: Random) -> int:
    """Many small and few large messages, no common unit."""
    return min(1 << 22, int(UNIT / (1 - rng.random()) ** 0.8))


def _pairs(rng: Random, ranks: int, kind: str) -> list[tuple[int, int]]:
    everything = [(src, dst) for src in range(ranks) for dst in range(ranks)]
    if kind == "one message":
        return rng.sample(everything, 1)
    if kind == "to one rank":
        return [(src, 0) for src in range(ranks)]
    if kind == "from one rank":
        return [(ranks - 1, dst) for dst in range(ranks)]
    if kind == "empty rows":
        some = set(rng.sample(range(ranks), (ranks + 1) // 2))
        return [(src, dst) for src, dst in everything if src in some]
    share = {"dense": 1.0, "sparse": 2 / ranks, "half": 0.5}[kind]
    return [pair for pair in everything if rng.random() < share]


KINDS = ("dense", "sparse", "half", "one message", "to one rank", "from one rank", "empty rows")
SIZES: dict[str, Callable[[Random], int]] = {
    "equal": lambda _: UNIT,
    "units": units(8),
    "zeros": lambda rng: rng.choice([0, 0, UNIT]),
    "bytes": lambda rng: rng.randint(1, 100_000),
    "skewed": lambda rng: rng.choice([1, 3, 1 << 40]),
}


def random_demand(rng: Random, ranks: int, kind: str, sizes: str) -> _core.Demand:
    return demand_of(ranks, ((src, dst, SIZES[sizes](rng)) for src, dst in _pairs(rng, ranks, kind)))


def demand_makers() -> st.SearchStrategy[Callable[[int], _core.Demand]]:
    """Functions from the number of ranks to a demand."""

    def maker(drawn: tuple[str, str, int]) -> Callable[[int], _core.Demand]:
        kind, sizes, seed = drawn
        return lambda ranks: random_demand(Random(seed), ranks, kind, sizes)

    return st.tuples(st.sampled_from(KINDS), st.sampled_from(sorted(SIZES)), st.integers(0, 2**32 - 1)).map(maker)


def port_sums(demand: _core.Demand) -> tuple[int, int]:
    """Most messages, and most bytes, of one sender or one receiver."""
    count: dict[tuple[str, int], int] = {}
    total: dict[tuple[str, int], int] = {}
    for src, dst, size in demand.list():
        for port in (("out", src), ("in", dst)):
            count[port] = count.get(port, 0) + 1
            total[port] = total.get(port, 0) + size
    return max(count.values(), default=0), max(total.values(), default=0)
