"""All-gather to which few ranks contribute, or some far more than others: their parts flow in a pipeline."""

from __future__ import annotations

from random import Random

import pytest

from hocket import _core
from hocket.planning.plan import figures_of, plan_collective

RATE = 1e9

GRIDS = [
    ("torus", (3, 5, 5)), ("torus", (5, 5)), ("mesh", (9,)), ("torus", (7, 7)), ("torus", (3, 3, 3)),
    ("torus", (3, 5, 7)),
    ("mesh", (5, 5)), ("mesh", (3, 5)), ("mesh", (3, 3, 3)), ("hypercube", (5,)),
]  # fmt: skip

LARGE = [("torus", (3, 5, 7))]  # left to `make test-slow`, as messages of eight times the size on most grids
LONG = [("torus", (5, 5)), ("mesh", (9,)), ("mesh", (3, 5)), ("mesh", (3, 3, 3))]


def grid(kind: str, sides: tuple[int, ...]) -> _core.Network:
    return _core.Network.grid(kind, list(sides), RATE, 0.0)


def few(ranks: int, givers: int, size: int, seed: int) -> list[int]:
    """The first gives ``size`` bytes, each further one half of that or all of it."""
    rng = Random(seed)
    contributions = [0] * ranks
    for place, rank in enumerate(rng.sample(range(ranks), givers)):
        contributions[rank] = size if place == 0 else rng.choice([size, size // 2 + 1])
    return contributions


def spread(network: _core.Network, contributions: list[int], alpha: float = 0.0) -> _core.Schedule:
    """Verified: every byte arrives, and messages of a phase share no channel."""
    demand = _core.Demand(network.ranks, max(contributions), "all-gather", contributions)
    algorithm = _core.Algorithm.find("spreading", "all-gather")
    schedule = algorithm.make(network, demand, alpha)
    certificate = _core.verify(network, demand, schedule, algorithm.ports)
    _core.verify_waits(network, schedule, _core.Waits.derive(network, schedule), certificate)
    assert certificate.ok, certificate.findings
    return schedule


def ratio(network: _core.Network, contributions: list[int]) -> float:
    demand = _core.Demand(network.ranks, max(contributions), "all-gather", contributions)
    seconds = _core.simulate(network, spread(network, contributions), None, "token").seconds
    return float(seconds / _core.lower_bounds(network, demand).seconds)


@pytest.mark.parametrize(("givers", "limit"), [(1, 1.5), (2, 1.3), (3, 1.3)])
@pytest.mark.parametrize(
    ("kind", "sides", "size"),
    [pytest.param(*grid, 512, marks=[pytest.mark.slow] * (grid in LARGE)) for grid in GRIDS]
    + [pytest.param(*grid, 4096, marks=[pytest.mark.slow] * (grid not in LONG)) for grid in GRIDS],
)
def test_few_contributors_are_near_the_bound_of_the_wires(
    kind: str, sides: tuple[int, ...], givers: int, limit: float, size: int
) -> None:
    """Contributions of 512 bytes used to go in one part per channel, hop by hop: 4.7 times the bound."""
    network = grid(kind, sides)
    assert ratio(network, few(network.ranks, givers, size, seed=givers)) <= limit


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))]
)
def test_any_two_of_75_ranks(seed: int) -> None:
    network = grid("torus", (3, 5, 5))
    assert ratio(network, few(75, 2, 2048, seed)) <= 1.3


@pytest.mark.parametrize(
    "sides", [(3, 5, 9), *(pytest.param(sides, marks=pytest.mark.slow) for sides in ((7, 7, 3), (7, 7, 5)))]
)
def test_more_than_128_ranks(sides: tuple[int, ...]) -> None:
    network = grid("torus", sides)
    assert ratio(network, few(network.ranks, 2, 4096, seed=1)) <= 1.3


def test_auto_takes_what_is_made_for_few() -> None:
    planned = plan_collective(
        "all-gather", grid("torus", (3, 5, 5)), 0, contributions=few(75, 2, 2000, seed=3)
    )
    assert planned.algorithm == "spreading" and figures_of(planned)["ratio"] <= 1.3


def test_a_per_message_cost_is_worth_a_larger_part() -> None:
    """2 MiB at 10 us a message: parts of some bytes cost more than they gain, whole contributions too."""
    network = grid("torus", (3, 3, 5))
    contributions = few(45, 2, 1 << 20, seed=1)
    free = spread(network, contributions)
    dear = spread(network, contributions, alpha=1e-5)
    assert len(dear) < len(free) / 8
    alpha = _core.ModelParameters(alpha=1e-5)

    def seconds(schedule: _core.Schedule) -> float:
        return float(_core.simulate(network, schedule, None, "token", alpha).seconds)

    assert seconds(dear) < seconds(free) / 2
    assert (
        seconds(dear)
        < 5 * _core.lower_bounds(network, _core.Demand(45, 1 << 20, "all-gather", contributions)).seconds
    )


def test_the_clock_of_phases_counts_alphas() -> None:
    network = grid("torus", (5,))
    rows = [(0, 0, 1, 0, _core.EVERYONE, 0, 1000), (0, 0, 4, 0, _core.EVERYONE, 0, 1000),
            (1, 1, 2, 0, _core.EVERYONE, 0, 1000)]  # fmt: skip
    schedule = _core.Schedule.from_rows(5, 1000, rows)
    assert schedule.lockstep_seconds(network) == pytest.approx(2e-6)
    assert schedule.lockstep_seconds(network, alpha=1e-3) == pytest.approx(2e-6 + 3e-3)


def test_the_same_on_every_rank() -> None:
    network = grid("torus", (3, 5, 5))
    demand = _core.Demand(75, 5000, "all-gather", few(75, 3, 5000, seed=2))
    once, twice = (_core.Algorithm.find("spreading", "all-gather").make(network, demand) for _ in range(2))
    assert once.rows() == twice.rows()


@pytest.mark.parametrize(
    ("kind", "sides", "seed"),
    [
        ("torus", (5, 5), 0),
        ("mesh", (9,), 1),
        ("torus", (7, 7), 2),
        ("torus", (3, 3, 3), 3),
        pytest.param("torus", (3, 5, 5), 4, marks=pytest.mark.slow),
    ],
)
def test_all_contribute_and_few_contribute_most(kind: str, sides: tuple[int, ...], seed: int) -> None:
    rng = Random(seed)
    network = grid(kind, sides)
    contributions = [rng.choice([0, 1, 7, 300]) for _ in range(network.ranks)]
    contributions[rng.randrange(network.ranks)] = 1 << 16
    assert ratio(network, contributions) <= 1.3
