"""hocket_elements.h and hocket.permute with its sisters, under real MPI: every byte checked, refusals.

Several hosts on one machine: HOCKET_TEST_SHARED_RANKS says how many ranks share memory.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hocket.launch.mpi import Mpi
from mpi_programs import compile_with_hocket, mpiexec, python_env

PROGRAMS = Path(__file__).parents[1] / "programs"


def check(mpi: Mpi, ranks: int, shared: int, *arguments: object, **env: str) -> None:
    argv = [sys.executable, str(PROGRAMS / "permute_check.py"), *map(str, arguments)]
    said = mpiexec(
        mpi, ranks, argv, python_env(mpi, "--sort") | {"HOCKET_TEST_SHARED_RANKS": str(shared)} | env
    )
    assert "ok" in said and mpi.family.value in said.lower().replace(" ", ""), said


@pytest.mark.by_turns
@pytest.mark.parametrize(
    ("ranks", "shared", "cases"),
    [
        *((1, 0, 30), (2, 0, 40), (3, 0, 30), (5, 0, 18), (2, 1, 30), (5, 2, 18)),
        *(
            pytest.param(ranks, shared, 240, marks=pytest.mark.slow)
            for ranks, shared in ((2, 0), (3, 0), (5, 0), (2, 1), (5, 2))
        ),
    ],
)
def test_random_cases(mpi: Mpi, ranks: int, shared: int, cases: int) -> None:
    check(mpi, ranks, shared, 100 * ranks + shared, cases)


@pytest.mark.by_turns
@pytest.mark.parametrize(("ranks", "shared"), [(1, 0), (3, 0), (3, 2)])
def test_wrong_arguments_of_one_rank_are_refused_on_all(mpi: Mpi, ranks: int, shared: int) -> None:
    check(mpi, ranks, shared, "refuse")


@pytest.mark.by_turns
@pytest.mark.parametrize(("ranks", "shared"), [(2, 0), (3, 1)])
def test_a_rank_without_memory_is_heard_of_on_all(mpi: Mpi, ranks: int, shared: int) -> None:
    """Memory kept by malloc from earlier calls would count as free: it keeps little."""
    check(mpi, ranks, shared, "memory", MALLOC_MMAP_THRESHOLD_="65536")


@pytest.fixture(scope="module")
def program(mpi: Mpi) -> Path:
    return compile_with_hocket(mpi, PROGRAMS / "permute_check.c", "--sort")


@pytest.mark.by_turns
@pytest.mark.parametrize(("ranks", "shared"), [(1, 0), (2, 0), (4, 0), (3, 1), (4, 2)])
def test_c_program(mpi: Mpi, program: Path, ranks: int, shared: int) -> None:
    assert "ok" in mpiexec(mpi, ranks, [str(program)], {"HOCKET_TEST_SHARED_RANKS": str(shared)})
