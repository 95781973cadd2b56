"""mpi4py's own tests, from its source distribution, with the mpi4py that is installed for the MPI at hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from case import Case, Passes

from hocket.launch.mpi import Mpi, mpi4py_environment

NAME = "mpi4py"
RANKS = (4, 5)


def fetch(work: Path) -> Path:
    """The suite's sources, from PyPI."""
    if not list(work.glob("mpi4py-*.tar.gz")):
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", "mpi4py", "mpi4py"]
        subprocess.run(command, cwd=work, check=True, timeout=900)
    if not (found := list(work.glob("mpi4py-*/test/main.py"))):
        subprocess.run(["tar", "xf", *work.glob("mpi4py-*.tar.gz")], cwd=work, check=True, timeout=120)
        found = list(work.glob("mpi4py-*/test/main.py"))
    return found[-1].parent


def cases(tests: Path, mpi: Mpi) -> list[Case]:
    """A case for every module and number of ranks; Python is the one beside the launcher."""
    python = Path(mpi.mpiexec).with_name("python")
    python = python if python.exists() else Path(sys.executable)
    return [
        Case(
            f"{module.stem} {ranks}", tests.parent,
            (str(python), str(tests / "main.py"), "-i", rf"{module.stem}\.py"), ranks, Passes.STATUS, 180,
            mpi4py_environment(mpi),
        )
        for module in sorted(tests.glob("test_*.py"))
        for ranks in RANKS
    ]  # fmt: skip
