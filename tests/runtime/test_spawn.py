"""Processes that the program starts: scheduled where processor names place them, else one warning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from irregular import EVERYTHING

Check = Callable[..., str]


def test_children_have_no_place_by_order(check: Check) -> None:
    said = check("spawn 3", "chain:3,3", 3, env=EVERYTHING)
    assert said.count("all-to-all of 3 ranks on 3 hosts") == 1, said  # the parents
    assert said.count("processes that the program spawns have no place") == 1, said


def test_children_are_placed_by_name(check: Check, names_library: Path) -> None:
    """Parents and children count from 0 alike, and so do their hosts: two ranks on each of three."""
    name = "n${PMI_RANK:-$PMIX_RANK}"
    said = check(
        "spawn 3",
        "chain:3,3",
        3,
        placement="names",
        exports={**EVERYTHING, "LD_PRELOAD": f"$LD_PRELOAD:{names_library}", "HOCKET_TEST_NAME": name},
    )
    assert said.count("all-to-all of 3 ranks on 3 hosts") == 2, said  # parents, children
    assert said.count("all-to-all of 6 ranks on 3 hosts") == 1, said
