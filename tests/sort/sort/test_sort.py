"""hocket_sort.h and hocket.sort under real MPIs: every byte compared with a stable serial sort."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hocket.launch.mpi import Mpi
from mpi_programs import compile_with_hocket, mpiexec, python_env

PROGRAMS = Path(__file__).parents[1] / "programs"


def sort_check(mpi: Mpi, ranks: int, *arguments: str, shared: int = 0) -> int:
    """Number of cases that were right."""
    env = python_env(mpi, "--sort") | {"HOCKET_TEST_SHARED_RANKS": str(shared)}
    said = mpiexec(mpi, ranks, [sys.executable, str(PROGRAMS / "sort_check.py"), *arguments], env)
    ok, cases = said.split()
    assert ok == "ok"
    return int(cases)


# Between them every case; those with `shared` as if the ranks were on several hosts.
PARTS = pytest.mark.parametrize(("ranks", "shared", "first"), [(3, 0, 0), (4, 2, 1), (2, 1, 2), (5, 0, 3)])


@pytest.mark.by_turns
@PARTS
def test_types_distributions_methods(mpi: Mpi, ranks: int, shared: int, first: int) -> None:
    assert sort_check(mpi, ranks, "matrix", str(first), "4", shared=shared) == 77


@pytest.mark.slow
@PARTS
def test_every_balance(mpi: Mpi, ranks: int, shared: int, first: int) -> None:
    assert sort_check(mpi, ranks, "matrix", str(first), "4", "every", shared=shared) == 231


@pytest.mark.by_turns
@pytest.mark.parametrize("shared", [0, 2])
def test_payloads_of_all_widths(mpi: Mpi, shared: int) -> None:
    assert sort_check(mpi, 3, "payloads", shared=shared) > 50


@pytest.mark.by_turns
def test_awkward_arrays_and_reports(mpi: Mpi) -> None:
    sort_check(mpi, 3, "awkward")


@pytest.mark.by_turns
@pytest.mark.parametrize("shared", [0, 1])
def test_rounds_of_large_parts(mpi: Mpi, shared: int) -> None:
    assert sort_check(mpi, 2, "rounds", shared=shared) == 3


def test_refusals_reach_all_ranks(mpi: Mpi) -> None:
    assert sort_check(mpi, 3, "refusals") > 15


@pytest.mark.parametrize("ranks", [1, 4])
def test_c(mpi: Mpi, ranks: int) -> None:
    program = compile_with_hocket(mpi, PROGRAMS / "sort_check.c", "--sort")
    assert "ok 0 wrong" in mpiexec(mpi, ranks, [str(program)], {})


def test_mpi4py_missing() -> None:
    code = "import sys; sys.modules['mpi4py'] = None; import hocket; hocket.sort(None, [1])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert "MissingToolError: mpi4py is missing" in done.stderr
