"""Processes that the program starts: scheduled where processor names place them, else one warning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reported_calls import Said
from scheduled_calls import EVERYTHING

Check = Callable[..., Said]


def test_children_have_no_place_by_order(check: Check) -> None:
    said = check("spawn 3", "chain:3,3", 3, env=EVERYTHING)
    assert said.count("all-to-all of 3 ranks on 3 hosts") == 1, said  # the parents
    assert said.scheduled("MPI_Alltoall", ranks=3) > 0
    assert said.count("spawned processes have no place") == 1, said


def test_children_are_placed_by_name(check: Check, names_library: Path) -> None:
    """Parents and children count from 0 alike, and so do their hosts."""
    said = check(
        "spawn 3",
        "chain:3,3",
        3,
        placement="names",
        env={**EVERYTHING, "LD_PRELOAD": str(names_library), "HOCKET_TEST_NAME": "n#"},
    )
    assert said.count("all-to-all of 3 ranks on 3 hosts") == 2, said  # children, too
    assert said.scheduled("MPI_Alltoall", ranks=3) > 0
    assert said.scheduled(ranks=6) == 0  # together: nobody knows whether others have the runtime
