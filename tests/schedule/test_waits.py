"""Waits are sufficient and necessary, judged by brute force.

Order of a sender: a transfer starts after all earlier ones of its sender have started, and those `window` or
more places earlier (in an earlier phase) are over. Everything that follows from that and from the waits is
written as bit sets: `started[t]` and `over[t]` hold what has started, is over, before t starts.
"""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import accumulate
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from hocket.planning.plan import check, plan_collective
from strategies import (
    PAPER_A,
    PAPER_B,
    PAPER_C,
    NetworkPlan,
    balanced,
    chain,
    random_graph,
    random_tree,
    sampled,
    star,
    tree_plans,
    unequal,
)

Lists = list[list[int]]
Row = tuple[int, int, int, int, int, int, int]


def lists_of(waits: _core.Waits, size: int) -> Lists:
    return [waits.of(i) for i in range(size)]


def own_order(rows: list[Row], window: int) -> list[tuple[int | None, int | None]]:
    """Per transfer: its sender's previous transfer, and the last that must be over."""
    sends: dict[int, list[int]] = defaultdict(list)
    found: list[tuple[int | None, int | None]] = []
    for i, (phase, src, *_) in enumerate(rows):
        mine = sends[src]
        over = [t for t in mine[: len(mine) - window + 1] if rows[t][0] < phase]
        found.append((mine[-1] if mine else None, over[-1] if over else None))
        mine.append(i)
    return found


def over_before(rows: list[Row], waits: Lists, window: int) -> list[int]:
    """Bit sets: the transfers that are over before each one starts."""
    started: list[int] = []
    over: list[int] = []
    for i, (previous, last_over) in enumerate(own_order(rows, window)):
        before = list(waits[i]) + ([last_over] if last_over is not None else [])
        began = before + ([previous] if previous is not None else [])
        begun = sum(1 << t for t in set(began))
        ended = sum(1 << t for t in set(before))
        for t in began:
            begun |= started[t]
            ended |= over[t]
        started.append(begun | ended)
        over.append(ended)
    return over


def must_be_over(network: _core.Network, rows: list[Row], window: int) -> Lists:
    """Per transfer: the earlier ones that use a channel of its route capacity·window places before it; the
    places of a phase are taken by sender."""
    users: dict[int, list[int]] = defaultdict(list)
    required: Lists = [[] for _ in rows]
    for i in sorted(range(len(rows)), key=lambda i: rows[i][:2]):
        phase, src, dst, *_ = rows[i]
        needed = set()
        for channel in network.route(src, dst):
            apart = network.capacity(channel) * window
            if len(users[channel]) >= apart:
                earlier = users[channel][-apart]
                if rows[earlier][0] < phase:
                    needed.add(earlier)
            users[channel].append(i)
        required[i] = sorted(needed)
    return required


def without(lists: Lists, transfer: int, wait: int) -> Lists:
    return [[w for w in row if (i, w) != (transfer, wait)] for i, row in enumerate(lists)]


def redundant(rows: list[Row], lists: Lists, window: int) -> int:
    """Waits that follow from the others."""
    count = 0
    over = over_before(rows, lists, window)
    order = own_order(rows, window)
    for i, row in enumerate(lists):
        for wait in row:
            rest = 0
            previous, last_over = order[i]
            for t in [w for w in row if w != wait] + ([last_over] if last_over is not None else []):
                rest |= over[t] | 1 << t
            if previous is not None:
                rest |= over[previous]
            count += rest >> wait & 1
    return count


def check_sufficient(
    network: _core.Network, schedule: _core.Schedule, window: int
) -> tuple[list[Row], Lists]:
    rows = schedule.rows()
    waits = _core.Waits.derive(network, schedule, window)
    lists = lists_of(waits, len(rows))
    over = over_before(rows, lists, window)
    for i, needed in enumerate(must_be_over(network, rows, window)):
        for earlier in needed:
            assert over[i] >> earlier & 1, f"{rows[i]} may overtake {rows[earlier]}"
        assert all(rows[w][0] < rows[i][0] for w in lists[i]), "a wait for the same or a later phase"
    assert len(waits) <= waits.derived
    certificate = _core.verify(network, _core.Demand(network.ranks, 1), schedule)
    _core.verify_waits(network, schedule, waits, certificate)
    assert certificate.ok, certificate.findings
    return rows, lists


def make(network: _core.Network, name: str | None = None) -> _core.Schedule:
    demand = _core.Demand(network.ranks, 1)
    return _core.plan_exchange(network, demand, algorithm=name or "").schedule


@settings(max_examples=100)
@given(tree_plans(2, 10), st.sampled_from([1, 2, 3]), st.sampled_from(["tree", "packing"]))
def test_every_two_transfers_that_share_a_channel_are_ordered(
    plan: NetworkPlan, window: int, name: str
) -> None:
    network = plan.build()
    check_sufficient(network, make(network, name), window)


