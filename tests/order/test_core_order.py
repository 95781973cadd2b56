"""The core's orders: valid, never worse than the given one by their measure, optimal where that is proven."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragonflies import dragonfly
from hocket import _core
from hocket.demand.collectives import ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, REDUCE_SCATTER, find
from hocket.network import read_network
from strategies import LATENCY, RATE, fat_tree, few_ranks, random_graph, random_tree, sampled, unequal

PATTERNS = (ALL_TO_ALL, ALL_GATHER, ALL_REDUCE, REDUCE_SCATTER)
HOSTS, RANKS = _core.order.Freedom.hosts, _core.order.Freedom.ranks
Calls = list[_core.order.Call]


def routed(rng: Random, hosts: int) -> _core.Network:
    """A tree that tells nothing but its routes."""
    tree = random_tree(rng, hosts, switch_link=unequal).build()
    channels = range(tree.channels)
    routes = [
        (src, dst, tree.route(a, b))
        for (a, src), (b, dst) in itertools.permutations(enumerate(tree.hosts), 2)
    ]
    return _core.Network.routed(
        tree.names, tree.ranks_per_node, [tree.channel_name(c) for c in channels],
        [tree.rate(c) for c in channels], [tree.latency(c) for c in channels], routes,
    )  # fmt: skip


def network_of(rng: Random, kind: str) -> _core.Network:
    hosts = rng.randint(2, 20)
    if kind == "tree":
        return random_tree(rng, hosts, switch_link=unequal, ranks=few_ranks).build()
    if kind == "graph":
        return random_graph(rng, hosts).build("graph")
    if kind == "fat tree":
        return fat_tree([3, 4], [1, 2], rng).build("graph")
    if kind == "dragonfly":
        return dragonfly(4, 3, 2, rng).build("graph")
    if kind == "routed":
        return routed(rng, min(hosts, 9))
    sides = {"torus": rng.choice([[4, 4], [3, 5], [2, 3, 4], [7]]), "mesh": [3, 4], "hypercube": [4]}[kind]
    return _core.Network.grid(kind, sides, RATE, LATENCY)


KINDS = ("tree", "graph", "fat tree", "dragonfly", "routed", "torus", "mesh", "hypercube")


def part_of(rng: Random, network: _core.Network) -> _core.Network:
    """Some of its hosts, mostly."""
    chosen = rng.sample(list(network.hosts), rng.randint(min(2, len(network.hosts)), len(network.hosts)))
    own = network.ranks_per_node
    return network.restricted_to([own[node] if node in chosen else 0 for node in range(network.nodes)])


def native(pattern: str, ranks: int, name: str | None = None) -> Calls:
    found = _core.order.native_calls(pattern, ranks, 1000, 1)
    return [call for called, call in found if name in (None, called)]


def messages(rng: Random, ranks: int) -> _core.Demand:
    pairs = {(rng.randrange(ranks), rng.randrange(ranks)) for _ in range(3 * ranks)}
    pairs = {(a, b) for a, b in pairs if a != b} or {(0, ranks - 1)}
    src, dst = zip(*sorted(pairs), strict=True)
    return _core.Demand.irregular(ranks, list(src), list(dst), [rng.randint(1, 10**6) for _ in pairs])


def score(network: _core.Network, place: Sequence[int], calls: Calls) -> float:
    array = np.array(place, np.uint32)
    seconds = [_core.order.seconds(network, array, call)[0] for call in calls]
    return sum(
        call.weight * (math.log(s) if s > 0 else -math.inf) for call, s in zip(calls, seconds, strict=True)
    )


def shuffled_hosts(rng: Random, network: _core.Network) -> list[int]:
    hosts = list(network.hosts)
    rng.shuffle(hosts)
    return hosts


@pytest.mark.parametrize(
    "call", [c for c in _core.LibraryCall.all() if c.flow == "steps"], ids=lambda c: f"{c.pattern}-{c.name}"
)
@pytest.mark.parametrize("ranks", [2, 3, 5, 8, 16, 21])
def test_steps_are_those_of_the_algorithms(call: _core.LibraryCall, ranks: int) -> None:
    found = dict(_core.order.native_calls(call.pattern, ranks, 1000, 1))
    if call.why_not(ranks):
        assert call.name not in found
        return
    rng = Random(ranks)
    network = random_tree(rng, ranks, switch_link=unequal).build()
    demand = _core.Demand(ranks, 1000, call.pattern)
    place = np.array(rng.sample(range(ranks), ranks), np.uint32)
    placed = _core.order.placed(call.make(network, demand), place)
    seconds, busiest = _core.order.seconds(network, place, found[call.name])
    assert seconds == pytest.approx(placed.lockstep_seconds(network))
    assert 0 <= busiest < network.channels


@pytest.mark.parametrize("source", ["torus:4x2x5", "torus:7", "mesh:3x4", "hypercube:4", "torus:4x4*2"])
def test_loads_of_grids_are_those_of_the_routes(source: str) -> None:
    network = read_network(source)
    rng = Random(source)
    place = np.array(rng.sample(range(network.ranks), network.ranks), np.uint32)
    for call in _core.LibraryCall.all():
        found = dict(_core.order.native_calls(call.pattern, network.ranks, 1000, 1, every=True))
        if call.name not in found or call.why_not(network.ranks):
            continue
        schedule = call.make(network, _core.Demand(network.ranks, 1000, call.pattern))
        seconds, _ = _core.order.seconds(network, place, found[call.name])
        assert seconds == pytest.approx(_core.order.placed(schedule, place).lockstep_seconds(network)), (
            call.name
        )


def test_what_is_at_once_has_no_steps() -> None:
    assert {name for name, _ in _core.order.native_calls(ALL_TO_ALL, 8, 1, 1)} == {
        "ring",
        "pairwise",
        "bruck",
    }
    assert {name for name, _ in _core.order.native_calls(ALL_GATHER, 100_000, 1, 1)} == {"ring", "bruck"}


@pytest.mark.parametrize("kind", KINDS)
@sampled(12)
@given(seed=st.integers(0, 2**32))
def test_never_worse_and_a_permutation(kind: str, seed: int) -> None:
    rng = Random(seed)
    network = part_of(rng, network_of(rng, kind))
    hosts = shuffled_hosts(rng, network)
    calls = [
        call for pattern in rng.sample(PATTERNS, rng.randint(0, 3)) for call in native(pattern, network.ranks)
    ]
    if rng.random() < 0.6 or not calls:
        calls.append(
            _core.order.demand_call(messages(rng, network.ranks), 1.0) if network.ranks > 1 else calls[0]
        )
    for freedom in (HOSTS, RANKS):
        place, how = _core.order.order_ranks(network, hosts, calls, freedom)
        assert sorted(place.tolist()) == list(range(network.ranks)) and how
        if freedom == HOSTS:  # each host once
            assert len([*itertools.groupby(map(network.host_of, place.tolist()))]) == len(network.hosts)
        before = score(network, _core.order.filled(network, hosts).tolist(), calls)
        after = score(network, place.tolist(), calls)
        assert after <= before
        again, _ = _core.order.order_ranks(network, hosts, calls, freedom)
        assert place.tolist() == again.tolist()


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_optimal_on_small_trees(seed: int) -> None:
    """No permutation of the ranks is better, as the core's own schedules of the algorithms tell."""
    rng = Random(seed)
    network = random_tree(rng, rng.randint(3, 6), switch_link=unequal).build()
    pattern = rng.choice(PATTERNS)
    found = _core.order.native_calls(pattern, network.ranks, 1000, 1)
    place, _ = _core.order.order_ranks(
        network, shuffled_hosts(rng, network), [call for _, call in found], HOSTS
    )
    demand = _core.Demand(network.ranks, 1000, pattern)
    schedules = [
        call.make(network, demand)
        for call in _core.LibraryCall.all()
        if call.pattern == pattern and call.name in dict(found)
    ]

    def logs(order: Sequence[int]) -> float:
        array = np.array(order, np.uint32)
        return sum(math.log(_core.order.placed(s, array).lockstep_seconds(network)) for s in schedules)

    least = min(map(logs, itertools.permutations(range(network.ranks))))
    assert (
        logs(place.tolist()) <= least + 1.1e-3
    )  # the given order is kept where the gain is below a thousandth


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_rings_on_trees_are_at_the_bound(seed: int) -> None:
    """Depth-first orders cross every link once each way, whatever the rates: no order can do less."""
    rng = Random(seed)
    network = part_of(rng, random_tree(rng, rng.randint(8, 60), switch_link=unequal, ranks=few_ranks).build())
    (call,) = native(ALL_GATHER, network.ranks, "ring")
    place, _ = _core.order.order_ranks(network, shuffled_hosts(rng, network), [call], HOSTS)
    seconds, _ = _core.order.seconds(network, place, call)
    least = _core.order.least_ring_step(network, 1000)
    assert seconds == pytest.approx((network.ranks - 1) * least)


