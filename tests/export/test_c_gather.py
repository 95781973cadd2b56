"""The generated all-gather: aggregates, parts, forwards, several ports; right in every byte.

The schedules are made by hand, so that each shape that an algorithm may give is there.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from mpi_tools import MpiUnderTest, mpich, open_mpi

from hocket import _core
from hocket.errors import UsageError
from hocket.export.c_header import RoutineOptions
from hocket.export.c_source import routine_source
from hocket.network import read_network
from hocket.planning.plan import check, plan_collective

HERE = Path(__file__).parent
ONE, ALL = _core.PortModel.one_port, _core.PortModel.all_port
Rows = list[tuple[int, int, int, int, int, int, int]]


def ring(ranks: int, bytes: int) -> Rows:
    """Ring: in phase t rank p passes on what came in the phase before."""
    return [
        (t, p, (p + 1) % ranks, (p - t) % ranks, _core.EVERYONE, 0, bytes)
        for t in range(ranks - 1)
        for p in range(ranks)
    ]


def doubling(ranks: int, bytes: int) -> Rows:
    """Bruck: in phase k rank p sends all it holds, and no more than is missing, to the rank 2^k before it."""
    rows: Rows = []
    phase, held = 0, 1
    while held < ranks:
        for p in range(ranks):
            for i in range(min(held, ranks - held)):
                rows.append((phase, p, (p - held) % ranks, (p + i) % ranks, _core.EVERYONE, 0, bytes))
        phase, held = phase + 1, 2 * held
    return rows


def both_ways(ranks: int, bytes: int) -> Rows:
    """Around a ring in both directions at once; of an even ring's opposite rank each side brings a part."""
    rows: Rows = []
    for t in range(ranks // 2):
        last = ranks % 2 == 0 and t == ranks // 2 - 1
        third = bytes // 3
        for p in range(ranks):
            ahead = (0, third) if last else (0, bytes)
            behind = (third, bytes - third) if last else (0, bytes)
            rows.append((t, p, (p + 1) % ranks, (p - t) % ranks, _core.EVERYONE, *ahead))
            rows.append((t, p, (p - 1) % ranks, (p + t) % ranks, _core.EVERYONE, *behind))
    return rows


SHAPES = {"ring": (ring, ONE), "doubling": (doubling, ONE), "both ways": (both_ways, ALL)}


def planned(network: str, shape: str, bytes: int = 3072, window: int = 1) -> _core.Plan:
    make, ports = SHAPES[shape]
    net = read_network(network)
    demand = _core.Demand(net.ranks, bytes, "all-gather")
    schedule = _core.Schedule.from_rows(net.ranks, bytes, make(net.ranks, bytes))
    waits = _core.Waits.derive(net, schedule, window)
    certificate = check(net, demand, schedule, waits, ports)
    assert certificate.complete, certificate.findings
    bounds = _core.lower_bounds(net, demand)
    least = bounds.least_phases(net, demand, ports)
    return _core.Plan(net, schedule, waits, demand, "by hand", least, bounds.seconds, 1)


def write(
    tmp_path: Path, network: str, shape: str, flow: str = "token", function: str = "MPI_Allgather"
) -> Path:
    options = RoutineOptions(function, flow)
    path = tmp_path / "routine.c"
    path.write_text(routine_source(planned(network, shape, window=options.window), network, options))
    return path


@pytest.fixture(params=[mpich, open_mpi], ids=["mpich", "openmpi"])
def mpi(request: pytest.FixtureRequest) -> MpiUnderTest:
    found: MpiUnderTest = request.param()
    return found


def run_check(mpi: MpiUnderTest, routine: Path, ranks: int, *flags: str, **variables: str) -> str:
    program = routine.with_suffix("")
    mpi.compile([mpi.compiled(HERE / "allgather_check.c"), routine], program, *flags)
    return mpi.run(program, ranks, **variables)


@pytest.mark.by_turns
@pytest.mark.parametrize(
    ("network", "ranks", "shape", "flow"),
    [
        ("chain:3,2", 5, "ring", "token"),
        ("star:7", 7, "doubling", "token"),
        ("star:3*2", 6, "doubling", "barrier"),
        ("torus:6", 6, "both ways", "token"),
        ("torus:5", 5, "both ways", "barrier"),
        ("torus:8", 8, "both ways", "window:2"),
        ("chain:2,3", 5, "doubling", "free"),
        ("star:2", 2, "ring", "token"),
    ],
)
def test_every_byte(
    mpi: MpiUnderTest, tmp_path: Path, network: str, ranks: int, shape: str, flow: str
) -> None:
    routine = write(tmp_path, network, shape, flow)
    # One private communicator for the world, one for its duplicate, none for the parts.
    assert "failures 0, splits 1 1 0" in run_check(mpi, routine, ranks, "-DHOCKET_MIN_BYTES=1")


def test_processor_names_place_the_ranks(mpi: MpiUnderTest, tmp_path: Path) -> None:
    routine = write(tmp_path, "chain:3,3", "ring")
    assert "failures 0" in run_check(mpi, routine, 6, "-DHOCKET_MIN_BYTES=1", HOCKET_TEST_NAMES="reverse")


def test_small_contributions_and_other_sizes_go_to_the_library(mpi: MpiUnderTest, tmp_path: Path) -> None:
    routine = write(tmp_path, "star:6", "doubling")
    assert "failures 0, splits 0 0 0" in run_check(mpi, routine, 6, "-DHOCKET_MIN_BYTES=1000000000")
    assert "failures 0, splits 0 0 0" in run_check(mpi, routine, 4, "-DHOCKET_MIN_BYTES=1")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("flow", ["token", "barrier"])
def test_plain_c99(tmp_path: Path, shape: str, flow: str) -> None:
    routine = write(tmp_path, "star:6", shape, flow, "hocket_allgather")
    flags = ("-std=c99", "-pedantic", "-Wshadow", "-Wmissing-prototypes", "-Wstrict-prototypes", "-O2", "-c")
    mpich().compile([routine], tmp_path / "routine.o", *flags)
    assert "int hocket_allgatherv(" in routine.read_text()


def test_a_send_waits_for_what_it_forwards() -> None:
    text = routine_source(planned("star:4", "ring"), "star:4", RoutineOptions("MPI_Allgather", "free"))
    row = text[text.index("sends_of_1[") :].splitlines()[1:4]
    # phase, to, piece, pieces, own receives: the first send is its own, every other forwards one receive
    assert [line.split(",")[4].strip() for line in row] == ["0", "1", "1"]


def test_what_no_routine_is_written_for() -> None:
    options = RoutineOptions("MPI_Allgather")
    with pytest.raises(UsageError, match="equal and not empty"):
        routine_source(planned("star:4", "ring", bytes=0), "star:4", options)


@pytest.mark.by_turns
@pytest.mark.parametrize(
    ("network", "ranks", "algorithm", "alpha"),
    [
        ("chain:3,2,2", 7, "switch-ring", 0.0),
        ("torus:3x3", 9, "gossip", 1e-3),
        ("torus:8", 8, "gossip", 1e-5),
        ("torus:2x4", 8, "rails", 0.0),
        ("mesh:2x3", 6, "spreading", 0.0),
        ("star:6", 6, "bruck", 0.0),
    ],
)
def test_algorithms_of_the_registry(
    mpi: MpiUnderTest, tmp_path: Path, network: str, ranks: int, algorithm: str, alpha: float
) -> None:
    made = plan_collective("all-gather", read_network(network), 65536, algorithm, alpha=alpha)
    routine = tmp_path / "routine.c"
    routine.write_text(routine_source(made, network, RoutineOptions("MPI_Allgather")))
    assert "failures 0, splits 1 1 0" in run_check(mpi, routine, ranks, "-DHOCKET_MIN_BYTES=1")
