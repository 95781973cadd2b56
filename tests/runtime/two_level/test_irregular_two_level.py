"""Alltoallv, Alltoallw and calls among neighbours with one message between two hosts: every byte checked, under both
MPI families."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from call_rows import neighbours, typed, vectors
from hocket.launch.mpi import Mpi
from mpi_programs import mpiexec
from reported_calls import Said

# What an MPI does with a call, in any form and layout, is in test_call_grid with both.
pytestmark = pytest.mark.by_turns

Check = Callable[..., Said]
Told = Callable[..., tuple[subprocess.CompletedProcess[str], Said]]

NETWORK = "chain:2,1*3"  # three hosts
PLACEMENTS = {
    "block": [0, 0, 1, 1, 2, 2],
    "cyclic": [0, 1, 2, 0, 1, 2, 0, 1],
    "unequal": [2, 0, 2, 1, 0, 2],
}
VECTORS = (vectors(2000, parts=True), "alltoallv_check 2000")
TYPED = (typed(2000), "alltoallw_check transpose bottom far part alone")
NEIGHBOURS = (neighbours(2000),)
#: Between any two of six ranks a message of some hundred bytes has room; longer ones go on their own.
LITTLE_MEMORY = {"HOCKET_HOST_MEMORY": "65536"}


@pytest.fixture
def two_level(check: Check, tmp_path: Path) -> Callable[..., None]:
    """Runs a check on the hosts of a placement."""

    def run(program: str, placement: str, candidate: str, **env: str) -> None:
        places = tmp_path / "places"
        places.write_text("".join(f"n{host}\n" for host in PLACEMENTS[placement]))
        ranks = len(PLACEMENTS[placement])
        said = check(program, NETWORK, ranks, placement=str(places), env={"HOCKET_CHOOSE": candidate, **env})
        assert said.by_two_level(ranks) > 0
        assert said.by_two_level() == said.scheduled(), "no sizes are asked for"

    return run


@pytest.mark.parametrize(
    ("programs", "placement", "candidate"),
    [
        (VECTORS, "block", "two-level-1"),
        (VECTORS, "unequal", "two-level-native"),
        (TYPED, "cyclic", "two-level-order"),
        (NEIGHBOURS, "cyclic", "two-level-2"),
        (NEIGHBOURS, "unequal", "two-level-native"),
        (VECTORS, "cyclic", "two-level-leaders"),
        (TYPED, "block", "two-level-leaders"),
        (NEIGHBOURS, "block", "two-level-leaders"),
    ],
)
def test_every_byte_arrives(
    two_level: Callable[..., None], programs: tuple[str, ...], placement: str, candidate: str
) -> None:
    """Sizes change from call to call, are empty, or smaller than expected; types have gaps; calls are in place."""
    for program in programs:
        two_level(program, placement, candidate)


@pytest.mark.parametrize(
    ("placement", "candidate"),
    [("unequal", "two-level-1"), ("block", "two-level-native"), ("cyclic", "two-level-leaders")],
)
def test_long_messages_go_on_their_own(
    two_level: Callable[..., None], placement: str, candidate: str
) -> None:
    for program in (
        vectors(20000, parts=True),
        "alltoallv_check 20000 turns changing",
        typed(20000),
        "alltoallw_check transpose bottom part",
    ):
        two_level(program, placement, candidate, **LITTLE_MEMORY)


def test_errors_are_the_librarys(mpi: Mpi, told: Told, compiled: Callable[[str], Path]) -> None:
    """A rank with wrong arguments still takes part: the others of its host need it."""
    native = mpiexec(mpi, 4, [str(compiled("errors"))], {})
    done, said = told("errors", "chain:1,1*2", 4, env={"HOCKET_CHOOSE": "two-level-1"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == native
    assert said.by_two_level() > 0
