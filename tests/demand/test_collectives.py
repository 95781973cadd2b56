"""Collectives as descriptors."""

import pytest
from mpi4py import MPI

from hocket import _core
from hocket.cli.plan import plan
from hocket.demand.collectives import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_TO_ALL,
    BROADCAST,
    COLLECTIVES,
    EQUAL,
    GATHER,
    IRREGULAR,
    REDUCE,
    REDUCE_SCATTER,
    call_of,
)
from hocket.measure.bench_exchanges import exchange_of
from hocket.measure.bench_rows import EQUAL_CALLS

PATTERNS = {ALL_TO_ALL, ALL_GATHER, IRREGULAR, REDUCE_SCATTER, ALL_REDUCE}


def test_names_are_unique_and_each_names_its_calls() -> None:
    assert len(COLLECTIVES) == len(_core.Collective.all())
    calls = [call for c in COLLECTIVES.values() for call in c.mpi_calls.split(", ")]
    assert len(set(calls)) == len(calls) and all(call.startswith("MPI_") for call in calls)


def test_patterns_are_collectives_and_commands_follow_from_the_table() -> None:
    assert PATTERNS == {c.pattern for c in COLLECTIVES.values()} <= COLLECTIVES.keys()
    assert plan.commands.keys() == COLLECTIVES.keys()
    for collective in EQUAL:
        told = plan.commands[collective.name].help or ""
        asks = f"{collective.asks[0].lower()}{collective.asks[1:]}"
        assert told.startswith(f"Plan {collective.mpi_calls}: {asks}\n")


def test_what_is_measured_has_a_name_and_a_call() -> None:
    assert EQUAL_CALLS.keys() <= COLLECTIVES.keys()
    assert all(exchange_of(MPI.COMM_SELF, name, 8) for name in EQUAL_CALLS)
    assert all(call in COLLECTIVES[name].mpi_calls.split(", ") for name, call in EQUAL_CALLS.items())


@pytest.mark.parametrize("name", [name for name, c in COLLECTIVES.items() if not c.by_matrix])
@pytest.mark.parametrize("root", [0, 3])
def test_a_demand_has_the_pattern_and_the_sizes(name: str, root: int) -> None:
    collective = COLLECTIVES[name]
    demand = collective.demand(4, 100, root)
    size = (
        25 if name == ALL_REDUCE else 100
    )  # of a rank's block; the size that an all-reduce is given is its vector's
    assert (demand.pattern, demand.ranks, demand.bytes) == (collective.pattern, 4, size)
    if collective.pattern == IRREGULAR:
        ends = [(root, other) for other in range(4) if other != root]
        ends = [end[::-1] for end in ends] if name == GATHER else ends
        assert sorted(demand.list()) == sorted((src, dst, 100) for src, dst in ends)
        assert call_of(demand) == (name, root)
        return
    target = (root + 1) % 4 if collective.pattern == ALL_TO_ALL else _core.EVERYONE
    assert demand.size(root, target) == size
    if name in (BROADCAST, REDUCE):
        assert demand.size((root + 1) % 4, target) == 0


def test_a_matrix_must_be_given_where_sizes_are_the_programs() -> None:
    (collective,) = (c for c in COLLECTIVES.values() if c.by_matrix)
    with pytest.raises(ValueError, match=r"Demand\.irregular makes"):
        collective.demand(4, 100)


def test_what_is_no_collective_is_told_from_one_with_a_root() -> None:
    def of(*messages: tuple[int, int, int]) -> _core.Demand:
        src, dst, size = zip(*messages, strict=True)
        return _core.Demand.irregular(4, list(src), list(dst), list(size))

    assert call_of(of((1, 0, 5), (2, 0, 5), (3, 0, 5))) == (GATHER, 0)
    assert call_of(of((1, 0, 5), (2, 0, 5), (3, 0, 6))) is None
    assert call_of(of((1, 0, 5), (2, 0, 5))) is None
    assert call_of(of((1, 0, 5), (0, 2, 5), (0, 3, 5))) is None
    assert call_of(_core.Demand.irregular(4, [], [], [])) is None
    assert call_of(_core.Demand.irregular(2, [0], [1], [7])) in {(GATHER, 1), ("scatter", 0)}
