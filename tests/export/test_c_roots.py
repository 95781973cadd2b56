"""Generated gathers and scatters: right in every byte, from the root that they are written for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from mpi_tools import MpiUnderTest, mpich, open_mpi

from hocket import _core
from hocket.errors import UsageError
from hocket.export.c_header import RoutineOptions
from hocket.export.c_source import ROUTINES, routine_source
from hocket.network import read_network
from hocket.planning.plan import plan_collective

HERE = Path(__file__).parent
COLLECTIVES = ("gather", "scatter")
# A private communicator for the world, one for its duplicate, none for parts.
SERVED = "failures 0, splits 1 1 0"


def write(
    tmp_path: Path, collective: str, network: str, flow: str = "token", *, root: int = 0, function: str = ""
) -> Path:
    options = RoutineOptions(function or ROUTINES[collective].replaced, flow)
    made = plan_collective(collective, read_network(network), 65536, window=options.window, root=root)
    path = tmp_path / "routine.c"
    path.write_text(routine_source(made, network, options))
    assert "@" not in path.read_text()
    return path


@pytest.fixture(params=[mpich, open_mpi], ids=["mpich", "openmpi"])
def mpi(request: pytest.FixtureRequest) -> MpiUnderTest:
    found: MpiUnderTest = request.param()
    return found


def run_check(
    mpi: MpiUnderTest, routine: Path, collective: str, ranks: int, *flags: str, **variables: str
) -> str:
    program = routine.with_suffix("")
    mpi.compile([mpi.compiled(HERE / "roots_check.c"), routine], program, *flags)
    done = mpi.start([str(program), collective], ranks, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.by_turns
@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize(
    ("network", "ranks", "flow", "root"), [("chain:3,2", 5, "token", 1), ("star:3*2", 6, "window:2", 5)]
)
def test_every_byte(
    mpi: MpiUnderTest, tmp_path: Path, collective: str, network: str, ranks: int, flow: str, root: int
) -> None:
    routine = write(tmp_path, collective, network, flow, root=root)
    assert SERVED in run_check(mpi, routine, collective, ranks, "-DHOCKET_MIN_BYTES=0")


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("flow", ["barrier", "free"])
def test_other_flow_control(tmp_path: Path, collective: str, flow: str) -> None:
    routine = write(tmp_path, collective, "torus:2x2", flow, root=3)
    assert SERVED in run_check(mpich(), routine, collective, 4, "-DHOCKET_MIN_BYTES=0")


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_the_root_is_a_place_in_the_network(tmp_path: Path, collective: str) -> None:
    """Rank 4 of six ranks in the reverse order of hosts is at the place of rank 1."""
    routine = write(tmp_path, collective, "chain:3,3", root=1)
    assert "#define ROOT 1 " in routine.read_text()
    out = run_check(mpich(), routine, collective, 6, "-DHOCKET_MIN_BYTES=0", HOCKET_TEST_NAMES="reverse")
    assert SERVED in out


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_small_ones_go_to_the_library(tmp_path: Path, collective: str) -> None:
    routine = write(tmp_path, collective, "star:3")
    out = run_check(mpich(), routine, collective, 3, "-DHOCKET_MIN_BYTES=1000000000")
    assert "failures 0, splits 0 0 0" in out


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_plain_c99(tmp_path: Path, collective: str) -> None:
    routine = write(tmp_path, collective, "tree:2x3", function="hocket_call")
    flags = ("-std=c99", "-pedantic", "-Wshadow", "-Wmissing-prototypes", "-Wstrict-prototypes", "-O2", "-c")
    mpich().compile([routine], tmp_path / "routine.o", *flags)


def test_messages_are_sent_whole() -> None:
    """No algorithm cuts what goes into one root or out of it; one to come might."""
    made = plan_collective("gather", read_network("star:4"), 65536)
    (phase, *way, offset, length), *others = made.schedule.rows()
    half = (phase, *way, offset, length // 2)
    rest = (made.schedule.phases, *way, length // 2, length // 2)
    cut = _core.Schedule.from_rows(4, 65536, [half, *others, rest])
    with pytest.raises(UsageError, match=f"'{made.algorithm}' cuts messages"):
        of_cut = _core.Plan(made.network, cut, made.waits, made.demand, made.algorithm)
        routine_source(of_cut, "star:4", RoutineOptions("MPI_Gather", "free"))
