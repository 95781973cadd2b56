"""The commands of docs/first-slurm-job.md, run one after the other in the lab's Slurm, with each MPI.

Installing is tests/packaging's matter, a module that of tests/runtime/environment.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from hocket.cli.lab import lab
from hocket.lab.slurm import PMI
from hocket.launch.mpi import Mpi, MpiFamily
from hocket.launch.runtime.build import build_runtime
from slurm_tools import compiled, slurm_or_skip

GUIDE = Path(__file__).parents[2] / "docs" / "first-slurm-job.md"


@pytest.mark.lab
def test_every_command_of_the_guide(mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slurm_or_skip(mpi)
    compiled(mpi, tmp_path)
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    assert {kind for kind, _ in blocks} == {"sh", "job", "mpirun"}
    build_runtime(str(mpi.mpicc))
    # The MPI is loaded, as the guide says: it is the first on PATH.
    monkeypatch.setenv("PATH", f"{Path(mpi.mpiexec).parent}:{os.environ['PATH']}")
    texts = [text.replace("--mpi=pmi2", f"--mpi={PMI[mpi.family]}") for kind, text in blocks if kind == "job"]
    for name, text in zip(["job.sh", "compare.sh"], texts, strict=True):
        (tmp_path / name).write_text(text)
    commands = "".join(text for kind, text in blocks if kind == "sh")
    if mpi.family is MpiFamily.OPENMPI:
        (without_pmix,) = (text for kind, text in blocks if kind == "mpirun")
        heads = "".join(line for line in texts[0].splitlines(keepends=True) if line.startswith("#"))
        root = "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"  # the lab's user
        (tmp_path / "mpirun.sh").write_text(f"{heads}{root}\n{without_pmix}")
        commands += "sbatch --wait --output=mpirun.out mpirun.sh\n"
    (tmp_path / "guide.sh").write_text(f"set -ex\ncd {tmp_path}\n{commands}")
    words = ("run", "--network", "tree:2x2*2", "--slurm", "--mpi", mpi.mpiexec, "--timeout", "500", "--json", "--",
             "sh", str(tmp_path / "guide.sh"))  # fmt: skip
    result = CliRunner().invoke(lab, list(words), catch_exceptions=False)
    report = json.loads(result.stdout)
    assert report["exit_code"] == 0, report["output"]
    output = (tmp_path / "job.out").read_text()
    assert output.count(": 0 wrong") == 8 and " for 8 ranks on 4 hosts of cluster.toml" in output
    assert "hocket: MPI_Allgather at " in output, output
    assert (tmp_path / "compare.out").read_text().count(": 0 wrong") == 6 * 8
    if mpi.family is MpiFamily.OPENMPI:
        output = (tmp_path / "mpirun.out").read_text()
        assert output.count(": 0 wrong") == 8 and "hocket: MPI_Allgather at " in output, output
