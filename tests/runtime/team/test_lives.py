"""Programs that end, and that grow, in every way: each call in each form is as without Hocket, whoever serves it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from builds import compile_once
from call_rows import rows
from hocket.launch.mpi import Mpi, MpiFamily
from reported_calls import Said
from scheduled_calls import EVERYTHING

Told = Callable[..., tuple[subprocess.CompletedProcess[str], Said]]

PROGRAM = Path(__file__).parents[1] / "programs" / "lives.c"
EVERY_CALL = rows("*", "dense", "equal", "copy edges", form="*")
RANKS = 4
SETTINGS = {"default": {"HOCKET_CHOOSE": "learn"}, "forced": EVERYTHING}


# Each way with both MPIs, and each setting with each way.
EVERY_SETTING = pytest.mark.parametrize("setting", SETTINGS)


@pytest.fixture
def lived(setting: str, told: Told, names_library: Path, freed_library: Path) -> Callable[..., Said]:
    """Lets the program live; ``worlds``: how many MPI_COMM_WORLDs it has in all, each of which finds every byte."""
    env = {
        **SETTINGS[setting],
        "LD_PRELOAD": f"{names_library} {freed_library}",
        "HOCKET_TEST_NAME": "n#",
    }

    def run(way: str, worlds: int, *, any_exit_code: bool = False) -> Said:
        program = f"lives {way} rounds=2 threads 20000 {EVERY_CALL}"
        done, said = told(program, "chain:2,2", RANKS, placement="names", env=env, timeout=120)
        assert done.stdout.count("ok ") == worlds and "wrong in" not in done.stdout, done.stdout + done.stderr
        assert done.stdout.count(" 0 wrong") == worlds, done.stdout + done.stderr
        assert any_exit_code or done.returncode == 0, done.stdout + done.stderr
        if setting == "forced":
            assert said.scheduled() > 0
        return said

    return run


@pytest.mark.by_turns
@EVERY_SETTING
@pytest.mark.parametrize("way", ["returns", "signalled", "leaves"])
def test_programs_that_end(lived: Callable[..., Said], mpi: Mpi, way: str) -> None:
    """The launcher of MPICH 5.0.2 kills the other ranks, in one of two launches, when one has ended MPI and leaves
    without its exit handlers, or in one of them; without Hocket, too."""
    if way == "returns":
        compiler = [mpi.mpicc, "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-DPLUGIN", str(PROGRAM)]
        way += f"={compile_once(compiler, 'plugin.so')}"
    lived(way, 1, any_exit_code=mpi.family is MpiFamily.MPICH)


@pytest.mark.by_turns
@EVERY_SETTING
@pytest.mark.parametrize("way", ["grows", "sessions"])
def test_programs_that_grow(lived: Callable[..., Said], mpi: Mpi, way: str) -> None:
    starts_processes = way == "grows" or mpi.family is MpiFamily.OPENMPI
    said = lived(way, 3 if starts_processes else 1)
    assert said.scheduled(ranks=2 * RANKS) == 0  # nobody knows whether others have the runtime
