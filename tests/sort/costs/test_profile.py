"""Tests of which memory profile the runtime predicts by."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from hocket._core.memory import Profile

from hocket import _core
from hocket.launch.mpi import Mpi, launch_command
from mpi_programs import python_env

PROGRAM = Path(__file__).parents[1] / "programs" / "predicted.py"
BUILT_IN = Profile.built_in()


def predicted(mpi: Mpi, profile: Path) -> tuple[list[float], str]:
    """Predicted seconds of each step, the same on both ranks, and the output on the memory profile."""
    env = {**python_env(mpi, "--sort"), "HOCKET_MEMORY": str(profile)}
    command = launch_command(mpi, 2, [], env, [sys.executable, str(PROGRAM)])
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    first, second = (ast.literal_eval(line) for line in done.stdout.splitlines())
    assert first == second
    return first, "\n".join(line for line in done.stderr.splitlines() if "memory profile" in line)


def expected(profile: Profile) -> list[float]:
    shape = _core.memory.SortShape(_core.elements.KeyType.u32, 4, 2000, 10, 2, 2)
    steps = _core.memory.predict_radix(profile, shape, [(0, 10)])
    return [seconds for name, seconds in steps if name not in ("local sort", "balance")]


def test_the_profile_that_is_named(mpi: Mpi, tmp_path: Path) -> None:
    slow = [(*figure[:5], 100 * figure[5]) for figure in BUILT_IN.figures]
    profile = Profile("slow", BUILT_IN.cores, BUILT_IN.wire, slow)
    path = tmp_path / "slow.txt"
    path.write_text(profile.text())
    found, said = predicted(mpi, path)
    assert said == ""
    assert found == pytest.approx(expected(profile))


@pytest.mark.by_turns
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "no such file"),
        ("", "empty"),
        ("hocket memory profile 7\n", "line 1"),
        (BUILT_IN.text().replace("cores 2", "cores many"), "line 3"),
        (BUILT_IN.text() + "#" * (1 << 20), "more than 1 MiB"),
    ],
)
def test_a_bad_file_is_warned_of_once_and_the_built_in_figures_serve(
    mpi: Mpi, tmp_path: Path, text: str | None, problem: str
) -> None:
    path = tmp_path / "memory.txt"
    if text is not None:
        path.write_text(text)
    found, said = predicted(mpi, path)
    assert len(said.splitlines()) == 1 and str(path) in said and problem in said
    assert found == pytest.approx(expected(BUILT_IN))
