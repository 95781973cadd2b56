"""Tori, meshes and hypercubes of the core: routes, ties, loads."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from strategies import shortest_hops

GRIDS = [
    ("torus", [5]),
    ("torus", [2]),
    ("torus", [1, 3]),
    ("torus", [4, 4]),
    ("torus", [2, 3, 4]),
    ("torus", [6, 5]),
    ("mesh", [6]),
    ("mesh", [3, 5]),
    ("mesh", [2, 2, 3]),
    ("hypercube", [0]),
    ("hypercube", [1]),
    ("hypercube", [4]),
]


def coordinates(node: int, sides: list[int]) -> list[int]:
    found = []
    for side in reversed(sides):
        found.append(node % side)
        node //= side
    return found[::-1]


def expected_walk(network: _core.Network, sides: list[int], src: int, dst: int) -> list[list[int]]:
    """The nodes from src to dst, as coordinates: dimension by dimension, the shorter way, ties by table."""
    at, to = coordinates(src, sides), coordinates(dst, sides)
    walk = [at[:]]
    for d, side in enumerate(sides):
        gap = (to[d] - at[d]) % side
        up = to[d] > at[d]
        if network.shape == _core.Shape.torus:
            up = 2 * gap < side or (2 * gap == side and (side == 2 or network.ties[d][at[d]] == "+"))
        while at[d] != to[d]:
            at[d] = (at[d] + (1 if up else -1)) % side
            walk.append(at[:])
    return walk


def check_routes(network: _core.Network, shape: list[int]) -> None:
    ends = [end for a, b in network.links for end in ((a, b), (b, a))]
    distance = shortest_hops(network)
    for src, dst in itertools.product(range(network.ranks), repeat=2):
        route = network.route(src, dst)
        walk = [coordinates(node, shape) for node in [src, *(ends[channel][1] for channel in route)]]
        assert all(ends[x][1] == ends[y][0] for x, y in itertools.pairwise(route))
        assert walk == expected_walk(network, shape, src, dst)
        assert len(route) == distance[src][dst]


def has_ties(side: int) -> bool:
    return side > 2 and side % 2 == 0


@st.composite
def tie_tables(draw: st.DrawFn) -> tuple[list[int], list[str]]:
    """Sides of a small torus, and any ties."""
    sides = draw(st.lists(st.integers(1, 8), min_size=1, max_size=3).filter(lambda s: math.prod(s) <= 48))
    rows = [
        "".join(draw(st.lists(st.sampled_from("+-"), min_size=side, max_size=side))) if has_ties(side) else ""
        for side in sides
    ]
    return sides, rows


def walked_loads(network: _core.Network) -> list[int]:
    load = [0] * network.channels
    for src, dst in itertools.permutations(range(network.ranks), 2):
        for channel in network.route(src, dst):
            load[channel] += 1
    return load


def bounds_of(network: _core.Network) -> _core.Bounds:
    return _core.lower_bounds(network, _core.Demand(network.ranks, 1000))


def pairs(load: list[int]) -> list[tuple[int, int]]:
    """Both directions of every link."""
    return list(zip(load[::2], load[1::2], strict=True))


@pytest.mark.parametrize(("kind", "sides"), GRIDS, ids=str)
def test_grids_route_dimension_by_dimension_the_shorter_way(kind: str, sides: list[int]) -> None:
    network = _core.Network.grid(kind, sides, 1e9, 1e-6)
    shape = [2] * sides[0] if kind == "hypercube" else sides
    assert network.ranks == math.prod(shape)
    assert len(set(map(frozenset, network.links))) == len(network.links)
    check_routes(network, shape)


@settings(max_examples=60, deadline=None)
@given(tie_tables())
def test_ties_follow_the_table_and_routes_stay_minimal(drawn: tuple[list[int], list[str]]) -> None:
    sides, rows = drawn
    network = _core.Network.grid("torus", sides, 1e9, 1e-6, ties=rows)
    assert network.ties == rows
    check_routes(network, sides)


@pytest.mark.parametrize(
    ("rule", "side", "row"),
    [("parity", 8, "+-+-+-+-"), ("parity", 6, "+-+-+-"), ("up", 4, "++++"), ("up", 2, ""), ("parity", 5, "")],
)
def test_rules_of_ties(rule: str, side: int, row: str) -> None:
    assert _core.Network.ties_by_rule(rule, [side, 3]) == [row, ""]


def test_parity_is_the_default_and_other_rules_are_refused() -> None:
    for sides in ([4, 6], [3, 2, 8]):
        assert _core.Network.grid("torus", sides, 1e9, 0).ties == _core.Network.ties_by_rule("parity", sides)
    assert _core.Network.grid("mesh", [4, 6], 1e9, 0).ties == []
    with pytest.raises(_core.InputError, match="no rule 'down' for ties"):
        _core.Network.ties_by_rule("down", [4])


@pytest.mark.parametrize(
    ("kind", "ties", "complaint"),
    [
        ("torus", ["+-+-"], "one row of ties per side"),
        ("torus", ["+-+", ""], "the ties of side 1 are not 4 signs"),
        ("torus", ["+-+-", "+"], "the ties of side 2 are not 0 signs"),
        ("torus", ["+-+x", ""], "the ties of side 1 are not 4 signs"),
        ("mesh", ["+-+-", ""], "only a torus has ties"),
    ],
)
def test_impossible_ties(kind: str, ties: list[str], complaint: str) -> None:
    with pytest.raises(_core.NetworkProblem, match=complaint):
        _core.Network.grid(kind, [4, 3], 1e9, 0, ties=ties)


@pytest.mark.parametrize("side", [4, 8, 12, 16])
@pytest.mark.parametrize("rows", [1, 3])
def test_parity_loads_rings_of_multiples_of_4_evenly(side: int, rows: int) -> None:
    """Every channel of the ring carries side²/8 messages per row of other coordinates, the mean."""
    network = _core.Network.grid("torus", [side, rows], 1e9, 0)
    ring = [
        load
        for (a, b), pair in zip(network.links, pairs(bounds_of(network).load), strict=True)
        if b % rows == a % rows
        for load in pair
    ]
    assert set(ring) == {rows * side * side // 8}


@pytest.mark.parametrize("side", [4, 6, 8, 10])
def test_ties_that_go_up_load_the_ring_unevenly(side: int) -> None:
    network = _core.Network.grid("torus", [side], 1e9, 0, ties=_core.Network.ties_by_rule("up", [side]))
    half = side // 2
    assert max(bounds_of(network).load) == half * (half + 1) // 2
    assert min(bounds_of(network).load) == half * (half - 1) // 2


@pytest.mark.parametrize("side", [6, 10, 14])
def test_parity_is_even_to_one_message_where_the_mean_is_no_whole_number(side: int) -> None:
    load = bounds_of(_core.Network.grid("torus", [side], 1e9, 0)).load
    assert max(load) - min(load) == 1
    assert sum(load) / len(load) == side * side / 8


@settings(max_examples=60, deadline=None)
@given(tie_tables(), st.integers(1, 3))
def test_loads_of_tori_are_those_of_their_routes(drawn: tuple[list[int], list[str]], ranks: int) -> None:
    sides, rows = drawn
    network = _core.Network.grid("torus", sides, 1e9, 0, ties=rows, ranks=ranks)
    assert bounds_of(network).load == walked_loads(network)


@pytest.mark.parametrize(("kind", "sides"), GRIDS, ids=str)
def test_loads_of_grids_are_those_of_their_routes(kind: str, sides: list[int]) -> None:
    for ranks in (1, 2):
        network = _core.Network.grid(kind, sides, 1e9, 0, ranks=ranks)
        assert bounds_of(network).load == walked_loads(network)


@pytest.mark.parametrize("sides", [[0], [3, 0], [], [2**21], [2**11, 2**11]], ids=str)
def test_impossible_grids(sides: list[int]) -> None:
    for kind in ("torus", "mesh"):
        with pytest.raises(_core.NetworkProblem):
            _core.Network.grid(kind, sides, 1e9, 0)


def test_impossible_hypercubes() -> None:
    for sides in ([], [21], [2, 2], [2**32 - 1]):
        with pytest.raises(_core.NetworkProblem, match="hypercube"):
            _core.Network.grid("hypercube", sides, 1e9, 0)
    with pytest.raises(_core.InputError, match="not torus, mesh or hypercube"):
        _core.Network.grid("ring", [3], 1e9, 0)
