"""Collectives as descriptors."""

import pytest

from hocket import _core

COLLECTIVES = {collective.name: collective for collective in _core.collectives()}


def test_names_are_unique_and_each_names_its_calls() -> None:
    assert len(COLLECTIVES) == len(_core.collectives())
    calls = [call for c in COLLECTIVES.values() for call in c.mpi_calls.split(", ")]
    assert len(set(calls)) == len(calls) and all(call.startswith("MPI_") for call in calls)


@pytest.mark.parametrize("name", [name for name, c in COLLECTIVES.items() if not c.by_matrix])
@pytest.mark.parametrize("root", [0, 3])
def test_a_demand_has_the_pattern_and_the_sizes(name: str, root: int) -> None:
    collective = COLLECTIVES[name]
    demand = collective.demand(4, 100, root)
    assert (demand.pattern, demand.ranks, demand.bytes) == (collective.pattern, 4, 100)
    target = _core.EVERYONE if collective.pattern == "all-gather" else (root + 1) % 4
    assert demand.size(root, target) == 100


def test_a_matrix_must_be_given_where_sizes_are_the_programs() -> None:
    (collective,) = (c for c in COLLECTIVES.values() if c.by_matrix)
    with pytest.raises(ValueError, match=r"Demand\.irregular makes"):
        collective.demand(4, 100)
