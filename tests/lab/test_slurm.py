"""A real Slurm in the lab: srun starts ranks that schedule, however it deals them out."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from hocket.cli.lab import lab
from hocket.errors import NetworkError, UsageError
from hocket.lab.slurm import PMI, topology
from hocket.launch.mpi import Mpi
from hocket.network import read_network_description
from slurm_tools import compiled, slurm_or_skip

HOSTS = ["n3", "n0", "n2", "n2", "n1", "n3", "n0", "n1"]
JOB = """
network=$(dirname "$SLURM_CONF")/topology.conf
eval "$(hocket env --network "$network" --ranks-per-host 2 --placement slurm -v --mpi "$4")"
ranks() {
    echo "== $1"
    srun --mpi=$pmi -n 8 $2 --distribution=$1 "$program"
}
pmi=$3 program=$1
for how in block cyclic; do
    ranks $how "-N 4" || exit
done
export SLURM_HOSTFILE=$2
ranks arbitrary
"""


@pytest.fixture
def short_path() -> Iterator[Path]:
    """Folder with a short path, where MPICH over UCX tells Slurm's pmi2 more than it reads, if the lab does
    not prevent it."""
    with tempfile.TemporaryDirectory(prefix="") as folder:
        yield Path(folder)


@pytest.mark.lab
def test_srun_schedules_in_every_distribution(mpi: Mpi, tmp_path: Path, short_path: Path) -> None:
    slurm_or_skip(mpi)
    program = compiled(mpi, short_path)
    (tmp_path / "job.sh").write_text(JOB)
    (tmp_path / "hosts").write_text("\n".join(HOSTS) + "\n")
    job = ["sh", tmp_path / "job.sh", program, tmp_path / "hosts", PMI[mpi.family], mpi.mpiexec]
    words = ["run", "--network", "tree:2x2*2", "--slurm", "--mpi", mpi.mpiexec, "--timeout", "240", "--json"]
    result = CliRunner().invoke(lab, [*words, "--", *map(str, job)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    output = json.loads(result.stdout)["output"]
    parts = dict(re.findall(r"^== (\w+)\n((?:(?!== ).*\n?)*)", output, re.MULTILINE))
    block = ["n0", "n0", "n1", "n1", "n2", "n2", "n3", "n3"]
    for how, hosts in {"block": block, "cyclic": ["n0", "n1", "n2", "n3"] * 2, "arbitrary": HOSTS}.items():
        lines = sorted(re.findall(r"^rank .*", parts[how], re.MULTILINE))
        assert lines == [f"rank {rank} of 8 on {host}: 0 wrong" for rank, host in enumerate(hosts)]
        assert "all-gather of 8 ranks on 4 hosts" in parts[how], how


def test_the_topology_is_read_back() -> None:
    text = topology(read_network_description("tree:2x2x2"))
    assert text.splitlines()[0].startswith("SwitchName=s0 Switches=") and text.count("SwitchName=") == 7


@pytest.mark.parametrize("network", ["chain:2,2,2", "fat-tree:4x2x2"])
def test_what_slurm_cannot_say(network: str) -> None:
    with pytest.raises(NetworkError, match=r"hosts and switches below it|wired as a tree") as caught:
        topology(read_network_description(network))
    remedies = re.findall(r"[a-z]+:[0-9x]+", caught.value.remedy)
    assert remedies and all(topology(read_network_description(each)) for each in remedies)


@pytest.mark.lab
def test_jobs_that_never_can_run_are_refused() -> None:
    """A host has one CPU a rank: Slurm would let a job wait that asks for more."""
    slurm_or_skip()
    words = ["run", "--network", "tree:2x2", "--slurm", "--timeout", "60", "--json", "--", "sh", "-c"]
    jobs = "srun -N 4 --ntasks-per-node=2 true || srun -N 4 -n 8 true || srun -n 5 true || srun -n 4 true && echo four"
    result = CliRunner().invoke(lab, [*words, jobs], catch_exceptions=False)
    report = json.loads(result.stdout)
    assert report["exit_code"] == 0 and report["output"].count("More processors requested") == 3, report
    assert report["output"].endswith("four\n")


@pytest.mark.parametrize(
    "said", ["-n 2", "--native", "--shuffle 1", "--distribution block", "--flow token", "--choose off"]
)
def test_what_is_left_to_the_command(said: str) -> None:
    words = ["run", "--network", "star:4", "--slurm", *said.split(), "--", "true"]
    with pytest.raises(UsageError, match=f"--slurm leaves {said.split()[0]} to the command"):
        CliRunner().invoke(lab, words, catch_exceptions=False, standalone_mode=False)
