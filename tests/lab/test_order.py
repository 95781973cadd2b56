"""Ranks land where `hocket order` says: every format is read by whoever it is for."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from hocket.cli import cli
from hocket.cli.lab import lab
from hocket.lab import Lab
from hocket.lab.slurm import PMI
from hocket.lab.wires import HOST_PORT
from hocket.launch.mpi import Mpi, MpiFamily, lab_environment, launch_command
from hocket.network import read_network_description
from slurm_tools import compiled, slurm_or_skip

pytestmark = pytest.mark.by_turns

needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("nsenter") is None, reason="the lab needs root and nsenter (util-linux)"
)

NETWORK = "tree:3x2*2"  # two hosts on each of three leaves, two ranks on each
GIVEN = "n4,n1,n3,n0,n5,n2"


def ordered(form: str, *more: str) -> tuple[str, list[str]]:
    """The file, and the host that each rank is to be on."""
    words = ["order", "--network", NETWORK, "--hosts", GIVEN, "--for", "all-gather:ring", *more]
    text = CliRunner().invoke(cli, [*words, "--format", form], catch_exceptions=False).stdout
    report = CliRunner().invoke(cli, [*words, "--format", form, "--json"], catch_exceptions=False).stdout
    return text, json.loads(report)["order"]


def in_lab(*words: str) -> str:
    """Output of a command in a lab of NETWORK."""
    result = CliRunner().invoke(lab, ["run", "--network", NETWORK, *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return str(json.loads(result.stdout)["output"])


def landed(output: str) -> list[str]:
    """The host of each rank, as the ranks of slurm_tools' program say."""
    lines = re.findall(r"^rank (\d+) of 12 on (\w+): 0 wrong$", output, re.MULTILINE)
    assert sorted(int(rank) for rank, _ in lines) == list(range(12)), output
    return [host for _, host in sorted(lines, key=lambda line: int(line[0]))]


def pairs(tmp_path: Path) -> list[str]:
    """Rank r talks with rank r + 6 alone: where each rank can be moved, they share a host."""
    rows = [["1000" if abs(a - b) == 6 else "0" for b in range(12)] for a in range(12)]
    (tmp_path / "pairs.csv").write_text("\n".join(map(",".join, rows)) + "\n")
    return ["--for", f"matrix:{tmp_path}/pairs.csv"]


@pytest.mark.lab
@needs_root
def test_launchers_of_mpi(mpi: Mpi, tmp_path: Path) -> None:
    """mpiexec reads hostfiles, lists and rankfiles, in a lab whose agent takes the place of ssh."""
    program = compiled(mpi, tmp_path)
    rankfile = ["--map-by", "rankfile:file=FILE"] if mpi.prrte else ["--rankfile", "FILE"]
    forms = {
        MpiFamily.MPICH: {"mpich-hostfile": ["-f", "FILE"], "hydra": ["-hosts", "TEXT"]},
        MpiFamily.OPENMPI: {
            "openmpi-hostfile": ["--hostfile", "FILE", "--map-by", "slot"],
            "openmpi-rankfile": ["--hostfile", str(tmp_path / "openmpi-hostfile"), *rankfile],
        },
    }[mpi.family]
    with Lab.up(read_network_description(NETWORK)) as cluster:
        for form, options in forms.items():
            text, expected = ordered(form, *(pairs(tmp_path) if form == "openmpi-rankfile" else []))
            file = tmp_path / form
            file.write_text(text)
            words = [option.replace("FILE", str(file)).replace("TEXT", text.strip()) for option in options]
            settings = lab_environment(mpi, HOST_PORT)
            command = launch_command(
                mpi, 12, (), settings, [str(program)], agent=cluster.state.agent, interface=HOST_PORT
            )
            if form == "openmpi-rankfile":  # cores are bound as the file says
                at = command.index("--bind-to")
                del command[at : at + 2]
            done = cluster.call("n0", [command[0], *words, *command[1:]], timeout=120, capture=True)
            assert done.exit_code == 0, done.output
            assert landed(done.output) == expected, form


@pytest.mark.lab
def test_srun(mpi: Mpi, tmp_path: Path) -> None:
    slurm_or_skip(mpi)
    program = compiled(mpi, tmp_path)
    text, expected = ordered("slurm", *pairs(tmp_path))
    assert all(expected[rank] == expected[rank + 6] for rank in range(6))
    (tmp_path / "hosts").write_text(text)
    srun = f"srun --mpi={PMI[mpi.family]} -n 12 --distribution=arbitrary {shlex.quote(str(program))}"
    job = f"export SLURM_HOSTFILE={shlex.quote(str(tmp_path / 'hosts'))}; {srun}"
    output = in_lab("--slurm", "--mpi", mpi.mpiexec, "--timeout", "200", "--json", "--", "sh", "-c", job)
    assert landed(output) == expected


@pytest.mark.lab
@needs_root
def test_a_lab_in_order(mpi: Mpi, tmp_path: Path) -> None:
    program = compiled(mpi, tmp_path)
    words = ["--mpi", mpi.mpiexec, "--native", "--shuffle", "1", "--timeout", "120", "--json"]
    places = {}
    for how in ([], ["--order", "--for", "all-gather:ring"]):
        hosts = landed(in_lab(*words, *how, "--", str(program)))
        switches = [int(host[1:]) // 2 for host in hosts]
        places[bool(how)] = sum(a != b for a, b in zip(switches, switches[1:] + switches[:1], strict=True))
    assert places[True] == 3 < places[False]
