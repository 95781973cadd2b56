"""Gossip algorithms as schedules of networks: complete and contention-free wherever they serve."""

from __future__ import annotations

from random import Random

import pytest

from hocket import _core

RATE = 125e6


def grid(shape: str, sides: list[int], latency: float = 0.0) -> _core.Network:
    return _core.Network.grid(shape, sides, RATE, latency)


def gossip(network: _core.Network, demand: _core.Demand, alpha: float = 0.0) -> _core.Schedule:
    return _core.Algorithm.find("gossip", "all-gather").make(network, demand, alpha)


def check(network: _core.Network, demand: _core.Demand, schedule: _core.Schedule) -> None:
    certificate = _core.verify(network, demand, schedule, _core.PortModel.all_port)
    _core.verify_waits(network, schedule, _core.Waits.derive(network, schedule), certificate)
    assert certificate.ok, certificate.findings


def random_grid(rng: Random) -> _core.Network:
    shape = rng.choice(["torus", "mesh", "hypercube"])
    if shape == "hypercube":
        return grid(shape, [rng.randint(0, 6)])
    sides: list[int] = []
    while not sides or (len(sides) < 4 and rng.random() < 0.6):
        sides.append(rng.randint(1, 9))
    while _product(sides) > 200:
        sides[rng.randrange(len(sides))] = rng.randint(1, 3)
    return grid(shape, sides)


def _product(values: list[int]) -> int:
    product = 1
    for value in values:
        product *= value
    return product


@pytest.mark.parametrize("seed", range(60))
def test_random_grids_messages_and_alphas(seed: int) -> None:
    rng = Random(seed)
    network = random_grid(rng)
    size = rng.choice([0, 1, 7, 1000, 65536, 3 << 30])
    parts = [rng.choice([0, 1, size, 3 * size]) for _ in range(network.ranks)] if seed % 3 == 0 else []
    demand = _core.Demand(network.ranks, size, "all-gather", parts)
    check(network, demand, gossip(network, demand, rng.choice([0.0, 1e-6, 1e-4, 1e-2])))


@pytest.mark.parametrize("sides", [[8, 8], [4, 4, 4], [24, 24], [9, 9]])
def test_large_messages_use_every_link_all_the_time(sides: list[int]) -> None:
    """(N − 1) / 2d items through each of a processor's links (specs: lower bounds)."""
    network = grid("torus", sides)
    demand = _core.Demand(network.ranks, 1 << 20, "all-gather")
    schedule = gossip(network, demand)
    bound = (network.ranks - 1) * demand.bytes / (2 * len(sides) * RATE)
    assert _core.simulate(network, schedule).seconds == pytest.approx(bound, rel=1e-3)


def test_a_large_alpha_takes_few_phases() -> None:
    """⌈log₅ 81⌉ = 3 phases are the least on a torus."""
    network = grid("torus", [9, 9])
    demand = _core.Demand(81, 1, "all-gather")
    few = gossip(network, demand, 1.0).phases
    assert few < gossip(network, demand).phases
    assert 3 <= few <= 8


@pytest.mark.parametrize("sides", [[12, 20], [8, 4, 8]])
def test_unequal_sides_stay_near_the_links_limit(sides: list[int]) -> None:
    network = grid("torus", sides)
    demand = _core.Demand(network.ranks, 1 << 20, "all-gather")
    bound = (network.ranks - 1) * demand.bytes / (2 * len(sides) * RATE)
    assert _core.simulate(network, gossip(network, demand)).seconds <= 1.06 * bound


@pytest.mark.parametrize("seed", range(12))
def test_strides_deliver_everything(seed: int) -> None:
    """They may share links: that is their model."""
    rng = Random(seed)
    sides = [rng.randint(2, 9) for _ in range(rng.randint(1, 3))]
    network = grid("torus", sides)
    demand = _core.Demand(network.ranks, 4096, "all-gather")
    algorithm = _core.Algorithm.find("stride", "all-gather")
    schedule = algorithm.make(network, demand, rng.choice([0.0, 1e-4, 1e-2]))
    assert _core.verify(network, demand, schedule, algorithm.ports).complete


def test_where_it_does_not_serve_it_says_why() -> None:
    algorithm = _core.Algorithm.find("gossip", "all-gather")
    demand = _core.Demand(8, 1, "all-gather")
    assert "rank" in algorithm.why_not(grid("torus", [3, 3]), demand)
    assert "all-gather" in algorithm.why_not(grid("torus", [8]), _core.Demand(8, 1))
