"""Routes of graphs without forwarding tables: even, and the same whoever computes them."""

from __future__ import annotations

import pytest

from hocket import _core
from hocket.network import read_network
from strategies import NetworkPlan
from wired_switches import hyperx, kautz, random_regular


def busiest(network: _core.Network) -> int:
    return max(_core.lower_bounds(network, _core.Demand(network.ranks, 1)).load)


def any_routes(network: _core.Network) -> float:
    """Messages on the busiest channel if every message were divided among the best ways."""
    return float(_core.price_channels(network, _core.Demand(network.ranks, 1)).seconds * network.host_rate)


@pytest.mark.parametrize(
    "plan",
    [
        hyperx(4, 4), hyperx(8, 8), kautz(4, 4), random_regular(64, 4, 1, 1), random_regular(32, 5, 3, 1),
        random_regular(40, 8, 8, 1), pytest.param(random_regular(64, 4, 1, 2), marks=pytest.mark.slow),
        pytest.param(random_regular(64, 8, 8, 1), marks=pytest.mark.slow),
    ],
    ids=["HyperX 4×4", "HyperX 8×8", "Kautz", "64 a", "32×3", "40×8", "64 b", "64×8"],
)  # fmt: skip
def test_no_channel_carries_much_more_than_it_must(plan: NetworkPlan) -> None:
    network = plan.build("graph")
    assert busiest(network) <= 1.05 * max(any_routes(network), network.ranks - 1)


@pytest.mark.parametrize("source", ["dragonfly:5x4x2x2", "dragonfly+:4x3x3x3x2", "fat-tree:4x8x3"])
def test_families_that_were_uneven(source: str) -> None:
    network = read_network(source)
    assert busiest(network) <= 1.05 * max(any_routes(network), network.ranks - 1)


def test_the_same_graph_has_the_same_routes() -> None:
    first, second = (random_regular(12, 4, 2, 3).build("graph") for _ in range(2))
    for src in range(first.ranks):
        assert [first.route(src, dst) for dst in range(24)] == [second.route(src, dst) for dst in range(24)]


def test_routes_written_out_are_those_that_are_followed() -> None:
    network = random_regular(12, 4, 2, 3).build("graph")
    written = network.balanced(_core.Demand(network.ranks, 1))
    assert written.next_hops
    for src in range(network.ranks):
        for dst in range(network.ranks):
            assert written.route(src, dst) == network.route(src, dst)


def test_even_fat_trees_keep_their_routes() -> None:
    for source in ("fat-tree:k=4", "fat-tree:8x8x4", "fat-tree:4x4x4"):
        network = read_network(source)
        written = network.balanced(_core.Demand(network.ranks, 1))
        assert not written.next_hops
