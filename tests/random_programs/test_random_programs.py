"""Random MPI programs receive the same bytes with and without the preload library, some of them under each MPI."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hocket.launch.mpi import Mpi
from random_runs import EVERYTHING, Launch, compare, differing, run_native, shrink

LAUNCHES = [
    Launch(1, 12, 4, "chain:2,2", settings=EVERYTHING),
    Launch(13, 8, 6, "star:3*2", flow="window:2", settings=EVERYTHING | {"HOCKET_SEGMENT": "1031"}),
    Launch(21, 6, 3, "torus:3x2", threads=3, settings=EVERYTHING),
    Launch(27, 8, 6, "star:3*2", settings=EVERYTHING | {"HOCKET_CHOOSE": "two-level-1"}),
    Launch(
        35,
        6,
        5,
        "chain:2,1*2",
        settings={"HOCKET_CHOOSE": "two-level-native", "HOCKET_HOST_MEMORY": "20000"},
    ),
]


@pytest.mark.by_turns
@pytest.mark.parametrize("launch", LAUNCHES, ids=lambda launch: f"seed {launch.first}")
def test_the_same_with_and_without(mpi: Mpi, program: Path, launch: Launch) -> None:
    failure, outcome = compare(mpi, program, launch)
    assert failure is None, str(failure)
    assert outcome.compared == launch.count  # all of them end without Hocket
    assert outcome.scheduled > 3 * launch.ranks


@pytest.mark.by_turns
def test_the_same_twice(mpi: Mpi, program: Path) -> None:
    """Received data depend on the program's seed alone, so a difference is Hocket's."""
    launch = LAUNCHES[1]
    assert differing(launch, run_native(mpi, program, launch), run_native(mpi, program, launch)) is None


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)  # it starts faster
def test_one_wrong_byte_is_found(mpi: Mpi, program: Path, tmp_path: Path) -> None:
    library = tmp_path / "wrong_byte.so"
    source = Path(__file__).with_name("wrong_byte.c")
    subprocess.run([mpi.mpicc, "-shared", "-fPIC", str(source), "-o", str(library)], check=True, timeout=120)
    exports = [f"LD_PRELOAD={library}"]
    failure, _ = compare(mpi, program, LAUNCHES[0], exports)
    assert failure is not None
    small = shrink(failure, program, exports, tries=1)
    assert small.launch.count == 1
    assert len(small.launch.left_out) >= small.native.operations - 2
    assert f"--alone {small.launch.first} " in str(small) and "--leave-out " in str(small)
