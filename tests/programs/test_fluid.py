"""The edge sweep of examples/fluid, in C and in Python, against its serial run in every bit."""

from __future__ import annotations

import functools
import re
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from builds import compile_once
from export.mpi_tools import MpiUnderTest, mpich, open_mpi
from programs.grids import grid

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "fluid"))
from meshes import halo_matrix, write_mesh

pytestmark = pytest.mark.by_turns

FLUID = Path(__file__).parents[2] / "examples" / "fluid"

MESH = grid(9)
POINTS = len(MESH.xy)
VALUES = 8
SIZE = ["--steps", "7", "--values", str(VALUES)]


def scattered(parts: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, parts, POINTS).astype(np.int32)


def blocks(*parts: int) -> np.ndarray:
    """Consecutive points to these parts."""
    return np.array(parts, dtype=np.int32)[np.arange(POINTS) * len(parts) // POINTS]


@dataclass(frozen=True)
class Division:
    """Owner of each part, among some ranks; `ranks` may be more than parts."""

    ranks: int
    parts: int
    owner: np.ndarray


DIVISIONS = {
    "alone": Division(1, 1, blocks(0)),
    "halves": Division(2, 2, blocks(1, 0)),
    "rank 1 owns nothing": Division(3, 3, blocks(0, 2, 0)),
    "everything to everyone": Division(4, 4, scattered(4, 1)),
    "two idle ranks": Division(5, 3, blocks(2, 2, 0, 1)),
}


# The program in C runs each of these; the one in Python those that it has.
RUNS = [
    ("alone", "neighbor"),
    ("halves", "alltoallv"),
    ("rank 1 owns nothing", "persistent"),
    ("everything to everyone", "alltoallv"),
    ("everything to everyone", "neighbor"),
    ("two idle ranks", "neighbor"),
    ("two idle ranks", "persistent"),
]


@dataclass(frozen=True)
class Programs:
    """An MPI with the commands that start the two programs."""

    mpi: MpiUnderTest
    c: list[str]
    python: list[str]


@functools.cache
def build(mpi: MpiUnderTest) -> Programs:
    flags = ["-std=c11", "-Wpedantic", "-ffp-contract=off", "-lm"]
    program = compile_once([*mpi.compiler, *map(str, sorted(FLUID.glob("*.c"))), *flags], "fluid")
    python = Path(mpi.mpicc).with_name("python")
    return Programs(mpi, [str(program)], [str(python), str(FLUID / "fluid.py")])


@pytest.fixture(params=[mpich, open_mpi], ids=["mpich", "openmpi"], scope="module")
def programs(request: pytest.FixtureRequest) -> Programs:
    return build(request.param())


@pytest.fixture(scope="module")
def with_mpich() -> Programs:
    """Programs for tests that no MPI can affect."""
    return build(mpich())


@pytest.fixture(scope="module")
def serial_state(programs: Programs, meshes: dict[str, str]) -> str:
    """Final state of the program in C."""
    done = programs.mpi.start([*programs.c, meshes["alone"], "--serial", *SIZE], 1)
    assert done.returncode == 0, done.stderr
    return state(done.stdout)


@pytest.fixture(scope="module")
def meshes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A mesh file per division."""
    folder = tmp_path_factory.mktemp("meshes")
    files = {}
    for name, division in DIVISIONS.items():
        path = folder / f"{name.replace(' ', '-')}.mesh"
        write_mesh(path, MESH, division.owner, division.parts)
        files[name] = str(path)
    return files


def state(output: str) -> str:
    found = re.search(r"^state ([0-9a-f]{16}), mass kept$", output, re.MULTILINE)
    assert found, output
    return found[1]


def check(programs: Programs, command: list[str], name: str, mesh: str, exchange: str, expected: str) -> None:
    division = DIVISIONS[name]
    options = ["--check", "--exchange", exchange, *SIZE]
    done = programs.mpi.start([*command, mesh, *options], division.ranks, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the serial run gives the same values" in done.stdout
    assert state(done.stdout) == expected
    traffic = halo_matrix(MESH, division.owner, division.ranks) * VALUES
    messages = f"{(traffic > 0).sum()} messages, {traffic.sum()} bytes, the largest {traffic.max()}"
    assert f"an exchange: {messages}\n" in done.stdout


@pytest.mark.parametrize(("name", "exchange"), RUNS)
def test_c_gives_the_serial_result(
    name: str, exchange: str, programs: Programs, meshes: dict[str, str], serial_state: str
) -> None:
    check(programs, programs.c, name, meshes[name], exchange, serial_state)


@pytest.mark.parametrize(("name", "exchange"), [run for run in RUNS if run[1] != "persistent"])
def test_python_gives_the_same_as_c(
    name: str, exchange: str, programs: Programs, meshes: dict[str, str], serial_state: str
) -> None:
    need_mpi4py(programs)
    check(programs, programs.python, name, meshes[name], exchange, serial_state)


@functools.cache
def can_import(python: str) -> bool:
    """True if mpi4py and numpy are beside an MPI."""
    done = subprocess.run([python, "-c", "import mpi4py, numpy"], capture_output=True, check=False)
    return done.returncode == 0


def need_mpi4py(programs: Programs) -> None:
    if not can_import(programs.python[0]):
        pytest.skip(f"no mpi4py and numpy beside {programs.mpi.name}: pip install 'mpi4py>=4' numpy")


@pytest.fixture(params=["c", "python"])
def command(request: pytest.FixtureRequest, with_mpich: Programs) -> list[str]:
    """Either program."""
    if request.param == "python":
        need_mpi4py(with_mpich)
    chosen: list[str] = getattr(with_mpich, request.param)
    return chosen


def complaint(done: subprocess.CompletedProcess[str]) -> str:
    """Error output of a refused job."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr and not done.stdout
    return done.stderr


def alone(command: list[str]) -> subprocess.CompletedProcess[str]:
    """One process, without a launcher."""
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--steps", "-1"], "--steps wants"),
        (["--values", "6"], "--values wants a multiple of 4"),
        (["--exchange", "telepathy"], "alltoallv"),
        (["--such"], "usage"),
        ([], "is divided among 4 ranks, but there are 1"),
    ],
)
def test_bad_options(options: list[str], words: str, command: list[str], meshes: dict[str, str]) -> None:
    assert words in complaint(alone([*command, meshes["everything to everyone"], *options]))