@sampled(60)
@given(tree_plans(3, 9, switch_link=unequal), st.sampled_from([1, 2, 3]))
def test_switch_links_of_any_width(plan: NetworkPlan, window: int) -> None:
    network = plan.build()
    if network.equal_rates:
        check_sufficient(network, make(network, "packing"), window)
        return
    for name in ("packing", "list"):
        schedule = make(network, name)
        rows, waits = schedule.rows(), _core.Waits.derive(network, schedule, window)
        lists = lists_of(waits, len(rows))
        assert all(rows[w][0] < rows[i][0] for i, row in enumerate(lists) for w in row)
        assert len(waits) <= waits.derived
        for seed in range(10):
            assert fullest(network, rows, lists, window, Random(seed)) <= window + 1e-9
        certificate = _core.verify(network, _core.Demand(network.ranks, 1), schedule)
        _core.verify_waits(network, schedule, waits, certificate)
        assert certificate.ok, certificate.findings


def wide(rng: Random) -> float:
    """Inter-switch links of 2.5 to 40 Gbit/s for hosts of 10."""
    return rng.choice([0.25, 0.5, 1.0, 2.0, 4.0])


def fullest(network: _core.Network, rows: list[Row], waits: Lists, window: int, rng: Random) -> float:
    """The largest part of a channel that is in use at once if transfers take as long as they like. A message
    takes a k-th part where k of its speed, the slowest rate of its route, fill the channel."""
    starts: list[float] = []
    ends: list[float] = []
    uses: dict[int, list[tuple[float, int, float]]] = defaultdict(list)
    for i, (previous, last_over) in enumerate(own_order(rows, window)):
        over = [*waits[i], *([] if last_over is None else [last_over])]
        least = max([0.0, *(ends[t] for t in over), *([] if previous is None else [starts[previous]])])
        starts.append(least + rng.choice([0, 0, 0, rng.random()]))
        ends.append(starts[i] + rng.random() ** 3 * 10)
        route = network.route(rows[i][1], rows[i][2])
        speed = min((network.rate(channel) for channel in route), default=1.0)
        for channel in route:
            part = 1 / math.ceil(network.rate(channel) / speed * (1 - 1e-9))
            uses[channel] += [(starts[i], 1, part), (ends[i], 0, -part)]
    return max(max(accumulate(part for *_, part in sorted(on_it))) for on_it in uses.values())


@settings(max_examples=60)
@given(tree_plans(3, 10, switch_link=wide), st.sampled_from([1, 2, 3]), st.randoms(use_true_random=False))
def test_a_wide_channel_never_carries_more_than_its_window(
    plan: NetworkPlan, window: int, shuffle: Random
) -> None:
    """Whatever the order within a phase: waits of one order hold for every other."""
    network = plan.build()
    rows = make(network, "packing").rows()
    shuffle.shuffle(rows)
    rows.sort(key=lambda row: row[0])
    schedule = _core.Schedule.from_rows(network.ranks, 1, rows)
    waits = lists_of(_core.Waits.derive(network, schedule, window), len(rows))
    rng = Random(len(rows))
    for _ in range(10):
        assert fullest(network, rows, waits, window, rng) <= window + 1e-9
    certificate = _core.verify(network, _core.Demand(network.ranks, 1), schedule)
    _core.verify_waits(network, schedule, _core.Waits.from_lists(waits, window), certificate)
    assert certificate.ok, certificate.findings


@sampled(60)
@given(tree_plans(3, 7, switch_link=unequal), st.sampled_from([1, 2]), st.integers(0, 2**32 - 1))
def test_a_wait_that_keeps_shares_apart_is_missed(plan: NetworkPlan, window: int, seed: int) -> None:
    """Messages that the verifier accepts without a wait never overfill a channel, however long transfers
    take."""
    network = plan.build()
    rng = Random(seed)
    schedule = make(network, "list")
    rows, lists = schedule.rows(), lists_of(_core.Waits.derive(network, schedule, window), len(schedule))
    for i, wait in [(i, wait) for i, row in enumerate(lists) for wait in row][:40]:
        fewer = without(lists, i, wait)
        certificate = _core.verify(network, _core.Demand(network.ranks, 1), schedule)
        _core.verify_waits(network, schedule, _core.Waits.from_lists(fewer, window), certificate)
        for _ in range(3 if certificate.ok else 0):
            fill = fullest(network, rows, fewer, window, rng)
            assert fill <= window + 1e-9, f"without the wait of {rows[i]} for {rows[wait]}"
        if not network.equal_rates and not certificate.ok:
            assert "not ordered by waits" in certificate.counts


@settings(max_examples=60)
@given(tree_plans(4, 20, switch_link=wide), st.sampled_from([1, 2, 3]))
def test_what_is_verified_before_it_is_written_is_verified_when_read(plan: NetworkPlan, window: int) -> None:
    """A plan file lists a phase by sender, algorithms list it as they made it."""
    network = plan.build()
    exchange = plan_collective("all-to-all", network, 65536, "packing", window)
    assert exchange.certificate.ok
    read = _core.Plan.decode(exchange.encode())
    certificate = check(network, read.demand, read.schedule, read.waits)
    assert certificate.ok, certificate.findings