@settings(max_examples=10)
@given(seed=st.integers(0, 2**32))
def test_the_bound_of_rings_holds_in_every_order(seed: int) -> None:
    rng = Random(seed)
    kind = rng.choice(["tree", "graph", "torus", "routed"])
    network = part_of(rng, network_of(rng, kind))
    (call,) = native(ALL_GATHER, network.ranks, "ring") if network.ranks > 1 else (None,)
    if call is None:
        return
    for _ in range(20):
        place = np.array(rng.sample(range(network.ranks), network.ranks), np.uint32)
        seconds, _ = _core.order.seconds(network, place, call)
        assert seconds >= (network.ranks - 1) * _core.order.least_ring_step(network, 1000) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("kind", "sides"), [("torus", [4, 4]), ("torus", [3, 4, 5]), ("mesh", [4, 6]), ("hypercube", [5])]
)
def test_rings_on_grids_share_no_link(kind: str, sides: list[int]) -> None:
    network = _core.Network.grid(kind, sides, RATE, LATENCY)
    (call,) = native(ALL_GATHER, network.ranks, "ring")
    place, _ = _core.order.order_ranks(network, shuffled_hosts(Random(1), network), [call], HOSTS)
    assert _core.order.seconds(network, place, call)[0] == pytest.approx((network.ranks - 1) * 1000 / RATE)