def test_only_one_rank_complains(command: list[str], with_mpich: Programs, meshes: dict[str, str]) -> None:
    """Errors that all ranks see, and errors in files that only rank 0 reads."""
    for arguments, words in (
        ([meshes["alone"], "--values", "6"], "a multiple of 4 from"),
        ([meshes["alone"], "--serial"], "--serial wants one process, not 3"),
        (["none.mesh"], "none.mesh: it cannot be opened"),
    ):
        said = complaint(with_mpich.mpi.start([*command, *arguments], 3, timeout=100))
        assert said.count(words) == 1


HEADER = 40
AREA, EDGES = HEADER + 16 * POINTS, HEADER + 40 * POINTS + 16 * len(MESH.edges)
OWNER = EDGES + 8 * len(MESH.edges)
BAD_FILES = {
    "another kind of file": (0, b"HKTMESH2", "this is no mesh file"),
    "no points": (8, struct.pack("<q", 0), "the header of the mesh file is wrong"),
    "far too many edges": (16, struct.pack("<q", 2**62), "the header of the mesh file is wrong"),
    "more edges than the file has": (16, struct.pack("<q", len(MESH.edges) + 1), "the mesh file is cut off"),
    "fewer edges": (16, struct.pack("<q", len(MESH.edges) - 1), "the mesh file is longer"),
    "no time": (32, struct.pack("<d", float("nan")), "the header of the mesh file is wrong"),
    "no number": (AREA, struct.pack("<d", float("nan")), "not a finite number"),
    "no area": (AREA, struct.pack("<d", 0), "not positive"),
    "too large": (AREA, struct.pack("<d", 1001), "larger than 1,000"),
    "an edge to nowhere": (EDGES + 4, struct.pack("<i", POINTS), "does not join two points"),
    "an edge from nowhere": (EDGES, struct.pack("<i", -1), "does not join two points"),
    "a loop": (EDGES, struct.pack("<ii", 3, 3), "does not join two points"),
    "nobody's point": (OWNER, struct.pack("<i", -1), "belongs to no part"),
    "a part too many": (OWNER + 4, struct.pack("<i", 1), "belongs to no part"),
}


READ = """\
import pathlib, sys, mesh
try:
    mesh.read_mesh(pathlib.Path(sys.argv[1]))
except mesh.MeshError as error:
    print(error)
"""


def altered(original: str, at: int, patch: bytes) -> bytes:
    data = bytearray(Path(original).read_bytes())
    data[at : at + len(patch)] = patch
    return bytes(data)


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_mesh_files(name: str, with_mpich: Programs, meshes: dict[str, str], tmp_path: Path) -> None:
    """In C, and in Python, whose reader needs no MPI."""
    at, patch, words = BAD_FILES[name]
    path = tmp_path / "bad.mesh"
    path.write_bytes(altered(meshes["alone"], at, patch))
    said = complaint(alone([*with_mpich.c, str(path)]))
    assert f"{path}: " in said and words in said
    read = subprocess.run(
        [sys.executable, "-c", READ, str(path)], cwd=FLUID, capture_output=True, text=True, check=True
    )
    assert words in read.stdout
