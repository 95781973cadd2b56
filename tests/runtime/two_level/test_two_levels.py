"""Calls in two levels on any number of hosts: all are scheduled, every element checked, under both MPI families."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reported_calls import Said, all_scheduled

# What an MPI does with a call, in any form and layout, is in test_call_grid with both.
pytestmark = pytest.mark.by_turns

Check = Callable[..., Said]

SUMS = ["MPI_Reduce_scatter_block", "MPI_Reduce_scatter", "MPI_Reduce"]
TWO_LEVEL = ["MPI_Allreduce", "MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall"]
# Sums of 8 and 16 bits are the library's where it saturates them.
NARROW = ("operation",)
# Hosts as a network, and ranks on each.
PLACES = [("chain:2,1", 2), ("chain:3,2", 3), ("chain:2,2,2", 1), ("chain:4,3", 2), ("star:2", 3)]


# Each place with one of the candidates; with the other in `make test-slow`.
CANDIDATES = ["two-level-1", "two-level-native"]
USUAL = dict(zip(PLACES, [0, 1, 1, 0, 1], strict=True))


@pytest.mark.parametrize(
    ("network", "ranks", "candidate"),
    [
        pytest.param(*place, candidate, marks=[pytest.mark.slow] * (CANDIDATES[usual] != candidate))
        for place, usual in USUAL.items()
        for candidate in CANDIDATES
    ],
)
def test_any_number_of_hosts(check: Check, network: str, ranks: int, candidate: str) -> None:
    """With one rank a host there is nothing to aggregate: rank by rank."""
    hosts = sum(map(int, network.split(":")[1].split(",")))
    said = check("two_levels", f"{network}*{ranks}", hosts * ranks, env={"HOCKET_CHOOSE": candidate})
    all_scheduled(said, *TWO_LEVEL, by="aggregates by " if ranks > 1 else "", but=NARROW)
    all_scheduled(said, *SUMS, "MPI_Bcast", but=NARROW)


@pytest.mark.parametrize(("network", "ranks"), PLACES[:2])
def test_where_nobody_has_named_a_candidate(check: Check, network: str, ranks: int) -> None:
    """Sums that round go by aggregates at once, all others rank by rank."""
    hosts = sum(map(int, network.split(":")[1].split(",")))
    env = {"HOCKET_MIN_BYTES": "1", "HOCKET_CHOOSE": "learn"}
    said = check("two_levels 20011", f"{network}*{ranks}", hosts * ranks, env=env)
    all_scheduled(said, "MPI_Allreduce", *SUMS, "MPI_Bcast", but=NARROW)
    assert any(who.startswith("scheduled: aggregates by ") for who in said.served("MPI_Allreduce")), (
        said.lines
    )
