"""The generated routine: deterministic, plain C, and right in every byte."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from mpi_tools import MpiUnderTest, mpich, open_mpi

from hocket import _core
from hocket.errors import UsageError
from hocket.export.c_header import MOST_RANKS, RoutineOptions
from hocket.export.c_source import routine_source
from hocket.network import read_network
from hocket.planning.plan import plan_collective

pytestmark = pytest.mark.by_turns

HERE = Path(__file__).parent
FIGURE1 = str(HERE.parents[1] / "examples" / "networks" / "figure1.toml")


def planned(network: str, algorithm: str = "auto", window: int = 1) -> _core.Plan:
    return plan_collective("all-to-all", read_network(network), 65536, algorithm, window)


def write(tmp_path: Path, network: str, function: str = "MPI_Alltoall", flow: str = "token") -> Path:
    options = RoutineOptions(function, flow)
    path = tmp_path / "routine.c"
    path.write_text(routine_source(planned(network, window=options.window), network, options))
    return path


@pytest.fixture(params=[mpich, open_mpi], ids=["mpich", "openmpi"])
def mpi(request: pytest.FixtureRequest) -> MpiUnderTest:
    found: MpiUnderTest = request.param()
    return found


def run_check(mpi: MpiUnderTest, routine: Path, ranks: int, *flags: str, **variables: str) -> str:
    program = routine.with_suffix("")
    mpi.compile([mpi.compiled(HERE / "alltoall_check.c"), routine], program, *flags)
    return mpi.run(program, ranks, **variables)


@pytest.mark.parametrize(
    ("network", "ranks", "flow"),
    [
        (FIGURE1, 6, "token"),
        ("chain:2,3,4", 9, "token"),
        ("star:4*2", 8, "token"),
        ("chain:3,3", 6, "barrier"),
        ("tree:2x2x2", 8, "window:3"),
        ("torus:2x4", 8, "token"),
        ("torus:3x3", 9, "token"),
        ("mesh:2x3", 6, "window:2"),
        ("tree:2x3", 6, "free"),
    ],
)
def test_every_byte(mpi: MpiUnderTest, tmp_path: Path, network: str, ranks: int, flow: str) -> None:
    routine = write(tmp_path, network, flow=flow)
    out = run_check(mpi, routine, ranks, "-DHOCKET_MIN_BYTES=1")
    # One private communicator for the world, one for its duplicate, none for the parts.
    assert "failures 0, splits 1 1 0" in out


def test_small_messages_go_to_the_library(mpi: MpiUnderTest, tmp_path: Path) -> None:
    routine = write(tmp_path, "star:6")
    assert "failures 0, splits 0 0 0" in run_check(mpi, routine, 6, "-DHOCKET_MIN_BYTES=1000000000")


def test_another_number_of_ranks_goes_to_the_library(mpi: MpiUnderTest, tmp_path: Path) -> None:
    routine = write(tmp_path, "star:6")
    assert "failures 0, splits 0 0 0" in run_check(mpi, routine, 4, "-DHOCKET_MIN_BYTES=1")


def test_two_ranks(mpi: MpiUnderTest, tmp_path: Path) -> None:
    assert "failures 0, splits 1 1 0" in run_check(mpi, write(tmp_path, "star:2"), 2, "-DHOCKET_MIN_BYTES=1")


@pytest.mark.parametrize(("names", "key"), [("reverse", 5), ("strange", 0)])
def test_processor_names_place_the_ranks(mpi: MpiUnderTest, tmp_path: Path, names: str, key: int) -> None:
    routine = write(tmp_path, "chain:3,3")
    out = run_check(mpi, routine, 6, "-DHOCKET_MIN_BYTES=1", HOCKET_TEST_NAMES=names)
    assert "failures 0" in out
    assert f"key of rank 0: {key}" in out


def test_without_naps(mpi: MpiUnderTest, tmp_path: Path) -> None:
    out = run_check(mpi, write(tmp_path, "star:2"), 2, "-DHOCKET_MIN_BYTES=1", "-DHOCKET_NAP=0")
    assert "failures 0" in out


PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef OTHER
int OTHER(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
#define MPI_Alltoall OTHER
#endif
int main(int argc, char **argv)
{
  int rank, size, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int *out = malloc(sizeof(int) * size * 8192), *in = malloc(sizeof(int) * size * 8192);
  for (int i = 0; i < size * 8192; i++) out[i] = rank * 1000000 + i;
  MPI_Alltoall(out, 8192, MPI_INT, in, 8192, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size * 8192; i++) wrong += in[i] != i / 8192 * 1000000 + rank * 8192 + i % 8192;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("wrong %d\\n", wrong);
  free(out);
  free(in);
  MPI_Finalize();
  return wrong != 0;
}
"""


