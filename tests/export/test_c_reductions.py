"""Generated reductions and broadcasts: right in every byte, the same sum in every run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from mpi_tools import MpiUnderTest, mpich, open_mpi

from hocket.errors import UsageError
from hocket.export.c_header import RoutineOptions
from hocket.export.c_source import ROUTINES, routine_source
from hocket.network import read_network
from hocket.planning.plan import plan_collective

HERE = Path(__file__).parent
COLLECTIVES = ("all-reduce", "reduce-scatter", "reduce", "broadcast")
KIB = 1024


def source_of(
    collective: str,
    network: str,
    flow: str = "token",
    *,
    algorithm: str = "auto",
    alpha: float = 0.0,
    root: int = 0,
    function: str = "",
) -> str:
    net = read_network(network)
    options = RoutineOptions(function or ROUTINES[collective].replaced, flow)
    size = 64 * KIB * (net.ranks if collective == "all-reduce" else 1)
    made = plan_collective(collective, net, size, algorithm, options.window, alpha, root=root)
    return routine_source(made, network, options)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "routine.c"
    path.write_text(text)
    return path


@pytest.fixture(params=[mpich, open_mpi], ids=["mpich", "openmpi"])
def mpi(request: pytest.FixtureRequest) -> MpiUnderTest:
    found: MpiUnderTest = request.param()
    return found


def run_check(
    mpi: MpiUnderTest, routine: Path, collective: str, ranks: int, *flags: str, **variables: str
) -> str:
    program = routine.with_suffix("")
    mpi.compile([mpi.compiled(HERE / "reductions_check.c"), routine], program, *flags)
    done = mpi.start([str(program), collective], ranks, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.by_turns
@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize(
    ("network", "ranks", "flow"), [("chain:3,2", 5, "token"), ("torus:2x3", 6, "window:2")]
)
def test_every_byte(
    mpi: MpiUnderTest, tmp_path: Path, collective: str, network: str, ranks: int, flow: str
) -> None:
    routine = write(tmp_path, source_of(collective, network, flow))
    # One private communicator for the world, one for its duplicate, none for the parts.
    assert "failures 0, splits 1 1 0" in run_check(mpi, routine, collective, ranks, "-DHOCKET_MIN_BYTES=0")


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_barriers(tmp_path: Path, collective: str) -> None:
    routine = write(tmp_path, source_of(collective, "star:3*2", "barrier"))
    out = run_check(mpich(), routine, collective, 6, "-DHOCKET_MIN_BYTES=0")
    assert "failures 0, splits 1 1 0" in out


@pytest.mark.parametrize(
    ("collective", "network", "ranks", "algorithm", "alpha", "flow"),
    [
        ("all-reduce", "star:4", 4, "bruck", 0.0, "token"),  # aggregates
        ("reduce-scatter", "torus:3x3", 9, "gossip", 1e-3, "token"),  # aggregates, several ports
        ("all-reduce", "torus:8", 8, "gossip", 1e-5, "free"),  # parts of blocks
        ("all-reduce", "star:2", 2, "auto", 0.0, "token"),
        ("reduce", "mesh:2x3", 6, "spreading", 0.0, "free"),
    ],
)
def test_shapes_of_schedules(
    tmp_path: Path, collective: str, network: str, ranks: int, algorithm: str, alpha: float, flow: str
) -> None:
    text = source_of(collective, network, flow, algorithm=algorithm, alpha=alpha)
    out = run_check(mpich(), write(tmp_path, text), collective, ranks, "-DHOCKET_MIN_BYTES=0")
    assert "failures 0, splits 1 1 0" in out


@pytest.mark.parametrize("collective", ["reduce", "broadcast"])
def test_roots_and_processor_names(tmp_path: Path, collective: str) -> None:
    """The root is a place in the network: of six ranks in the reverse order of hosts, 4 is where 1 is meant."""
    routine = write(tmp_path, source_of(collective, "chain:3,3", root=1))
    assert "#define ROOT 1 " in routine.read_text()
    out = run_check(mpich(), routine, collective, 6, "-DHOCKET_MIN_BYTES=0", HOCKET_TEST_NAMES="reverse")
    assert "failures 0, splits 1 1 0" in out


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_small_ones_and_other_sizes_go_to_the_library(tmp_path: Path, collective: str) -> None:
    routine = write(tmp_path, source_of(collective, "star:3"))
    out = run_check(mpich(), routine, collective, 3, "-DHOCKET_MIN_BYTES=1000000000")
    assert "failures 0, splits 0 0 0" in out
    assert "failures 0, splits 0 0 0" in run_check(mpich(), routine, collective, 2, "-DHOCKET_MIN_BYTES=0")


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("flow", ["token", "barrier"])
def test_plain_c99(tmp_path: Path, collective: str, flow: str) -> None:
    routine = write(tmp_path, source_of(collective, "tree:2x3", flow, function="hocket_call"))
    flags = ("-std=c99", "-pedantic", "-Wshadow", "-Wmissing-prototypes", "-Wstrict-prototypes", "-O2", "-c")
    mpich().compile([routine], tmp_path / "routine.o", *flags)


def test_no_line_is_left_to_fill_in() -> None:
    for collective in COLLECTIVES:
        assert "@" not in source_of(collective, "star:4")


def test_a_partial_result_is_sent_when_all_that_comes_in_for_it_is_there() -> None:
    text = source_of("reduce-scatter", "star:4", "free", algorithm="neighbor-ring")
    row = text[text.index("sends_of_1[") :].splitlines()[1:4]
    # phase, to, piece, pieces, own receives
    assert [line.split(",")[4].strip() for line in row] == ["0", "1", "1"]


def test_blocks_of_an_all_reduce_are_equal() -> None:
    made = plan_collective("all-reduce", read_network("star:3"), 64 * KIB)
    with pytest.raises(UsageError, match="equal and not empty"):
        routine_source(made, "star:3", RoutineOptions("MPI_Allreduce"))
