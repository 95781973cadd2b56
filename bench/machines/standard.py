"""Messages of the algorithms that MPI libraries share, as Open MPI 4.1's and MPICH's sources have them.

``bytes`` is the vector of a rank: of what it sends to all, gets from all, or combines with all. Each function returns a
program of ``ranks`` ranks. Numbers of ranks that are no power of two fold the rest into it beforehand and unfold it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np
import peers

from model import Phase, Program, Ranks

Algorithm = Callable[[int, float], Program]
Partners = Callable[[int, int], tuple[Ranks, Ranks]]  # of ranks and step: who sends to whom
SEGMENT: Final = 65536  # bytes of a piece of a pipelined tree


def _doubling(ranks: int, bytes: float, partners: Partners) -> list[Phase]:
    block = bytes / ranks
    return [Phase(*partners(ranks, s), blocks * block) for s, blocks in enumerate(peers.halves(ranks))]


def _halving(ranks: int, bytes: float, partners: Partners, *, far_first: bool) -> list[Phase]:
    sizes = [blocks * bytes / ranks for blocks in reversed(peers.halves(ranks))]
    steps = range(len(sizes))
    return [
        Phase(*partners(ranks, s), size, combined=size)
        for s, size in zip(reversed(steps) if far_first else steps, sizes, strict=True)
    ]


def _folded(ranks: int, bytes: float, combined: bool) -> list[Phase]:
    """Messages that ranks beyond a power of two give their neighbours first, and get back in the end."""
    if ranks & (ranks - 1) == 0:
        return []
    rest = ranks - (1 << (ranks.bit_length() - 1))
    odd = np.arange(rest) * 2
    there = Phase(odd + 1, odd, bytes, combined=bytes if combined else 0)
    return [there, Phase(odd, odd + 1, bytes)]


def all_gather_ring(ranks: int, bytes: float) -> Program:
    block = bytes / ranks
    return Program([Phase(stream=0, copied=block), Phase(*peers.shift(ranks, 1), block, times=ranks - 1)])


def all_gather_doubling(ranks: int, bytes: float) -> Program:
    return Program([*_doubling(ranks, bytes, peers.exchange), *_folded(ranks, bytes / 2, False)])


def all_gather_neighbours(ranks: int, bytes: float) -> Program:
    every = np.arange(ranks)
    even, odd = every ^ 1, np.where(every % 2 == 0, every - 1, every + 1) % ranks
    even = np.minimum(even, ranks - 1)
    block, rounds = bytes / ranks, ranks // 2
    phases = [Phase(every, even, block), Phase(every, odd, 2 * block, times=rounds // 2)]
    return Program([*phases, Phase(every, even, 2 * block, times=max(rounds - 1 - rounds // 2, 0))])


def all_gather_bruck(ranks: int, bytes: float) -> Program:
    phases = _doubling(ranks, bytes, lambda ranks, step: peers.shift(ranks, -(1 << step)))
    return Program([*phases, Phase(copied=1.5 * bytes)], ((bytes, bytes),))


def all_gather_sparbit(ranks: int, bytes: float) -> Program:
    """Doubling whose blocks are not neighbours: each is a message."""
    phases = _doubling(ranks, bytes, peers.exchange)
    return Program([replace(one, posts=one.bytes * ranks / bytes) for one in phases])


def all_gather_linear(ranks: int, bytes: float) -> Program:
    return Program([_everyone(ranks, bytes / ranks)])


def all_gather_bine(ranks: int, bytes: float, extra: str = "") -> Program:
    """``extra``: "permute" sorts blocks in the end; "send" moves a block to where it belongs first; "two" sends two
    ranges a step; "blocks" every block alone."""
    block = bytes / ranks
    phases = []
    for s, blocks in enumerate(peers.halves(ranks)):
        src, dst = peers.bine(ranks, s)
        pieces = {"two": min(2.0, blocks), "blocks": blocks}.get(extra, 1.0)
        phases.append(Phase(src, dst, blocks * block, pieces=pieces))
    if extra == "send":
        phases.insert(0, Phase(*peers.shift(ranks, ranks // 2), block))
    if extra == "permute":
        return Program([*phases, Phase(copied=bytes)], ((block, block),))
    return Program(phases)


def reduce_scatter_ring(ranks: int, bytes: float) -> Program:
    block = bytes / ranks
    turn = Phase(*peers.shift(ranks, 1), block, times=ranks - 1, combined=block)
    return Program([Phase(copied=bytes), turn], ((bytes, bytes), (block, block), (block, block)))


def _halved(bytes: float) -> tuple[tuple[float, float], ...]:
    """Buffers of a halving: one for all sums, one for what arrives, of which nested halves are used."""
    return (bytes, bytes), (bytes, bytes / 2)


def reduce_scatter_halving(
    ranks: int, bytes: float, partners: Partners = peers.exchange, *, far_first: bool = False
) -> Program:
    phases = _halving(ranks, bytes, partners, far_first=far_first)
    return Program([Phase(copied=bytes), *phases, *_folded(ranks, bytes, True)], _halved(bytes))


def reduce_scatter_blocks(ranks: int, bytes: float) -> Program:
    """Bine's halving, each block by itself."""
    sizes = list(reversed(peers.halves(ranks)))
    block = bytes / ranks
    phases = [
        Phase(*peers.bine(ranks, s), blocks * block, pieces=blocks, combined=blocks * block)
        for s, blocks in enumerate(sizes)
    ]
    return Program([Phase(copied=bytes), *phases], _halved(bytes))