def test_window_one_orders_every_pair_on_a_channel() -> None:
    """Not only neighbours on a channel: all pairs, in a network of equal links."""
    for seed in range(20):
        network = random_tree(Random(seed), 8).build()
        schedule = make(network)
        rows, lists = check_sufficient(network, schedule, 1)
        over = over_before(rows, lists, 1)
        routes = [set(network.route(row[1], row[2])) for row in rows]
        for later in range(len(rows)):
            for earlier in range(later):
                if routes[earlier] & routes[later]:
                    assert over[later] >> earlier & 1


@pytest.mark.parametrize("window", [1, 2, 3])
def test_other_families(window: int) -> None:
    for network in (
        _core.Network.grid("torus", [3, 4], 1e9, 0),
        _core.Network.grid("mesh", [3, 3], 1e9, 0),
        _core.Network.grid("hypercube", [3], 1e9, 0),
        random_graph(Random(3), 10).build("graph"),
    ):
        check_sufficient(network, make(network), window)


def test_few_redundant_waits_are_left() -> None:
    """The search for redundant ones is bounded, so a few may stay: at most one in a hundred."""
    left = kept = 0
    for seed in range(60):
        network = random_tree(Random(1000 + seed), 4 + seed % 11).build()
        schedule = make(network)
        rows, lists = schedule.rows(), lists_of(_core.Waits.derive(network, schedule), len(schedule))
        left += redundant(rows, lists, 1)
        kept += sum(map(len, lists))
    assert left <= 0.01 * kept, f"{left} of {kept}"


@pytest.mark.parametrize(("name", "plan"), [("a", PAPER_A()), ("b", PAPER_B()), ("c", PAPER_C())])
def test_topologies_of_the_paper(name: str, plan: NetworkPlan) -> None:
    """At most one wait per message; on (a) and (b) none that follows from the others, on (c) few."""
    network = plan.build()
    schedule = make(network)
    waits = _core.Waits.derive(network, schedule)
    assert len(waits) <= len(schedule)
    left = redundant(schedule.rows(), lists_of(waits, len(schedule)), 1)
    assert left == 0 if name != "c" else left <= 0.02 * len(waits)


@pytest.mark.parametrize(
    "plan", [star(5), chain([3, 3, 2]), balanced([2, 2, 2])], ids=["star", "chain", "balanced"]
)
@pytest.mark.parametrize("window", [1, 2])
def test_dropping_any_wait_is_noticed(plan: NetworkPlan, window: int) -> None:
    network = plan.build()
    schedule = make(network)
    rows, lists = check_sufficient(network, schedule, window)
    order_needed = must_be_over(network, rows, window)
    for i, row in enumerate(lists):
        for wait in row:
            fewer = without(lists, i, wait)
            over = over_before(rows, fewer, window)
            broken = any(not over[t] >> e & 1 for t, needed in enumerate(order_needed) for e in needed)
            certificate = _core.verify(network, _core.Demand(network.ranks, 1), schedule)
            _core.verify_waits(network, schedule, _core.Waits.from_lists(fewer, window), certificate)
            assert (certificate.counts.get("not ordered by waits", 0) > 0) == broken
            assert broken, f"the wait of {rows[i]} for {rows[wait]} is redundant"


def test_ports_of_a_rank_need_no_wait_of_its_own() -> None:
    """A star of two hosts: one message each way, nothing to wait for."""
    network = star(2).build()
    waits = _core.Waits.derive(network, make(network))
    assert (len(waits), waits.derived) == (0, 0)


def test_waits_of_another_schedule_are_refused() -> None:
    network = star(4).build()
    with pytest.raises(_core.InputError, match="number of ranks"):
        _core.Waits.derive(network, make(star(5).build()))
    stray = _core.Schedule.from_rows(4, 1, [(0, 7, 1, 7, 1, 0, 1)])
    with pytest.raises(_core.InputError, match="names a rank"):
        _core.Waits.derive(network, stray)


def test_several_sends_of_one_phase_are_over_before_the_next() -> None:
    """All-port: on a ring of hosts every rank sends both ways in every phase, and waits for nobody."""
    n = 5
    rows = [
        (t, p, (p + step) % n, (p - step * t) % n, _core.EVERYONE, 0, 100)
        for t in range(2)
        for p in range(n)
        for step in (1, -1)
    ]
    network = _core.Network.grid("torus", [n], 1e9, 1e-6)
    demand = _core.Demand(n, 100, "all-gather")
    schedule = _core.Schedule.from_rows(n, 100, rows)
    certificate = _core.verify(network, demand, schedule, _core.PortModel.all_port)
    waits = _core.Waits.derive(network, schedule)
    _core.verify_waits(network, schedule, waits, certificate)
    assert certificate.ok, certificate.findings
    assert len(waits) == 0
    assert _core.lower_bounds(network, demand).seconds == 4 * 100 / 2e9
