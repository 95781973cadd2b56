"""The generalised diagonal: as many points as a hyperplane, one on each axis-parallel line."""

from __future__ import annotations

from itertools import product

import pytest
from hocket._papers import gossip

from hocket import _core


def test_the_diagonal_of_a_cube_of_four() -> None:
    text = "000 013 022 031 103 112 121 130 202 211 220 233 301 310 323 332"
    assert gossip.diagonal(4, 3) == [[int(digit) for digit in point] for point in text.split()]


@pytest.mark.parametrize(
    ("side", "dimensions"), [(n, d) for d in range(1, 6) for n in range(1, 9) if n**d <= 4096]
)
def test_one_point_on_each_line(side: int, dimensions: int) -> None:
    points = {tuple(point) for point in gossip.diagonal(side, dimensions)}
    assert len(points) == side ** (dimensions - 1)
    assert all(0 <= x < side for point in points for x in point)
    for axis in range(dimensions):
        for rest in product(range(side), repeat=dimensions - 1):
            line = [(*rest[:axis], x, *rest[axis:]) for x in range(side)]
            assert sum(point in points for point in line) == 1


@pytest.mark.parametrize(("side", "dimensions"), [(0, 2), (3, 0), (1000, 4), (1, 1000)])
def test_sizes_that_make_no_sense_are_refused(side: int, dimensions: int) -> None:
    with pytest.raises(_core.InputError):
        gossip.diagonal(side, dimensions)
