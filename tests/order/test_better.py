"""A bad order of a job is told by doctor and by reports, with the command that mends it; a good one is not."""

from __future__ import annotations

import random
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from hocket import _core
from hocket.cli import cli
from hocket.doctor import Case, Finding, Level
from hocket.doctor.case import Rank
from hocket.doctor.network import check_order
from hocket.network import read_network
from hocket.order.gains import better_order, command_for
from hocket.report.advice import Launched, order_advice
from hocket.report.ranks import Line, RankReport, RankRow, Site, merge

CHAIN = "chain:4,4,4,4"
NAMES = [f"n{number}" for number in range(16)]
SITE = Site("/bin/program", 0, "main", 0)


def network() -> _core.Network:
    return read_network(CHAIN)


def at_random() -> list[str]:
    names = list(NAMES)
    random.Random(1).shuffle(names)
    return names


def mended(remedy: str) -> list[str]:
    """Output of the command that a remedy names."""
    command = remedy.partition(" > FILE")[0]
    words = shlex.split(command[command.index("hocket order") :])
    result = CliRunner().invoke(cli, words[1:], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return [line.partition(":")[0].split()[0] for line in result.stdout.splitlines()]


def switches(hosts: list[str]) -> int:
    """Changes of the switch along the ring."""
    own = [int(host[1:]) // 4 for host in hosts]
    return sum(a != b for a, b in zip(own, own[1:] + own[:1], strict=True))


def found(case: Case) -> list[Finding]:
    case.network = network()
    return list(check_order(case))


def test_a_hostfile_in_a_bad_order(tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    file.write_text("\n".join(at_random()) + "\n")
    (finding,) = found(Case({}, CHAIN, hostfile=str(file)))
    assert finding.level is Level.NOTE and "times as fast" in finding.text
    assert f"--hosts @{file}" in finding.remedy and "mpiexec -f FILE" in finding.remedy
    assert switches(at_random()) > 8 and switches(mended(finding.remedy)) == 4


def test_a_good_order(tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    file.write_text("\n".join(NAMES) + "\n")
    (finding,) = found(Case({}, CHAIN, hostfile=str(file)))
    assert finding.level is Level.OK and "no other order of the 16 hosts" in finding.text


def test_a_slurm_job(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {"SLURM_JOB_NODELIST": ",".join(at_random()), "SLURM_TASKS_PER_NODE": "1(x16)"}
    (finding,) = found(Case(environment, CHAIN))
    assert "--slurm" in finding.remedy and "srun --distribution=arbitrary" in finding.remedy
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert switches(mended(finding.remedy)) == 4


def test_ranks_that_were_started() -> None:
    case = Case({}, CHAIN)
    case.ranks_told = [Rank(rank, True, name, "") for rank, name in enumerate(at_random())]
    (finding,) = found(case)
    assert switches(mended(finding.remedy)) == 4


@pytest.mark.parametrize("hosts", ["n0\nn1\n", "x0\nx1\nx2\nx3\n", "n0\nn0\n"])
def test_orders_that_are_no_question(hosts: str, tmp_path: Path) -> None:
    """Two hosts, and hosts of which the check of the placement speaks."""
    file = tmp_path / "hosts"
    file.write_text(hosts)
    assert found(Case({}, CHAIN, hostfile=str(file))) == []


def reports(
    hosts: list[str], call: str = "MPI_Allgather", scheduled: bool = False, size: int = 16
) -> list[RankReport]:
    row = RankRow(
        call,
        SITE,
        size,
        1000,
        1000,
        scheduled,
        "" if scheduled else "faster",
        "",
        10,
        10,
        10**6,
        1.0,
        0,
        0,
        0,
    )
    return [RankReport(rank, host, rank, False, True, (row,)) for rank, host in enumerate(hosts)]


def advised(of: list[RankReport]) -> str:
    job = Launched(network(), CHAIN, "mpich-hostfile", None, False)
    advice = order_advice(of, merge(of, 16), 16, job)
    return "" if advice is None else advice.text


@pytest.mark.parametrize(
    "call", ["MPI_Allgather", "MPI_Iallgather", "MPI_Allgather_init", "MPI_Allgatherv_c", "MPI_Allreduce"]
)
def test_a_run_in_a_bad_order(call: str) -> None:
    text = advised(reports(at_random(), call))
    assert "times as fast" in text and "mpiexec -f FILE" in text
    assert switches(mended(text)) == 4


def test_runs_that_no_order_makes_faster() -> None:
    assert advised(reports(NAMES)) == ""
    assert advised(reports(at_random(), scheduled=True)) == ""
    assert advised(reports(at_random(), "MPI_Bcast")) == ""
    assert advised(reports(at_random(), size=4)) == ""  # of a part of the ranks
    assert advised(reports(["x", *at_random()[1:]])) == ""
    assert advised(reports(at_random())[1:]) == ""


def test_several_ranks_a_host() -> None:
    """Ranks that are dealt out in turn: those of a host come together."""
    wide = network()
    nodes = [wide.hosts[number] for number in range(16)] * 2
    better = better_order(wide, nodes)
    assert better is not None and better.most > 1.5 and sorted(better.hosts) == sorted(NAMES)
    command = command_for(CHAIN, "openmpi-hostfile", hosts=better.hosts, ranks_per_host=2)
    assert "--ranks-per-host 2" in command and "--hosts 'n[0-15]'" in command


def test_a_line_is_of_all_ranks() -> None:
    of = reports(at_random())
    lines: tuple[Line, ...] = merge(of, 16).lines
    assert [line.communicator for line in lines] == [16]
