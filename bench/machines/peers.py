"""Partners of ranks, step by step: on a line, and on the grid of a torus's job."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from model import Ranks


def steps_of(ranks: int) -> int:
    return max(ranks - 1, 0).bit_length()


def halves(ranks: int) -> list[float]:
    """Blocks that travel in each step of doubling: 1, 2, 4, … until all are there."""
    sizes, have = [], 1
    while have < ranks:
        sizes.append(float(min(have, ranks - have)))
        have *= 2
    return sizes


def shift(ranks: int, by: int) -> tuple[Ranks, Ranks]:
    every = np.arange(ranks)
    return every, (every + by) % ranks


def exchange(ranks: int, step: int) -> tuple[Ranks, Ranks]:
    """Ranks whose numbers differ in bit ``step``; of ranks that are no power of two, those that have a partner."""
    every = np.arange(ranks)
    partner = every ^ (1 << step)
    return every[partner < ranks], partner[partner < ranks]


def bine_distance(step: int) -> int:
    """1, -1, 3, -5, 11, …: De Sensi et al., "Bine Trees" (SC 2025)."""
    return (1 - (2 << step) * (1 if step % 2 else -1)) // 3


def bine(ranks: int, step: int) -> tuple[Ranks, Ranks]:
    every = np.arange(ranks)
    distance = bine_distance(step)
    return every, np.where(every % 2 == 0, every + distance, every - distance) % ranks


def bine_far_first(ranks: int, step: int) -> tuple[Ranks, Ranks]:
    return bine(ranks, steps_of(ranks) - 1 - step)


def grid_steps(sides: tuple[int, ...], port: int) -> list[tuple[int, int]]:
    """Dimension, and step within it, of each step: dimensions in turn, the first by the port."""
    left = [steps_of(side) for side in sides]
    done = [0] * len(sides)
    order = []
    at = port % len(sides)
    while any(done[d] < left[d] for d in range(len(sides))):
        if done[at] < left[at]:
            order.append((at, done[at]))
            done[at] += 1
        at = (at + 1) % len(sides)
    return order


def grid_peers(sides: tuple[int, ...], port: int, step: int, family: str) -> Ranks:
    """The partner of every rank of a grid in a step of the port. Ports beyond the dimensions are mirrored."""
    axis, within = grid_steps(sides, port)[step]
    mirrored = -1 if port >= len(sides) else 1
    here = np.indices(sides)[axis].ravel()
    if family == "recdoub":
        distance = ((here ^ (1 << within)) - here) * mirrored
    else:
        distance = bine_distance(within) * mirrored * np.where(here % 2 == 0, 1, -1)
    return along(sides, axis, distance)


def along(sides: tuple[int, ...], axis: int, by: int | Ranks) -> Ranks:
    """The rank of a grid that lies so far from each rank along an axis."""
    at = np.indices(sides).reshape(len(sides), -1)
    at[axis] = (at[axis] + by) % sides[axis]
    return np.asarray(np.ravel_multi_index(tuple(at), sides), np.int64)


def tree(peers: list[Ranks], root: int = 0) -> Iterator[tuple[Ranks, Ranks]]:
    """Step by step, who passes on to whom, if all that are reached pass on to their partners."""
    reached = np.zeros(len(peers[0]) if peers else 1, bool)
    reached[root] = True
    for partner in peers:
        src = np.flatnonzero(reached)
        dst = partner[src]
        fresh = ~reached[dst]
        yield src[fresh], dst[fresh]
        reached[dst] = True
