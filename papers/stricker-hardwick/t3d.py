"""The all-to-alls of Stricker and Hardwick's talk on the Cray T3D, as schedules for the wormhole model.

``simulate_stage(stage)`` gives the simulation of one row of the talk's table; ``STAGES`` are the rows.

The machine. "8x4x8x2" is a torus of 8 × 4 × 8 switches with two processors at each (the talk: "dimension
order routing on a 3-dimensional torus"), whose links carry 2 · 75 MB/s in each direction. So 75 MB/s per
processor is the most that an all-to-all can reach: a ring of 8 carries 8²/8 = 8 messages per pair of
coordinates, 8 · 64 · 2 messages of two processors on a link of 150 MB/s.

The talk prints no patterns. What "simple" means here, and every parameter, is this file's choice.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hocket import _core, _papers

LIMIT = 75e6  # bytes/s per processor
Ring = list[list[int]]  # permutations: destination coordinate per source coordinate


@dataclass(frozen=True, slots=True)
class Machine:
    """One set of parameters for all rows."""

    sides: tuple[int, ...] = (8, 4, 8)
    link_rate: float = 2 * LIMIT  # bytes/s on the wire, each direction
    link_latency: float = 20e-9  # s
    block: int = 2048  # bytes from each processor to each
    payload: int = 32  # bytes per packet (the talk)
    header: float = 3  # bytes per packet: 32 / 35 of 75 MB/s are the 69 MB/s of the talk's model for blocks
    train: int = 4
    buffer: int = 16  # packets per virtual channel
    lanes: int = 2  # with the two classes of a ring four virtual channels, as the T3D has
    virtual_channels: str = "balanced"
    arbitration: str = "oldest-first"
    injection_rate: float = 130e6  # bytes/s of a switch's port, which its two processors share
    alpha: float = 1e-6  # s per message
    barrier: float = 1e-6  # s
    final_alpha: float = 0.5e-6  # s per message in the row "final"
    seed: int = 1  # of the order of destinations without phases

    @property
    def ranks(self) -> int:
        count = 2
        for side in self.sides:
            count *= side
        return count

    def network(self, balanced: bool) -> _core.Network:
        """Half-way round: always up, or by the tables under which ``even_ring`` is free of contention."""
        ties = ["" if side <= 2 else {4: "+-+-", 8: "++--++--"}[side] if balanced else "+" * side
                for side in self.sides]  # fmt: skip
        return _core.Network.grid("torus", list(self.sides), self.link_rate, self.link_latency, [], 2, ties)

    def parameters(self, alpha: float | None = None) -> _papers.WormholeParameters:
        return _papers.WormholeParameters(
            payload=self.payload, header=self.header, train=self.train, buffer=self.buffer, lanes=self.lanes,
            virtual_channels=self.virtual_channels, arbitration=self.arbitration,
            injection_rate=self.injection_rate, ejection_rate=self.injection_rate,
            alpha=self.alpha if alpha is None else alpha, barrier=self.barrier,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stage:
    """A row of the table."""

    name: str
    percent: float  # of 75 MB/s, in the talk
    pattern: str
    balanced: bool  # ties
    flow: str = "barrier"
    final: bool = False


STAGES = (
    Stage("no phases", 41, "own order", False, "free"),
    Stage("phased", 55, "exchanges", False),
    Stage("pattern fixed", 62, "tied", False),
    Stage("router fixed", 73, "even", True),
    Stage("final", 74, "even", True, final=True),
)


def shifts(side: int) -> Ring:
    return [[(x + s) % side for x in range(side)] for s in range(side)]


def even_ring(side: int) -> Ring:
    """Permutations of a ring, each free of contention with the ties of ``Machine.network(balanced=True)``."""
    if side != 8:
        return shifts(side)
    rings = []
    for r in range(4):  # lengths 1, 3, 1, 3 up; the same down among the others
        ring = [0] * 8
        up = sorted((r + i) % 8 for i in (0, 1, 4, 5))
        down = sorted(set(range(8)) - set(up), reverse=True)
        for members in (up, down):
            for i, x in enumerate(members):
                ring[x] = members[(i + 1) % 4]
        rings.append(ring)
    for r, x in ((0, 7), (1, 6), (4, 3), (5, 2)):  # lengths 2, 2, 4 up; the same down; two stay
        ring = list(range(8))
        for first, sense in ((r, 1), (x, -1)):
            a, b, c = first, (first + 2 * sense) % 8, (first + 4 * sense) % 8
            ring[a], ring[b], ring[c] = b, c, a
        rings.append(ring)
    return rings


def tied_ring(side: int) -> Ring:
    """Permutations that load a ring as evenly as can be where ties always go up, which is 10 hops per channel
    and 8 permutations on the ring of 8: six use every channel up once, the last two twice. Found by search
    (exact cover of all pairs by permutations that load all channels up alike)."""
    if side == 8:
        texts = "13762405 27415036 46137250 51604327 60271543 75023614 32540761 04356172"
    elif side == 4:
        texts = "1230 3012 2103 0321"
    else:
        return shifts(side)
    return [[int(x) for x in text] for text in texts.split()]


def exchanges(side: int) -> Ring:
    """Permutation c pairs x with c - x."""
    return [[(c - x) % side for x in range(side)] for c in range(side)]


def opposite_shifts(side: int) -> Ring:
    """Even coordinates shift up, odd ones down."""
    return [[(x + (s if x % 2 == 0 else -s)) % side for x in range(side)] for s in range(side)]


def half_way(sides: Sequence[int], choice: Sequence[int]) -> tuple[int, ...]:
    """The second processor's permutations: those half a ring on, so that the two load different links."""
    return tuple((k + side // 2) % side for side, k in zip(sides, choice, strict=True))


def reversed_sides(sides: Sequence[int], choice: Sequence[int]) -> tuple[int, ...]:
    """The second processor takes on the last side what the first takes on the first side, and so on:
    where one loads a ring twice, the other seldom does."""
    if tuple(sides) != tuple(reversed(sides)):
        return half_way(sides, choice)
    return tuple(reversed(choice))


def alike(sides: Sequence[int], choice: Sequence[int]) -> tuple[int, ...]:
    return tuple(choice)


PATTERNS: dict[
    str, tuple[Callable[[int], Ring], Callable[[Sequence[int], Sequence[int]], tuple[int, ...]]]
] = {
    "same shifts": (shifts, alike),
    "exchanges": (exchanges, half_way),
    "tied": (tied_ring, reversed_sides),
    "even": (even_ring, half_way),
}


def product(machine: Machine, pattern: str) -> _core.Schedule:
    """A phase for each choice of one permutation per side, and for the same or the other processor."""
    make, partner = PATTERNS[pattern]
    sides, block = machine.sides, machine.block
    rings = [make(side) for side in sides]
    hosts = list(itertools.product(*map(range, sides)))
    rows = []
    phase = 0
    for choice in itertools.product(*map(range, sides)):
        other = partner(sides, choice)
        for swap in (0, 1):
            for host, place in enumerate(hosts):
                for p, chosen in enumerate((choice, other)):
                    src, dst = 2 * host + p, 0
                    for side, ring, k, x in zip(sides, rings, chosen, place, strict=True):
                        dst = dst * side + ring[k][x]
                    dst = 2 * dst + (p ^ swap)
                    if src != dst:
                        rows.append((phase, src, dst, src, dst, 0, block))
            phase += 1
    return _core.Schedule.from_rows(machine.ranks, block, rows)


def own_order(machine: Machine) -> _core.Schedule:
    """Every processor loops through all others in a random order of its own."""
    ranks, block = machine.ranks, machine.block
    order = random.Random(machine.seed)
    rows = []
    for src in range(ranks):
        destinations = [dst for dst in range(ranks) if dst != src]
        order.shuffle(destinations)
        rows += [(k, src, dst, src, dst, 0, block) for k, dst in enumerate(destinations)]
    rows.sort()
    return _core.Schedule.from_rows(ranks, block, rows)


def schedule_of(machine: Machine, pattern: str) -> _core.Schedule:
    return own_order(machine) if pattern == "own order" else product(machine, pattern)


def simulate_stage(stage: Stage, machine: Machine | None = None) -> tuple[_core.Schedule, _core.Simulation]:
    """The schedule of a row and its simulation: ``posted``, ``start`` and ``end`` per transfer."""
    machine = machine or Machine()
    schedule = schedule_of(machine, stage.pattern)
    parameters = machine.parameters(machine.final_alpha if stage.final else None)
    return schedule, _papers.simulate_wormhole(
        machine.network(stage.balanced), schedule, stage.flow, parameters
    )


def percent_of_limit(machine: Machine, result: _core.Simulation) -> float:
    """Bytes that a processor sends to others per second, in percent of 75 MB/s."""
    return 100 * (machine.ranks - 1) * machine.block / float(result.seconds) / LIMIT


def route_throughputs(machine: Machine, schedule: _core.Schedule, result: _core.Simulation) -> Any:
    """Bytes/s of every message between two switches, from its sender's first step to its last byte's arrival.

    Messages between the two processors of a switch cross no wire and are left out. A numpy array."""
    wired = [src // 2 != dst // 2 for src, dst in schedule.hops()]
    return (machine.block / (result.end - result.posted).clip(1e-12))[wired]


def phase_throughputs(machine: Machine, result: _core.Simulation) -> Any:
    """Bytes/s that a processor sends in each phase, without the barrier. A numpy array."""
    return machine.block / (result.phase_end - result.phase_start).clip(1e-12)


def flat_load(make: Callable[[int], Ring], balanced: bool, sides: tuple[int, ...] = (8, 4, 8, 2)) -> float:
    """The other reading of 8x4x8x2: four sides, every processor with 75 MB/s links of its own.

    Messages on the busiest channel in the mean of the phases, of one permutation per side each: nothing gets
    beyond 1 / that of the limit."""
    network = Machine(sides=sides).network(balanced)
    rings = [make(side) for side in sides]
    places = list(itertools.product(*map(range, sides)))
    routes: dict[tuple[int, int], list[int]] = {}
    most = 0
    for choice in itertools.product(*map(range, sides)):
        load = [0] * network.channels
        for src, place in enumerate(places):
            dst = 0
            for side, ring, k, x in zip(sides, rings, choice, place, strict=True):
                dst = dst * side + ring[k][x]
            if (src, dst) not in routes:
                routes[src, dst] = network.route(2 * src, 2 * dst)
            for channel in routes[src, dst]:
                load[channel] += 1
        most += max(load)
    return most / len(places)
