"""What `hocket run` and its ranks write is for nobody else to change, whatever the umask."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from hocket.runtime.cache import cache_dir

PROGRAM = """
import numpy
from mpi4py import MPI
import hocket
comm = MPI.COMM_WORLD
mine, theirs = numpy.ones(4 * 4096), numpy.zeros(4 * 4096)
for _ in range(4):
    comm.Alltoall(mine, theirs)
assert theirs.all()
"""


@pytest.fixture
def no_mask():
    before = os.umask(0)
    yield
    os.umask(before)


def test_files_of_ranks(no_mask: None, launch, mpi, tmp_path: Path) -> None:
    """Traces, choices with the folders above them, the report; run twice, as the second reads what the first wrote."""
    from mpi_programs import python_env

    out = tmp_path / "out"
    out.mkdir(mode=0o755)
    env = {
        **python_env(mpi),
        "HOCKET_TRACE": str(out / "trace"),
        "HOCKET_CHOICES": str(out / "new" / "choices"),
    }
    kept = cache_dir()
    for _ in range(2):
        done = launch(
            [sys.executable, "-c", PROGRAM], "chain:2,2", 4, "--choose", "learn", f"--report={out / 'report.json'}",
            env=env,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "cannot" not in done.stderr
    made = sorted(out.rglob("*"))
    names = {path.name.partition(".")[0] for path in made}
    assert {"trace", "new", "choices", "report"} <= names, names
    plans = list(kept.glob("plan-*"))
    assert plans and [path for path in [*made, *plans] if path.stat().st_mode & 0o022] == []
