"""One rank's program from the closed form is that of the whole schedule, tokens and releases included."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from hocket.network import read_network
from peak_memory import growth
from strategies import NetworkPlan, fat_tree, random_tree, star, tree_plans


def check(network: _core.Network) -> None:
    """Every program is, bit for bit, that of the rule of waits applied to the whole; nothing meets that must not."""
    demand = _core.Demand(network.ranks, 64)
    planned = _core.plan_exchange(network, demand, 1)
    waits = _core.local_waits(network, planned.schedule)
    form = _core.ClosedForm(network, demand)
    assert (form.algorithm, form.phases) == (planned.algorithm, planned.schedule.phases)
    for rank, program in enumerate(planned.schedule.programs(waits)):
        program = form.program(rank)
        assert program.sends == program.sends
        assert program.receives == program.receives
    certificate = _core.verify(network, demand, planned.schedule)
    _core.verify_waits(network, planned.schedule, waits, certificate)
    assert certificate.ok


def shuffled(plan: NetworkPlan, random: Random) -> NetworkPlan:
    """Copy of the tree with its nodes, and so its ranks, in another order."""
    order = list(range(len(plan.names)))
    random.shuffle(order)
    at = {node: place for place, node in enumerate(order)}
    return NetworkPlan(
        [plan.names[node] for node in order],
        [plan.ranks[node] for node in order],
        [(at[a], at[b]) for a, b in plan.links],
        plan.rates,
    )


@settings(max_examples=150)
@given(tree_plans(2, 24), st.integers(0, 2**32))
def test_rows_of_random_trees_in_any_order_of_ranks(plan: NetworkPlan, seed: int) -> None:
    check(shuffled(plan, Random(seed)).build())


@pytest.mark.parametrize("sides", [[2, 8], [3, 4, 2], [2, 2, 2, 2], [12, 3], [3, 12]])
def test_rows_of_regular_trees(sides: list[int]) -> None:
    check(read_network("tree:" + "x".join(map(str, sides))))


def test_rows_of_a_larger_tree() -> None:
    check(shuffled(random_tree(Random(3), 120), Random(4)).build())


GRIDS = {
    "torus": [[4, 4], [8, 8], [8, 4], [4, 4, 4], [16], [4, 8, 4], [16, 8]],
    "mesh": [[4, 4], [8, 4], [8, 8]],
    "hypercube": [[1], [3], [5]],
}


@pytest.mark.parametrize(("kind", "sides"), [(kind, sides) for kind, all in GRIDS.items() for sides in all])
def test_rows_of_grids(kind: str, sides: list[int]) -> None:
    check(_core.Network.grid(kind, sides, 1e9, 1e-6))


FULL_FAT_TREES = [
    ([2, 2], [1, 2]),
    ([4, 3], [1, 4]),
    ([3, 2, 2], [1, 3, 2]),
    ([2, 3, 4], [1, 2, 3]),
    ([2, 2, 2, 2], [1, 2, 2, 2]),
]


@pytest.mark.parametrize(("down", "up"), FULL_FAT_TREES)
def test_rows_of_full_fat_trees(down: list[int], up: list[int]) -> None:
    plan = fat_tree(down, up, Random(1))
    network = plan.build("graph")
    check(network)
    size = math.prod(down[:-1])  # of a subtree below the top; the first one and the last one have ranks
    two = [int(name[0] == "n" and int(name[1:]) // size in (0, down[-1] - 1)) for name in plan.names]
    check(network.restricted_to(two))


LIMIT = _core.limits.most_ranks_searched_for_waits
LARGE = [
    "star:520",
    "tree:4x8x17",
    "tree:2x2x2x67",
    "torus:24x24",
    "mesh:24x24",
    "hypercube:10",
    "fat-tree:k=14",
]


@pytest.mark.parametrize("source", LARGE)
def test_rows_are_those_of_plans_with_many_ranks(source: str) -> None:
    """Rank programs equal those of the plan, above the limit of ranks or not."""
    network = read_network(source)
    assert network.ranks > LIMIT
    demand = _core.Demand(network.ranks, 64)
    planned = _core.plan_exchange(network, demand, 1)
    form = _core.ClosedForm(network, demand)
    programs = planned.schedule.programs(planned.waits)
    assert (form.algorithm, form.phases) == (planned.algorithm, planned.schedule.phases)
    for rank in (0, 1, LIMIT // 3, LIMIT, network.ranks - 1):
        assert form.program(rank) == programs[rank]
    certificate = _core.verify(network, demand, planned.schedule)
    _core.verify_waits(network, planned.schedule, planned.waits, certificate)
    assert certificate.ok


@pytest.mark.parametrize(("source", "by_rule"), [("tree:4x8x16", False), ("tree:4x8x17", True)])
def test_up_to_the_limit_redundant_waits_are_searched_for(source: str, by_rule: bool) -> None:
    network = read_network(source)
    assert (network.ranks > LIMIT) == by_rule
    planned = _core.plan_exchange(network, _core.Demand(network.ranks, 64), 1)
    local = _core.local_waits(network, planned.schedule)
    assert (len(planned.waits) == len(local)) == by_rule


@pytest.mark.parametrize(
    ("source", "holds"),
    [("star:8", True), ("tree:2x4", False), ("fat-tree:2x2x2", True), ("dragonfly:3x2x2", False)],
)
def test_where_the_rule_of_waits_holds(source: str, holds: bool) -> None:
    """Not where messages of a phase share a channel, nor with routes from a table."""
    network = read_network(source)
    n = network.ranks
    messages = [(step - 1, rank, (rank + step) % n) for step in range(1, n) for rank in range(n)]
    ring = _core.Schedule.from_rows(
        n, 64, [(phase, src, dst, src, dst, 0, 64) for phase, src, dst in messages]
    )
    assert (_core.local_waits(network, ring) is not None) == holds


@pytest.mark.parametrize(
    ("network", "why"),
    [
        ("mesh:5x5", "not dealt out to permutations"),
        ("torus:12x12", "not dealt out to permutations"),
        ("torus:512x2", "too long"),
        ("torus:4x4*2", "one rank on every host"),
        ("dragonfly:3x2x2", "no closed form"),
        ("fat-tree:2x4x2", "nested shifts are far from the bound"),
        ("fat-tree:2x2x2*2", "several ranks"),
        ("star:1", "at least two ranks"),
    ],
)
def test_why_there_is_no_row(network: str, why: str) -> None:
    known = read_network(network)
    with pytest.raises(_core.InputError, match=why):
        _core.ClosedForm(known, _core.Demand(known.ranks, 64))


def test_links_that_differ_have_no_row() -> None:
    plan = random_tree(Random(1), 9)
    plan.rates[0] *= 2
    network = plan.build()
    with pytest.raises(_core.InputError, match="differ in rate"):
        _core.ClosedForm(network, _core.Demand(network.ranks, 64))


def test_there_is_no_such_row() -> None:
    form = _core.ClosedForm(star(3).build(), _core.Demand(3, 64))
    for rank in (3, 2**31):
        with pytest.raises(_core.InputError, match="no rank"):
            form.program(rank)
    for pair in [(0, 0), (0, 3), (3, 0)]:
        with pytest.raises(_core.InputError, match="no such message"):
            form.phase(*pair)


@pytest.mark.parametrize("network", ["tree:20x10x10", "torus:16x16x8"])
def test_a_sample_of_a_schedule_too_large_to_write_down_here(network: str) -> None:
    """A sample of the schedule of 2,000 hosts is right; and two rank programs agree on their common
    tokens."""
    known = read_network(network)
    form = _core.ClosedForm(known, _core.Demand(known.ranks, 64))
    sample = form.verify_sample(3000, 5)
    assert sample.ok and sample.messages == 3000 and not sample.findings
    mine = form.program(17)
    sends = mine.sends
    senders = {releaser for _, _, tokens in sends for releaser in tokens}
    for releaser in sorted(senders)[:20]:
        released = [send for *_, all in form.program(releaser).receives for rank, send in all if rank == 17]
        awaited = [place for place, (*_, all) in enumerate(sends) for token in all if token == releaser]
        assert sorted(released) == awaited


@settings(max_examples=40)
@given(tree_plans(2, 16), st.integers(0, 2**32))
def test_a_sample_finds_nothing_in_random_trees(plan: NetworkPlan, seed: int) -> None:
    network = shuffled(plan, Random(seed)).build()
    sample = _core.ClosedForm(network, _core.Demand(network.ranks, 64)).verify_sample(200, seed)
    assert sample.ok and sample.messages == 200


def test_lines_of_a_row_in_pieces() -> None:
    """A line is a transfer of an all-to-all, and any number of lines can be written at once."""
    program = _core.ClosedForm(read_network("tree:3x4"), _core.Demand(12, 64)).program(5)
    whole = program.csv(5, 64, 0, program.transfers)
    assert whole.count(b"\n") == program.transfers == 22
    for step in (1, 3, 21, 22, 40):
        assert b"".join(program.csv(5, 64, first, first + step) for first in range(0, 30, step)) == whole


def test_memory_of_a_row() -> None:
    """Memory of a program of 100,000 ranks: lists of pieces and tokens, most of them empty, take 6 MB more as
    vectors."""
    prepare = (
        "from hocket import _core\n"
        "from hocket.network import read_network\n"
        "network = read_network('star:100000')\n"
        "form = _core.ClosedForm(network, _core.Demand(network.ranks, 64))\n"
    )
    assert growth(prepare, "program = form.program(7)") < 14_000  # KiB
