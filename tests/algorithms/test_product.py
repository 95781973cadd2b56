"""Products of the moves of single lines: tori, meshes, hypercubes. The verifier is the judge."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core

RATE = 125e6


def grid(kind: str, *sides: int, ranks: int = 1, ties: list[str] | None = None) -> _core.Network:
    return _core.Network.grid(kind, list(sides), RATE, 1e-6, ranks=ranks, **({"ties": ties} if ties else {}))


def planned(network: _core.Network) -> tuple[_core.Schedule, int]:
    """The product's schedule, proven, and the bound in phases."""
    demand = _core.Demand(network.ranks, 1)
    schedule = _core.Algorithm.find("product").make(network, demand)
    certificate = _core.verify(network, demand, schedule)
    assert certificate.ok, certificate.findings
    return schedule, _core.lower_bounds(network, demand).phases


@pytest.mark.parametrize(
    ("sides", "phases"),
    [((8, 4, 8, 2), 512), ((8, 8), 64), ((4, 4, 4), 63), ((8, 8, 4, 4), 1024), ((4, 4), 15), ((8,), 8)],
)
def test_the_tori_of_the_talk_meet_their_bound(sides: tuple[int, ...], phases: int) -> None:
    schedule, bound = planned(grid("torus", *sides))
    assert schedule.phases == bound == phases


@pytest.mark.parametrize("dimensions", [1, 2, 3, 6, 9])
def test_hypercubes_take_one_phase_per_partner(dimensions: int) -> None:
    schedule, bound = planned(grid("hypercube", dimensions))
    assert schedule.phases == bound == 2**dimensions - 1


def multiples_of_four(most: int) -> list[tuple[int, ...]]:
    """All tori of at most ``most`` hosts with such sides, smallest side first."""
    found: list[tuple[int, ...]] = []

    def extend(sides: tuple[int, ...]) -> None:
        for side in range(sides[-1] if sides else 4, most // math.prod(sides) + 1, 4):
            found.append((*sides, side))
            extend((*sides, side))

    extend(())
    return found


@pytest.mark.parametrize("sides", [s for s in multiples_of_four(400) if len(s) > 1], ids=str)
def test_multiples_of_four_meet_their_bound(sides: tuple[int, ...]) -> None:
    schedule, bound = planned(grid("torus", *sides))
    assert schedule.phases == bound


def test_the_order_of_the_sides_does_not_matter() -> None:
    for sides in [(20, 12), (12, 20), (12, 4, 12), (2, 12, 8)]:
        schedule, bound = planned(grid("torus", *sides))
        assert schedule.phases == bound


@pytest.mark.parametrize("sides", [(16, 16), (20, 20), (28, 28), (32, 32), (12, 36)], ids=str)
def test_long_rings_in_two_dimensions_keep_every_wire_busy(sides: tuple[int, ...]) -> None:
    schedule, bound = planned(grid("torus", *sides))
    assert schedule.phases == bound == math.prod(sides) * max(sides) // 8


@pytest.mark.parametrize("side", range(2, 13))
def test_rings_meet_their_bound(side: int) -> None:
    schedule, bound = planned(grid("torus", side))
    assert schedule.phases == bound
    if side % 2 == 1:
        assert bound == max(side - 1, (side * side - 1) // 8)


@pytest.mark.parametrize("side", [*range(2, 17), 20, 30, 45, 64])
def test_paths_meet_their_bound(side: int) -> None:
    schedule, bound = planned(grid("mesh", side))
    assert schedule.phases == bound == max(side - 1, (side // 2) * (side - side // 2))


@pytest.mark.parametrize(
    ("kind", "sides"),
    [
        ("torus", (5, 5)), ("torus", (7, 7)), ("torus", (3, 5, 7)), ("torus", (6, 6, 6)), ("torus", (2, 9, 10)),
        ("mesh", (5, 5)), ("mesh", (6, 6)), ("mesh", (7, 7)), ("mesh", (8, 8)), ("mesh", (6, 6, 6)),
        ("mesh", (9, 10)), ("mesh", (3, 51)), ("mesh", (3, 4, 5)), ("mesh", (16, 16)),
        *(
            pytest.param(kind, sides, marks=pytest.mark.slow)
            for kind, sides in [
                ("torus", (9, 9)), ("torus", (10, 10)), ("torus", (11, 11)), ("torus", (9, 12)), ("mesh", (5, 5, 5)),
            ]
        ),
    ],
)  # fmt: skip
def test_odd_unequal_and_prime_sides_stay_close_to_the_bound(kind: str, sides: tuple[int, ...]) -> None:
    schedule, bound = planned(grid(kind, *sides))
    assert bound <= schedule.phases <= 1.10 * bound


@pytest.mark.parametrize("ties", ["++++++++", "++--++--", "-+-+-+-+", "++++----", "+--+-+++"])
def test_any_tie_table_is_kept(ties: str) -> None:
    network = grid("torus", 8, 8, ties=[ties, "+-+-+-+-"])
    schedule, bound = planned(network)
    assert bound <= schedule.phases <= 1.25 * bound
    if ties.count("+") == 4 and ties[:4] == ties[4:]:
        assert schedule.phases == bound == 64


@given(
    st.sampled_from(["torus", "mesh"]),
    st.lists(st.integers(1, 9), min_size=1, max_size=4).filter(lambda sides: math.prod(sides) <= 100),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)
@settings(max_examples=60, deadline=None)
def test_every_small_grid_is_proven(kind: str, sides: list[int], ranks: int, random: st.randoms) -> None:
    ties = [
        "".join(random.choice("+-") for _ in range(side)) if side > 2 and side % 2 == 0 else ""
        for side in sides
    ]
    network = grid(kind, *sides, ranks=ranks, ties=ties if kind == "torus" else None)
    schedule, bound = planned(network)
    assert schedule.phases >= bound


@pytest.mark.parametrize(
    ("kind", "sides", "most"),
    [("torus", (8, 8), 1.0), ("mesh", (4, 4), 1.0), ("torus", (5, 5), 1.25), ("mesh", (6, 6), 1.1)],
)
def test_hosts_with_several_ranks(kind: str, sides: tuple[int, ...], most: float) -> None:
    schedule, bound = planned(grid(kind, *sides, ranks=2))
    assert bound <= schedule.phases <= most * bound


def test_it_says_what_it_does_not_serve() -> None:
    star = _core.Network.tree(["s", "a", "b"], [0, 1, 1], [0, 0], [1, 2], [RATE] * 2, [0.0] * 2)
    with pytest.raises(_core.InputError, match="torus, a mesh or a hypercube"):
        _core.Algorithm.find("product").make(star, _core.Demand(2, 1))


def test_grids_are_planned_by_it() -> None:
    for kind, sides in (("torus", (8, 8)), ("mesh", (4, 4)), ("hypercube", (5,))):
        network = grid(kind, *sides)
        assert _core.plan_exchange(network, _core.Demand(network.ranks, 1)).algorithm == "product"
