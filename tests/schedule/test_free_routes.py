"""Bounds for all routes: prices certify them, and no routing beats them."""

from __future__ import annotations

import itertools
import math
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from strategies import NetworkPlan, few_ranks, random_graph, random_tree
from wired_switches import hyperx, kautz, random_regular

BYTES = 1000


def demand(network: _core.Network) -> _core.Demand:
    return _core.Demand(network.ranks, BYTES)


def phases(network: _core.Network, seconds: float) -> float:
    return seconds * network.host_rate / BYTES


def paid(plan: NetworkPlan, prices: list[float]) -> float:
    """The sum that all bytes pay on their cheapest ways, by Floyd's algorithm; hosts pass nothing on."""
    count = len(plan.names)
    cheapest = [[0.0 if a == b else math.inf for b in range(count)] for a in range(count)]
    for i, (a, b) in enumerate(plan.links):
        cheapest[a][b] = min(cheapest[a][b], prices[2 * i])
        cheapest[b][a] = min(cheapest[b][a], prices[2 * i + 1])
    for via in (node for node in range(count) if not plan.ranks[node]):
        for a, b in itertools.product(range(count), repeat=2):
            cheapest[a][b] = min(cheapest[a][b], cheapest[a][via] + cheapest[via][b])
    return sum(plan.ranks[a] * plan.ranks[b] * BYTES * cheapest[a][b] for a in plan.hosts for b in plan.hosts)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 10))
def test_prices_certify_what_they_say(seed: int, hosts: int) -> None:
    rng = Random(seed)
    plan = random_graph(rng, hosts)
    for host in plan.hosts:
        plan.ranks[host] = few_ranks(rng)
    plan.rates = [rate * rng.choice((1, 1, 2, 5)) for rate in plan.rates]
    network = plan.build("graph")
    prices = [rng.choice((0.0, rng.random(), 100 * rng.random())) for _ in range(network.channels)]
    prices[0] += 1
    earned = sum(price * network.rate(c) for c, price in enumerate(prices))
    certified = _core.priced_seconds(network, demand(network), prices)
    assert certified == pytest.approx(paid(plan, prices) / earned, rel=1e-9)
    best = _core.price_channels(network, demand(network))
    assert _core.priced_seconds(network, demand(network), best.prices) == pytest.approx(
        best.seconds, rel=1e-9
    )
    assert best.seconds >= certified * (1 - 1e-3) or not best.exact
    # Ours are one way of routing.
    assert best.seconds <= _core.lower_bounds(network, demand(network)).seconds * (1 + 1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 24))
def test_trees_have_no_other_routes(seed: int, hosts: int) -> None:
    network = random_tree(Random(seed), hosts).build()
    bound = _core.lower_bounds(network, demand(network)).seconds
    assert _core.price_channels(network, demand(network)).seconds == pytest.approx(bound, rel=2e-3)


@pytest.mark.parametrize(
    ("kind", "sides", "wanted"),
    [("torus", [4, 4, 4], 32), ("torus", [8, 8], 64), ("hypercube", [6], 32), ("torus", [8, 4], 32)],
)
def test_grids(kind: str, sides: list[int], wanted: float) -> None:
    """Hosts pass on: half the ring's way on average, over two channels a dimension."""
    network = _core.Network.grid(kind, sides, 1e9, 0)
    found = _core.price_channels(network, demand(network))
    assert phases(network, found.seconds) == pytest.approx(wanted, rel=2e-3)
    assert found.exact


@pytest.mark.parametrize(
    ("plan", "wanted"),
    [(hyperx(4, 4), 64), (hyperx(8, 8), 512), (random_regular(64, 4, 1, 1), 63)],
    ids=["HyperX 4×4", "HyperX 8×8", "random"],
)
def test_known_bounds(plan: NetworkPlan, wanted: float) -> None:
    network = plan.build("graph")
    assert phases(network, _core.price_channels(network, demand(network)).seconds) == pytest.approx(
        wanted, rel=2e-3
    )


def test_prices_of_an_uneven_graph_come_near_the_best() -> None:
    """The linear program finds the best ones."""
    pytest.importorskip("scipy")
    from hocket.planning.bounds import _best_prices

    for plan in (kautz(4, 2), random_regular(16, 4, 3, 5)):
        network = plan.build("graph")
        best = _best_prices(network)
        assert best is not None
        least = _core.priced_seconds(network, demand(network), best)
        ports = (network.ranks - 1) * BYTES / network.host_rate  # of which the program knows nothing
        found = _core.price_channels(network, demand(network)).seconds
        assert 0.9 * least <= found <= max(least, ports) * (1 + 1e-9)


def test_what_is_no_certificate() -> None:
    network = hyperx(3, 1).build("graph")
    good = [1.0] * network.channels
    for prices, why in (
        (good[1:], "prices for"),
        ([-1.0, *good[1:]], "no number of at least 0"),
        ([math.nan, *good[1:]], "no number of at least 0"),
        ([math.inf, *good[1:]], "no number of at least 0"),
        ([0.0] * len(good), "are 0"),
        ([1e300] * len(good), "too high"),
    ):
        with pytest.raises(_core.InputError, match=why):
            _core.priced_seconds(network, demand(network), prices)
    for other in (_core.Demand(9, 1, "all-gather"), _core.Demand(8, 1)):
        with pytest.raises(_core.InputError):
            _core.priced_seconds(network, other, good)
        with pytest.raises(_core.InputError):
            _core.price_channels(network, other)


def test_one_host_has_nothing_to_send() -> None:
    plan = NetworkPlan()
    switch = plan.node(0)
    plan.node(3, switch)
    network = plan.build("graph")
    assert _core.price_channels(network, demand(network)).seconds == 0
