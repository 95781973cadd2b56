"""Schedules of all-gathers and reductions by hand and at random: the rows of ``_core.Schedule.from_rows``."""

from __future__ import annotations

from random import Random

from hocket import _core

Row = tuple[int, int, int, int, int, int, int]

EVERYONE = _core.EVERYONE


def ring(ranks: int, size: int) -> list[Row]:
    """Ring: in phase t rank p sends what began at p - t to p + 1."""
    return [
        (t, p, (p + 1) % ranks, (p - t) % ranks, EVERYONE, 0, size)
        for t in range(ranks - 1)
        for p in range(ranks)
    ]


def both_ways(ranks: int, size: int) -> list[Row]:
    """A ring in either direction at once, each for a part of every contribution."""
    cut = size // 3
    return [
        (t, p, (p + way) % ranks, (p - way * t) % ranks, EVERYONE, begin, end - begin)
        for t in range(ranks - 1)
        for p in range(ranks)
        for way, begin, end in ((1, 0, cut), (-1, cut, size))
    ]


def doubling(ranks: int, size: int) -> list[Row]:
    """Recursive doubling: in phase j rank p sends all it has to p XOR 2^j, as one message."""
    assert ranks & (ranks - 1) == 0
    return [
        (j, p, p ^ (1 << j), (p >> j << j) + i, EVERYONE, 0, size)
        for j in range(ranks.bit_length() - 1)
        for p in range(ranks)
        for i in range(1 << j)
    ]


def random_gossip(rng: Random, sizes: list[int]) -> list[Row]:
    """Random gossip: in every phase some ranks send random parts of what they hold to others that lack
    them."""
    ranks = len(sizes)
    cuts = [sorted({0, size, *(rng.randint(0, size) for _ in range(3))}) for size in sizes]
    parts = [(o, a, b - a) for o in range(ranks) for a, b in zip(cuts[o], cuts[o][1:], strict=False)]
    held = [{part for part in parts if part[0] == rank} for rank in range(ranks)]
    rows: list[Row] = []
    phase = 0
    while any(len(have) < len(parts) for have in held):
        before = [set(have) for have in held]
        sent = False
        for _ in range(rng.randint(1, 2 * ranks)):
            src, dst = rng.sample(range(ranks), 2)
            useful = sorted(before[src] - held[dst])
            if not useful or any(row[:3] == (phase, src, dst) for row in rows):
                continue
            for origin, offset, length in rng.sample(useful, rng.randint(1, len(useful))):
                rows.append((phase, src, dst, origin, EVERYONE, offset, length))
                held[dst].add((origin, offset, length))
            sent = True
        phase += sent
    return sorted(rows, key=lambda row: row[:2])


def turned(rows: list[Row]) -> list[Row]:
    """The reduce-scatter: the last phase first, and everything the other way."""
    last = max(row[0] for row in rows)
    return sorted(((last - t, b, a, *piece) for t, a, b, *piece in rows), key=lambda row: row[:2])


def all_reduce(rows: list[Row]) -> list[Row]:
    """The reduce-scatter, then the all-gather."""
    phases = 1 + max(row[0] for row in rows)
    return turned(rows) + [(phases + t, *rest) for t, *rest in rows]


def plan_of(
    network: _core.Network, rows: list[Row], size: int, sizes: list[int] | None = None, window: int = 2,
    pattern: str = "all-gather",
) -> _core.Plan:  # fmt: skip
    """A plan whose schedule the verifier finds complete (it may well be contended)."""
    schedule = _core.Schedule.from_rows(network.ranks, size, rows)
    demand = _core.Demand(network.ranks, size, pattern, sizes or [])
    certificate = _core.verify(network, demand, schedule)
    assert certificate.complete, certificate.findings
    waits = _core.Waits.derive(network, schedule, window)
    return _core.Plan(network, schedule, waits, demand, "by hand", 0, 0.0, 0.0)
