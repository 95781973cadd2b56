"""Random sorts and permutations against numpy, of groups of 1 to 9 ranks."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hocket.launch.mpi import Mpi
from mpi_programs import mpiexec, python_env

SCRIPT = Path(__file__).parent / "programs/case_ranks.py"


@pytest.mark.by_turns
@pytest.mark.parametrize(
    ("shared", "seed", "count"),
    [
        (0, 7, 15),
        (2, 9, 15),
        *(pytest.param(shared, 7 + shared, 300, marks=pytest.mark.slow) for shared in (0, 2)),
    ],
)
def test_random_cases(mpi: Mpi, shared: int, seed: int, count: int) -> None:
    """``shared``: most ranks of a host; 0: all."""
    env = {**python_env(mpi, "--sort"), "HOCKET_TEST_SHARED_RANKS": str(shared)}
    said = mpiexec(mpi, 9, [sys.executable, str(SCRIPT), "--seed", str(seed), "--count", str(count)], env)
    counts = json.loads(said.splitlines()[-1])
    assert sum(counts["ranks"].values()) == count
