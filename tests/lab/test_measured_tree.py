"""Bottlenecks of emulated clusters, measured by the ranks of a job that know nothing of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest

from hocket.launch.mpi import Mpi
from hocket.measure.discovered import Found
from hocket.network import read_network

pytestmark = [
    pytest.mark.by_turns,
    pytest.mark.lab,
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which("nsenter") is None,
        reason="the lab needs root and nsenter (util-linux)",
    ),
]
RATE = 20e6 / 8
CHECK = """
import json
from hocket.cli._shared.measured import measure_network
from hocket.measure.discovered import Found
checked = [measure_network(None, None, None, 15, known=Found.from_json(each)) for each in known]
if None not in checked:
    print(json.dumps([each.errors for each in checked]))
"""


def test_two_switches(mpi: Mpi, tmp_path: Path) -> None:
    """The link between them, by ranks of which several are on a host."""
    path = tmp_path / "net.toml"
    hocket = [sys.executable, "-m", "hocket"]
    lab = [*hocket, "lab", "run", "--network", "chain:4,4*2@20Mbit", "--shuffle", "3", "--native"]
    program = [*hocket, "network", "discover", "--measure", "--seconds", "15", "-o", str(path), "--json"]
    done = subprocess.run(
        [*lab, "--mpi", mpi.mpiexec, "--", *program], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert len(told["bottlenecks"]) == 1 and sorted(set(told["ranks"])) == [2]
    behind = {told["hosts"][host] for host in told["bottlenecks"][0]["hosts"]}
    assert behind in ({"n0", "n1", "n2", "n3"}, {"n4", "n5", "n6", "n7"})
    assert min(told["bottlenecks"][0][way] for way in ("out", "into")) == pytest.approx(RATE, rel=0.2)
    assert read_network(str(path)).ranks == 16

    # What is known is checked by the same ranks: as it is, and as if hosts had changed their places.
    hosts = told["hosts"]
    moved = {"n0": "n7", "n7": "n0", "n1": "n6", "n6": "n1"}
    tree = {key: told[key] for key in Found.__dataclass_fields__}
    known = [tree, tree | {"hosts": [moved.get(host, host) for host in hosts]}]
    script = tmp_path / "check.py"
    script.write_text(f"known = {known!r}\n" + CHECK)
    done = subprocess.run(
        [*lab, "--mpi", mpi.mpiexec, "--", sys.executable, str(script)], capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    same, other = json.loads(done.stdout.splitlines()[-1])
    assert len(same) == len(other) == 6 and median(same) < median(other)