@pytest.mark.parametrize("spec", [([4, 4, 4], [1, 2, 2]), ([6, 6], [1, 3])])
def test_rings_on_fat_trees_share_no_link(spec: tuple[list[int], list[int]]) -> None:
    network = fat_tree(*spec, Random(3)).build("graph")
    (call,) = native(ALL_GATHER, network.ranks, "ring")
    place, _ = _core.order.order_ranks(network, shuffled_hosts(Random(1), network), [call], HOSTS)
    assert _core.order.seconds(network, place, call)[0] == pytest.approx((network.ranks - 1) * 1000 / RATE)


def stencil(rows: int, columns: int, rng: Random) -> _core.Demand:
    """Neighbours of a periodic grid, whose points are numbered at random."""
    number = rng.sample(range(rows * columns), rows * columns)
    pairs = set()
    for row, column in itertools.product(range(rows), range(columns)):
        here = number[row * columns + column]
        for a, b in ((row, (column + 1) % columns), ((row + 1) % rows, column)):
            pairs |= {(here, number[a * columns + b]), (number[a * columns + b], here)}
    src, dst = zip(*sorted(pairs), strict=True)
    return _core.Demand.irregular(rows * columns, list(src), list(dst), [1000] * len(src))


@pytest.mark.parametrize("seed", range(4))
def test_a_stencil_finds_its_torus(seed: int) -> None:
    """At random some channel carries five messages and more; the best mapping has one on each."""
    network = _core.Network.grid("torus", [8, 8], RATE, LATENCY)
    call = _core.order.demand_call(stencil(8, 8, Random(seed)), 1.0)
    hosts = list(network.hosts)
    before = _core.order.seconds(network, _core.order.filled(network, hosts), call)[0]
    place, how = _core.order.order_ranks(network, hosts, [call], RANKS)
    after = _core.order.seconds(network, place, call)[0]
    assert "mapped" in how and before >= 5 * 1000 / RATE and after == 1000 / RATE


def test_pairs_share_a_host() -> None:
    """Ranks that talk only with one other each are put on one host: no wire is used."""
    network = _core.Network.tree(
        ["a", "b", "c", "s"], [2, 2, 2, 0], [0, 1, 2], [3, 3, 3], [RATE] * 3, [LATENCY] * 3
    )
    demand = _core.Demand.irregular(6, [0, 1, 2], [3, 4, 5], [10, 10, 10])
    call = _core.order.demand_call(demand, 1.0)
    place, _ = _core.order.order_ranks(network, [0, 1, 2], [call], RANKS)
    assert _core.order.seconds(network, place, call)[0] == 0
    kept, how = _core.order.order_ranks(network, [0, 1, 2], [call], HOSTS)
    assert how == "as given" and kept.tolist() == list(range(6))


def test_ranks_are_dealt_out_where_that_is_better() -> None:
    """Doubling sends most bytes last: with hosts in turn these go through memory."""
    network = _core.Network.tree(["a", "b", "s"], [4, 4, 0], [0, 1], [2, 2], [RATE] * 2, [LATENCY] * 2)
    calls = native(ALL_GATHER, 8, "recursive-doubling")
    place, how = _core.order.order_ranks(network, [0, 1], calls, RANKS)
    assert "in turn" in how and [network.host_of(at) for at in place.tolist()] == [0, 1] * 4
    assert _core.order.order_ranks(network, [0, 1], calls, HOSTS)[1] == "as given"


