"""Places of the MPIs under test, and how a program is started with them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from builds import compile_once


@dataclass(frozen=True)
class MpiUnderTest:
    name: str
    mpicc: str
    launcher: tuple[str, ...]

    def compile(self, sources: list[Path], program: Path, *flags: str) -> None:
        command = [*self.compiler, *map(str, sources), *flags, "-o", str(program)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def compiled(self, source: Path) -> Path:
        """The object file of a part that many programs share."""
        return compile_once([*self.compiler, "-c", str(source)], f"{source.stem}.o")

    @property
    def compiler(self) -> list[str]:
        return [self.mpicc, "-O1", "-Wall", "-Wextra", "-Werror"]

    def start(
        self, command: list[str], ranks: int, timeout: float = 240, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.launcher, "-n", str(ranks), *command],
            capture_output=True, text=True, check=False, timeout=timeout, env={**os.environ, **variables},
        )  # fmt: skip

    def run(self, program: Path, ranks: int, **variables: str) -> str:
        done = self.start([str(program)], ranks, **variables)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def mpich() -> MpiUnderTest:
    folder = Path(sys.executable).parent
    mpicc = folder / "mpicc" if (folder / "mpicc").exists() else Path(shutil.which("mpicc") or "")
    if not mpicc.is_file():
        pytest.skip("no mpicc: pip install mpich")
    return MpiUnderTest("mpich", str(mpicc), (str(mpicc.parent / "mpiexec"),))


def open_mpi() -> MpiUnderTest:
    folder = os.environ.get("HOCKET_TEST_OPENMPI")
    if not folder:
        pytest.skip("HOCKET_TEST_OPENMPI does not name the folder of an Open MPI's mpicc")
    options = ("--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1")
    return MpiUnderTest("openmpi", str(Path(folder) / "mpicc"), (str(Path(folder) / "mpirun"), *options))
