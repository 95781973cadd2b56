"""Commands that a launcher starts as ranks run on the MPI of this launcher, whichever is first on PATH."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hocket.launch.mpi import Mpi, MpiFamily, launch_command, mpi_of_rank
from mpi_programs import installation, run_ranks

pytestmark = pytest.mark.by_turns

RANKS = 3


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("bench all-to-all --sizes 8 --time 0.01", "# Ranks      3"),
        ("calibrate network --quick -o {}/costs.json", "3 ranks on 1 hosts"),
        ("network discover --paths fat-tree:2x2x2 -o {}/found.toml", "the ranks are not on the hosts of the network"),
    ],
)  # fmt: skip
def test_as_ranks(mpi: Mpi, command: str, said: str, tmp_path: Path) -> None:
    """mpi4py's wheel looks for MPICH first, and MPICH aborts under the launcher of Open MPI."""
    pytest.importorskip("mpi4py")
    words = command.format(tmp_path).split()
    argv = [sys.executable, "-m", "hocket", *words]
    done = run_ranks(launch_command(mpi, RANKS, [], {}, argv), None, 120)
    assert said in done.stdout + done.stderr
    assert done.returncode == 0 or "discover" in words


@pytest.mark.parametrize(
    ("variable", "family"), [("PMI_RANK", "mpich"), ("PMIX_RANK", "openmpi"), ("NONE", "")]
)
def test_by_variables_where_no_launcher_is_above(
    variable: str, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranks of srun have no launcher above them."""
    families = [installation(name) for name in ("openmpi", "mpich")]
    monkeypatch.setenv("PATH", ":".join(str(Path(each.mpiexec).parent) for each in families))
    monkeypatch.setenv(variable, "0")
    found = mpi_of_rank()
    assert (found and found.family) == (MpiFamily(family) if family else None)
