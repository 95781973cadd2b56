"""The binary plan: everything comes back (docs/formats.md)."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from peak_memory import growth
from plan_file import (
    DEMAND,
    matrix_of,
    split,
)
from plans import exchanging, forwarded, forwarding, gathering, make_plan, planned, small
from strategies import few_ranks, random_graph, random_tree, star, unequal


def by_phase(rows: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """A plan keeps the order within a phase by sender only."""
    return sorted(rows, key=lambda row: (row[0], row[1]))


def waits_by_row(plan: _core.Plan) -> dict[tuple[int, ...], set[tuple[int, ...]]]:
    rows = plan.schedule.rows()
    return {row: {rows[wait] for wait in plan.waits.of(i)} for i, row in enumerate(rows)}


def check_round_trip(plan: _core.Plan, network: _core.Network) -> None:
    data = plan.encode()
    again = _core.Plan.decode(data)
    assert again.schedule.rows() == by_phase(plan.schedule.rows())
    assert waits_by_row(again) == waits_by_row(plan)
    assert (again.waits.window, again.waits.derived) == (plan.waits.window, plan.waits.derived)
    assert again.schedule.phases == plan.schedule.phases and len(again.schedule) == len(plan.schedule)
    for field in ("algorithm", "bound_phases", "bound_seconds", "predicted_seconds"):
        assert getattr(again, field) == getattr(plan, field)
    assert (again.demand.ranks, again.demand.bytes) == (network.ranks, plan.demand.bytes)
    rebuilt = again.network
    for field in ("shape", "names", "ranks_per_node", "links", "sides", "ties", "next_hops", "host_rate"):
        assert getattr(rebuilt, field) == getattr(network, field)
    assert all(rebuilt.rate(c) == network.rate(c) for c in range(network.channels))
    assert _core.Plan.decode(again.encode()).encode() == again.encode()
    programs = plan.schedule.programs(plan.waits)
    for rank, program in enumerate(programs):
        alone = _core.decode_program(data, rank)
        assert alone.sends == program.sends
        assert alone.receives == program.receives


@pytest.mark.parametrize("seed", range(25))
def test_round_trip_of_random_schedules(seed: int) -> None:
    rng = Random(seed)
    plan = random_tree(
        rng, rng.randint(1, 20), ranks=few_ranks, switch_link=unequal if seed % 2 else lambda _: 1.0
    )
    network = plan.build()
    check_round_trip(planned(network, rng.choice([1, 127, 128, 65536, 2**40]), 1 + seed % 3), network)


@pytest.mark.parametrize("name", ["ring", "linear", "pairwise"])
def test_round_trip_of_baselines(name: str) -> None:
    network = star(8).build()
    schedule = _core.Algorithm.find(name).make(network, _core.Demand(8, 10))
    check_round_trip(make_plan(network, schedule, 10), network)


def test_round_trip_of_an_all_gather() -> None:
    plan = gathering()
    check_round_trip(plan, star(3).build())
    again = _core.Plan.decode(plan.encode()).demand
    assert (again.pattern, again.contributions) == ("all-gather", [100, 0, 40])
    certificate = _core.verify(star(3).build(), again, plan.schedule)
    assert certificate.ok, certificate.findings


def test_round_trip_of_an_irregular_exchange() -> None:
    plan, network = exchanging(), star(4).build()
    check_round_trip(plan, network)
    data = plan.encode()
    again = _core.Plan.decode(data).demand
    assert (again.pattern, again.total_bytes) == ("irregular", 455)
    assert again.list() == plan.demand.list() == matrix_of(split(data)[DEMAND], 4)
    certificate = _core.verify(network, again, plan.schedule)
    assert certificate.ok, certificate.findings
    assert split(small())[DEMAND] == b""


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1))
def test_round_trip_of_random_matrices(seed: int) -> None:
    """Each message in a phase of its own; sizes up to the largest sum there may be."""
    rng = Random(seed)
    ranks = rng.randint(1, 9)
    pairs = [(src, dst) for src in range(ranks) for dst in range(ranks) if src != dst]
    chosen = sorted(rng.sample(pairs, rng.randint(0, len(pairs))))
    largest = (2**63 - 1) // max(len(chosen), 1)
    sizes = [rng.choice([1, 127, 128, rng.randint(1, largest), largest]) for _ in chosen]
    demand = _core.Demand.irregular(ranks, [s for s, _ in chosen], [d for _, d in chosen], sizes)
    rows = [
        (phase, s, d, s, d, 0, size) for phase, ((s, d), size) in enumerate(zip(chosen, sizes, strict=True))
    ]
    network = star(ranks).build()
    schedule = _core.Schedule.from_rows(ranks, demand.bytes, rows)
    waits = _core.Waits.derive(network, schedule)
    plan = _core.Plan(network, schedule, waits, demand, "by hand", 0, 0.0, 0.0)
    check_round_trip(plan, network)
    assert _core.Plan.decode(plan.encode()).demand.list() == demand.list()


def test_round_trip_of_other_networks() -> None:
    networks = [
        _core.Network.grid("torus", [3, 2], 1e9, 1e-6),
        _core.Network.grid("mesh", [2, 3], 1e9, 1e-6),
        _core.Network.grid("hypercube", [3], 1e9, 1e-6),
        _core.Network.grid("torus", [4, 6], 1e9, 1e-6, ties=["+--+", "++++++"]),
        random_graph(Random(1), 7).build("graph"),
        forwarded(),
        _core.Network.routed(
            ["ä", "b"], [1, 1], ["x", "y"], [1e9, 2e9], [0, 1], [(0, 1, [0]), (1, 0, [1, 0])]
        ),
    ]
    for network in networks:
        check_round_trip(planned(network), network)


def test_round_trip_of_pieces() -> None:
    check_round_trip(forwarding(), star(3).build())


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1))
def test_round_trip_of_random_pieces(seed: int) -> None:
    """Any transfers at all, as long as no two in a phase are the same."""
    rng = Random(seed)
    ranks = rng.randint(2, 5)
    rows = set()
    for _ in range(rng.randint(1, 20)):
        src, dst = rng.sample(range(ranks), 2)
        offset = rng.randrange(90)
        rows.add(
            (0, src, dst, rng.randrange(ranks), rng.randrange(ranks), offset, rng.randrange(100 - offset))
        )
    ordered = by_phase([(i // 3, *row[1:]) for i, row in enumerate(sorted(rows))])
    network = star(ranks).build()
    size = max(max(offset + length for *_, offset, length in ordered), 1)
    check_round_trip(make_plan(network, _core.Schedule.from_rows(ranks, size, ordered), size), network)


def test_a_plan_is_written_one_program_at_a_time() -> None:
    """All programs of 1,024 ranks together take 230 MB."""
    prepare = (
        "from hocket.network import read_network\n"
        "from hocket.planning.plan import plan_collective\n"
        "plan = plan_collective('all-to-all', read_network('torus:8x8x16'), 1024)\n"
    )
    assert growth(prepare, "plan.encode()") < 150_000  # KiB
