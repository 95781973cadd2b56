"""Coordinates of the nodes of a torus, mesh or hypercube, which are numbered in row-major order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hocket._core import Network


def sides_of(network: Network) -> list[int]:
    """Length of each dimension, also for a hypercube; empty for networks of other shapes."""
    return [2] * network.sides[0] if network.shape.name == "hypercube" else list(network.sides)


def coordinates_of(node: int, sides: Sequence[int]) -> tuple[int, ...]:
    found = []
    for side in reversed(sides):
        node, coordinate = divmod(node, side)
        found.append(coordinate)
    return tuple(reversed(found))


def node_at(coordinates: Iterable[int], sides: Sequence[int]) -> int:
    node = 0
    for coordinate, side in zip(coordinates, sides, strict=True):
        node = node * side + coordinate
    return node


def dimension_of(link: tuple[int, int], sides: Sequence[int]) -> int:
    """The dimension along which two neighbours are linked, from 0."""
    a, b = (coordinates_of(node, sides) for node in link)
    return next(dimension for dimension in range(len(sides)) if a[dimension] != b[dimension])
