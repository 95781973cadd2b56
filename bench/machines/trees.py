"""Trees of Open MPI that pass on whole vectors: without segments, as it and PICO's scripts have it by default."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import peers
from standard import Partners, turned, whole

from model import Phase, Program, Ranks


def bcast_at_once(ranks: int, bytes: float, partners: Partners) -> Program:
    """A tree as Open MPI walks it without segments: a rank that has all sends it to all its children at once, which
    share its interface."""
    steps = whole(ranks, [partners(ranks, s) for s in range(peers.steps_of(ranks))])
    return Program(_levels(ranks, list(peers.tree([dst for _, dst in steps])), bytes))


def _levels(ranks: int, steps: Sequence[tuple[Ranks, Ranks]], bytes: float) -> list[Phase]:
    depth = np.zeros(ranks, np.int64)
    for src, dst in steps:
        depth[dst] = depth[src] + 1
    src, dst = (np.concatenate([step[end] for step in steps]) for end in (0, 1))
    phases = []
    for level in range(depth.max()):
        here = depth[src] == level
        most = float(np.bincount(src[here]).max())
        phases.append(Phase(src[here], dst[here], bytes, posts=most))
    return phases


def bcast_knomial(ranks: int, bytes: float, radix: int) -> Program:
    """A tree in which a rank has up to ``radix`` - 1 children a level, to all of which it sends at once."""
    steps, reach = [], 1
    while reach < ranks:
        reach *= radix
    while reach > 1:
        reach //= radix
        src = np.arange(0, ranks, reach * radix)
        for by in range(reach, reach * radix, reach):
            steps.append((src[src + by < ranks], src[src + by < ranks] + by))
    return Program(_levels(ranks, [step for step in steps if len(step[0])], bytes))


def binary_steps(ranks: int) -> list[tuple[Ranks, Ranks]]:
    """Open MPI's tree of two children: those of a rank of level l are 2^l and 2^(l+1) further."""
    steps = []
    for level in range(peers.steps_of(ranks + 1)):
        src = np.arange((1 << level) - 1, (2 << level) - 1)
        for further in (1 << level, 2 << level):
            there = src + further < ranks
            if there.any():
                steps.append((src[there], src[there] + further))
    return steps


def bcast_binary(ranks: int, bytes: float) -> Program:
    return Program(_levels(ranks, binary_steps(ranks), bytes))


def bcast_split_binary(ranks: int, bytes: float) -> Program:
    """Half of the vector goes down each half of the tree; then pairs of ranks of both exchange halves."""
    pairs = Phase(*peers.exchange(ranks, 0), bytes / 2)
    return Program([*_levels(ranks, binary_steps(ranks), bytes / 2), pairs])


def unsegmented(ranks: int, bytes: float, chains: int, combine: bool) -> Program:
    """A chain, or several, in which each rank passes the whole vector on."""
    combined = bytes if combine else 0
    first = Phase(stream=chains * bytes, combined=chains * combined, posts=chains)
    rest = Phase(stream=bytes, times=max(math.ceil((ranks - 1) / chains) - 1, 0), combined=combined)
    return Program([first, rest], ((bytes, bytes),) * 2 if combine else ())


def reduce_binary(ranks: int, bytes: float) -> Program:
    """Open MPI's, without segments: both children's vectors arrive at once."""
    phases = turned(bcast_binary(ranks, bytes))
    return Program([replace(one, combined=one.posts * bytes) for one in phases], ((bytes, bytes),) * 2)