def reduce_scatter_pairwise(ranks: int, bytes: float) -> Program:
    block = bytes / ranks
    return Program([*_shifts(ranks, block, combined=block), Phase(copied=block)], ((block, block),))


def all_reduce_ring(ranks: int, bytes: float) -> Program:
    block = bytes / ranks
    ring = peers.shift(ranks, 1)
    sums = Phase(*ring, block, times=ranks - 1, combined=block)
    return Program([Phase(copied=bytes), sums, Phase(*ring, block, times=ranks - 1)], ((block, block),) * 2)


def all_reduce_doubling(ranks: int, bytes: float, partners: Partners = peers.exchange) -> Program:
    phases = [Phase(*partners(ranks, s), bytes, combined=bytes) for s in range(peers.steps_of(ranks))]
    return Program([Phase(copied=bytes), *phases, *_folded(ranks, bytes, True)], ((bytes, bytes),))


def all_reduce_halving(
    ranks: int, bytes: float, partners: Partners = peers.exchange, copies: float = 1
) -> Program:
    """Rabenseifner: a reduce-scatter by halving, an all-gather by doubling."""
    there = _halving(ranks, bytes, partners, far_first=False)
    back = [Phase(one.src, one.dst, one.bytes) for one in reversed(there)]
    phases = [Phase(copied=copies * bytes), *there, *back, *_folded(ranks, bytes, True)]
    return Program(phases, _halved(bytes)[1:])


def all_to_all_pairwise(ranks: int, bytes: float) -> Program:
    block = bytes / ranks
    return Program([Phase(copied=block), *_shifts(ranks, block)])


def all_to_all_linear(ranks: int, bytes: float) -> Program:
    return Program([Phase(copied=bytes / ranks), _everyone(ranks, bytes / ranks)])


def all_to_all_bruck(ranks: int, bytes: float, partners: Partners | None = None) -> Program:
    phases = [
        Phase(*(partners(ranks, s) if partners else peers.shift(ranks, 1 << s)), bytes / 2, copied=bytes)
        for s in range(peers.steps_of(ranks))
    ]
    return Program([Phase(copied=2 * bytes), *phases], ((bytes, bytes),))


def bcast_binomial(ranks: int, bytes: float) -> Program:
    steps = [peers.exchange(ranks, s) for s in range(peers.steps_of(ranks))]
    return Program(_tree(ranks, [dst for _, dst in whole(ranks, steps)], bytes))


def bcast_bine(ranks: int, bytes: float) -> Program:
    """The farthest first, one child after the other."""
    steps = [peers.bine_far_first(ranks, s)[1] for s in range(peers.steps_of(ranks))]
    return Program(_tree(ranks, steps, bytes))


def bcast_linear(ranks: int, bytes: float) -> Program:
    others = np.arange(1, ranks)
    return Program([Phase(np.zeros_like(others), others, bytes, posts=ranks - 1)])


def bcast_pipelined(ranks: int, bytes: float, children: int) -> Program:
    """A chain of all ranks, or a tree of so many children, in segments: each host passes on to all its children."""
    segment = min(bytes, SEGMENT)
    depth = ranks - 1 if children == 1 else max(peers.steps_of(ranks) - 1, 1)
    times = bytes / segment + depth - 1
    return Program([Phase(stream=children * segment, times=times, posts=children, overlapped=True)])