@pytest.mark.parametrize("function", ["MPI_Alltoall", "hocket_alltoall"])
def test_linked_with_an_unmodified_program(mpi: MpiUnderTest, tmp_path: Path, function: str) -> None:
    routine = write(tmp_path, FIGURE1, function)
    main = tmp_path / "main.c"
    main.write_text(PROGRAM)
    program = tmp_path / "program"
    mpi.compile([main, routine], program, *([] if function == "MPI_Alltoall" else [f"-DOTHER={function}"]))
    assert mpi.run(program, 6) == "wrong 0\n"
    symbols = subprocess.run(["nm", str(program)], capture_output=True, text=True, check=True).stdout
    assert re.search(rf" T {function}$", symbols, re.MULTILINE)


def test_plain_c99(tmp_path: Path) -> None:
    mpi = mpich()
    for flow in ("token", "barrier"):
        routine = write(tmp_path, "tree:2x4", flow=flow)
        flags = (
            "-std=c99",
            "-pedantic",
            "-Wshadow",
            "-Wmissing-prototypes",
            "-Wstrict-prototypes",
            "-O2",
            "-c",
        )
        mpi.compile([routine], tmp_path / "routine.o", *flags)


def test_same_input_same_text() -> None:
    assert routine_source(planned("tree:2x4"), "t") == routine_source(planned("tree:2x4"), "t")


def test_the_comment_tells_what_it_is() -> None:
    text = routine_source(planned(FIGURE1), "figure1.toml")
    head = text[: text.index("*/")]
    for part in ("figure1.toml", "Phases      9", "fewer than 9", "section 5", "n0, n1, n2", "Faraj"):
        assert part in head


def test_names_cannot_end_the_comment(tmp_path: Path) -> None:
    network = tmp_path / "odd.toml"
    source = planned("star:3")
    text = routine_source(source, '*/ int x; /* ??/ \n#error "no" @TABLES@ \\')
    network.with_suffix(".c").write_text(text)
    mpich().compile([network.with_suffix(".c")], tmp_path / "odd.o", "-c")


@pytest.mark.parametrize("function", ["", "1st", "MPI-Alltoall", "int", "f(", "x" * 64, "é"])
def test_function_names(function: str) -> None:
    with pytest.raises(UsageError, match="is not a name of a C function"):
        RoutineOptions(function).check()


@pytest.mark.parametrize("flow", ["", "tokens", "window", "window:0", "window:-1", "window:9999", "barrier "])
def test_flows(flow: str) -> None:
    with pytest.raises(UsageError, match="is not a known flow control"):
        RoutineOptions(flow=flow).check()


def test_sizes_that_are_refused() -> None:
    for network in ("star:1", f"star:{MOST_RANKS + 1}"):
        with pytest.raises(UsageError, match="ranks; a routine is written for 2 to"):
            routine_source(planned(network), network)


def test_linear_is_refused() -> None:
    with pytest.raises(UsageError, match="several messages in one phase"):
        routine_source(planned("star:4", "linear"), "star:4")
