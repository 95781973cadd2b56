"""Every algorithm on every ring up to 256 processors, and on cubes up to 1,024: executed, its counted time is
what its formula says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hocket._papers import gossip

# Sides with which cubes of so many dimensions have at most 1,024 processors; the others are in `make test-slow`.
SIDES: dict[int, tuple[list[int], list[int]]] = {
    2: ([*range(2, 17), 20, 32], [*range(17, 20), *range(21, 32)]),
    3: ([*range(2, 7), 10], [7, 8, 9]),
    4: ([2, 3, 4], [5]),
    5: ([2, 3], [4]),
}


def check(sides: list[int], r: float, wraparound: bool = True, half_duplex: bool = False) -> None:
    for shared in (False, True):
        if half_duplex and shared:
            continue
        plans = gossip.candidates(sides, r, wraparound=wraparound, shared=shared, half_duplex=half_duplex)
        for plan in plans:
            if shared and plan.name != "StrideGos":
                continue
            proof = gossip.prove(sides, plan, wraparound=wraparound, half_duplex=half_duplex)
            volume = proof["shared_volume" if shared else "strict_volume"]
            case = (sides, r, plan.name)
            assert proof["complete"] and proof["held"] and proof["ports_respected"], (case, proof)
            assert proof["link_disjoint"] or shared, case
            assert proof["steps"] * r + volume == pytest.approx(plan.time, rel=1e-9), case
            assert plan.time >= plan.bound * (1 - 1e-9), case


# Long rings are sampled, every eleventh or nineteenth, among them odd, even and prime ones; the others are in
# `make test-slow`.
@pytest.mark.parametrize("r", [1.0, 16.0])
@pytest.mark.parametrize(
    ("first", "last", "every"),
    [
        *((n, n + 31, 1) for n in range(1, 65, 32)),
        (65, 256, 11),
        *(pytest.param(n, n + 31, 1, marks=pytest.mark.slow) for n in range(65, 257, 32)),
    ],
)
def test_every_ring_up_to_256(first: int, last: int, every: int, r: float) -> None:
    for n in range(first, last + 1, every):
        check([n], r)


# Where a step costs as much as many bytes, StrideGos is searched for long.
@pytest.mark.parametrize(
    ("first", "last", "every"),
    [
        (1, 32, 1),
        (33, 256, 19),
        *(pytest.param(n, n + 31, 1, marks=pytest.mark.slow) for n in range(33, 257, 32)),
    ],
)
def test_rings_with_costly_steps(first: int, last: int, every: int) -> None:
    for n in range(first, last + 1, every):
        check([n], 256.0)


@pytest.mark.parametrize("n", [2, 3, 5, 16, 31, 64, 100, 127, 128, 200])
def test_arrays_and_half_duplex(n: int) -> None:
    check([n], 16.0, wraparound=False)
    check([n], 16.0, half_duplex=True)
    check([n], 16.0, wraparound=False, half_duplex=True)


@pytest.mark.parametrize("r", [2.0, 64.0])
@pytest.mark.parametrize(
    ("dimensions", "sides"),
    [
        case
        for dimensions, (usual, more) in SIDES.items()
        for case in ((dimensions, usual), pytest.param(dimensions, more, marks=pytest.mark.slow))
    ],
    ids=lambda value: str(len(value)) if not isinstance(value, int) else str(value),
)
def test_every_cube_up_to_1024(dimensions: int, sides: Sequence[int], r: float) -> None:
    for side in sides:
        check([side] * dimensions, r)
        if side**dimensions <= 256:
            check([side] * dimensions, r, wraparound=False)


@pytest.mark.parametrize(
    "sides", [[2, 9], [4, 6], [5, 7], [12, 20], [3, 4, 5], [8, 4, 8, 2], [31, 33], [2, 512]]
)
def test_unequal_sides(sides: list[int]) -> None:
    check(sides, 16.0)