def test_a_hundred_thousand_hosts() -> None:
    network = read_network("tree:50x50x40")
    hosts = shuffled_hosts(Random(1), network)
    calls = native(ALL_GATHER, network.ranks)
    place, how = _core.order.order_ranks(network, hosts, calls, HOSTS)
    assert how != "as given" and len(set(place.tolist())) == 100_000
    ring = native(ALL_GATHER, network.ranks, "ring")[0]
    assert _core.order.seconds(network, place, ring)[0] == pytest.approx(
        (network.ranks - 1) * _core.order.least_ring_step(network, 1000)
    )


def test_what_fits_nothing_is_refused() -> None:
    network = random_tree(Random(1), 5).build()
    calls = native(ALL_GATHER, 5)
    hosts = list(network.hosts)
    for wrong in (hosts[:-1], [*hosts[:-1], hosts[0]], [*hosts[:-1], 10**6]):
        with pytest.raises(_core.InputError, match="hosts of the network"):
            _core.order.order_ranks(network, wrong, calls, HOSTS)
    with pytest.raises(_core.InputError, match="rank that the job does not have"):
        demand = _core.Demand.irregular(9, [0], [8], [1])
        _core.order.order_ranks(network, hosts, [_core.order.demand_call(demand, 1.0)], RANKS)
    with pytest.raises(_core.InputError, match="irregular demand"):
        _core.order.demand_call(find(ALL_GATHER).demand(4, 1, 0), 1.0)
    schedule = next(c for c in _core.LibraryCall.all() if c.name == "bruck").make(network, _core.Demand(5, 1))
    for place in ([0, 1, 2, 3], [0, 1, 2, 3, 3], [0, 1, 2, 3, 9]):
        with pytest.raises(_core.InputError, match="an order needs"):
            _core.order.placed(schedule, np.array(place, np.uint32))


def topology(rng: Random, ranks: int) -> _core.Demand:
    """A ring, a grid, or any graph with weights, of all ranks or of some."""
    kind, some = rng.choice(["ring", "grid", "graph"]), rng.randint(2, ranks)
    if kind == "graph":
        return messages(rng, ranks)
    columns = rng.choice([c for c in range(1, some + 1) if some % c == 0]) if kind == "grid" else some
    pairs = set()
    for here in range(some):
        row, column = divmod(here, columns)
        right, below = row * columns + (column + 1) % columns, (here + columns) % some
        pairs |= {(here, there) for there in (right, below) if there != here}
    src, dst = zip(*sorted(pairs | {(b, a) for a, b in pairs}), strict=True)
    return _core.Demand.irregular(ranks, list(src), list(dst), [1] * len(src))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_topologies_from_any_places(kind: str, seed: int) -> None:
    """A permutation, the same again, and better by its own measure or as given."""
    rng = Random(seed)
    network = part_of(rng, network_of(rng, kind))
    if network.ranks < 2:
        return
    given = rng.sample(range(network.ranks), network.ranks)
    calls = [_core.order.demand_call(topology(rng, network.ranks), 1.0)]
    place, how = _core.reordered(network, given, calls)
    assert sorted(place) == list(range(network.ranks))
    if how == "as given":
        assert place == given
    else:
        assert score(network, place, calls) < score(network, given, calls) - 1e-3
    assert _core.reordered(network, given, calls) == (place, how)


def test_rows_of_a_grid_come_behind_one_switch() -> None:
    network = read_network("chain:8,8,8,8")
    given = Random(1).sample(range(32), 32)
    pairs = [
        (here, there)
        for here in range(32)
        for there in (
            (here - 4) % 32,
            (here + 4) % 32,
            here // 4 * 4 + (here - 1) % 4,
            here // 4 * 4 + (here + 1) % 4,
        )
    ]
    call = _core.order.demand_call(
        _core.Demand.irregular(32, [a for a, _ in pairs], [b for _, b in pairs], [1000] * len(pairs)), 1.0
    )
    place, _ = _core.reordered(network, given, [call])
    for switch in range(4):
        assert len({rank // 4 for rank in range(32) if place[rank] // 8 == switch}) == 2
    before, after = (
        _core.order.seconds(network, np.array(order, np.uint32), call)[0] for order in (given, place)
    )
    assert after == 8 * 1000 / network.host_rate and before > 4 * after


def test_a_thousand_ranks() -> None:
    network = read_network("mesh:8x8x16")
    given = Random(1).sample(range(1024), 1024)
    call = _core.order.demand_call(stencil(32, 32, Random(2)), 1.0)
    place, _ = _core.reordered(network, given, [call])
    assert score(network, place, [call]) < score(network, given, [call]) - math.log(3)