def bcast_scatter_gather(gather: Algorithm) -> Algorithm:
    return lambda ranks, bytes: scatter_binomial(ranks, bytes).then(gather(ranks, bytes))


def scatter_binomial(ranks: int, bytes: float) -> Program:
    phases = []
    for s in reversed(range(peers.steps_of(ranks))):
        src = np.arange(0, ranks, 2 << s)
        src = src[src + (1 << s) < ranks]
        phases.append(Phase(src, src + (1 << s), bytes / ranks * min(1 << s, ranks - (1 << s))))
    return Program(phases)


def turned(there: Program, **other: float) -> list[Phase]:
    """Back from where messages went, last ones first."""
    return [replace(one, src=one.dst, dst=one.src, **other) for one in reversed(there.phases)]


def kept(tree: Algorithm) -> Algorithm:
    """A rank with others below it holds their blocks in memory of the call: half of all, at most."""
    return lambda ranks, bytes: replace(tree(ranks, bytes), temporary=((bytes / 2, bytes / 2),))


def gather_binomial(ranks: int, bytes: float) -> Program:
    return Program(turned(scatter_binomial(ranks, bytes)))


def gather_linear(ranks: int, bytes: float) -> Program:
    return Program(turned(scatter_linear(ranks, bytes)))


def scatter_linear(ranks: int, bytes: float) -> Program:
    others = np.arange(1, ranks)
    there = Phase(np.zeros_like(others), others, bytes / ranks, posts=(ranks - 1) / 2, peers=ranks - 1)
    return Program([there])


def reduce_binomial(ranks: int, bytes: float) -> Program:
    return Program(turned(bcast_binomial(ranks, bytes), combined=bytes), ((bytes, bytes),) * 2)


def reduce_linear(ranks: int, bytes: float) -> Program:
    arrive = turned(bcast_linear(ranks, bytes), posts=1, combined=(ranks - 1) * bytes)
    return Program(arrive, ((bytes, bytes),))


def reduce_pipelined(ranks: int, bytes: float, children: int) -> Program:
    """A broadcast turned round: a host takes from its children one after the other, combines, and passes on."""
    (step,) = bcast_pipelined(ranks, bytes, children).phases
    share, posts = step.stream / children, children + 1
    step = replace(step, stream=posts * share, posts=posts, combined=step.stream, overlapped=False)
    return Program([step], ((bytes, bytes),))


def reduce_scatter_then_gather(ranks: int, bytes: float) -> Program:
    return reduce_scatter_halving(ranks, bytes).then(gather_binomial(ranks, bytes))


MOST_SHIFTS: Final = 64  # that stand for all, if there are more
MOST_PAIRS: Final = 1 << 18  # of ranks, if there are so many that fewer shifts must do


def _chosen(ranks: int) -> Ranks:
    """Shifts 1, 2, …, evenly chosen."""
    most = min(MOST_SHIFTS, max(MOST_PAIRS // ranks, 4), ranks - 1)
    return np.unique(np.linspace(1, ranks - 1, most).round().astype(np.int64))


def _everyone(ranks: int, block: float) -> Phase:
    chosen = _chosen(ranks)
    src = np.repeat(np.arange(ranks), len(chosen))
    dst = (src + np.tile(chosen, ranks)) % ranks
    return Phase(src, dst, block, posts=ranks - 1, peers=ranks - 1, weight=(ranks - 1) / max(len(chosen), 1))


def _shifts(ranks: int, block: float, combined: float = 0) -> list[Phase]:
    """Phases in which all pass on by 1, by 2, …"""
    chosen = _chosen(ranks)
    same = {"times": (ranks - 1) / max(len(chosen), 1), "combined": combined, "peers": ranks - 1}
    return [Phase(*peers.shift(ranks, int(by)), block, **same) for by in chosen]


def whole(ranks: int, steps: list[tuple[Ranks, Ranks]]) -> list[tuple[Ranks, Ranks]]:
    """Partners of all ranks: itself for those that have none."""
    found = []
    for src, dst in steps:
        every = np.arange(ranks)
        every[src] = dst
        found.append((np.arange(ranks), every))
    return found


def _tree(ranks: int, partners: list[Ranks], bytes: float) -> list[Phase]:
    return [Phase(src, dst, bytes) for src, dst in peers.tree(partners) if len(src)]
