"""The commands of docs/first-slurm-job.md, run one after the other in the lab's Slurm.

/opt/hocket is a folder of the test, whose cache has the runtime already. Installing is tests/packaging's matter, what
the module sets that of tests/runtime/environment, compiling that of tests/runtime/compiling.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from hocket.cli.lab import lab
from hocket.launch.runtime.build import build_runtime
from slurm_tools import compiled, mpich_or_skip

GUIDE = Path(__file__).parents[2] / "docs" / "first-slurm-job.md"


@pytest.mark.lab
def test_every_command_of_the_guide(tmp_path: Path) -> None:
    mpi = mpich_or_skip()
    compiled(mpi, tmp_path)
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    assert {kind for kind, _ in blocks} == {"sh", "job"}
    runtime = build_runtime(str(mpi.mpicc)).library.parent
    shutil.copytree(runtime, tmp_path / "opt" / "cache" / "hocket" / runtime.name)
    jobs = [text for kind, text in blocks if kind == "job"]
    for name, text in zip(["job.sh", "compare.sh"], jobs, strict=True):
        (tmp_path / name).write_text(text)
    commands = "".join(text for kind, text in blocks if kind == "sh")
    commands = commands.replace("/opt/hocket", str(tmp_path / "opt"))
    (tmp_path / "guide.sh").write_text(f"set -ex\ncd {tmp_path}\n{commands}")
    words = ("run", "--network", "tree:2x2*2", "--slurm", "--timeout", "500", "--json", "--",
             "sh", str(tmp_path / "guide.sh"))  # fmt: skip
    result = CliRunner().invoke(lab, list(words), catch_exceptions=False)
    report = json.loads(result.stdout)
    assert report["exit_code"] == 0, report["output"]
    assert (tmp_path / "job.out").read_text().count(": 0 wrong") == 8
    assert (tmp_path / "compare.out").read_text().count(": 0 wrong") == 6 * 8
    assert (tmp_path / "opt" / "modulefile").read_text().startswith("#%Module1.0")
