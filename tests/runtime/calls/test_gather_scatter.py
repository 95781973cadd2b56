"""MPI_Gather(v) and MPI_Scatter(v) by plan with every root: every byte checked, under both MPI families."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from call_rows import gathers_and_scatters
from hocket.cli.plan import plan
from hocket.launch.mpi import Mpi, MpiFamily
from hocket.network import read_network
from mpi_programs import mpiexec
from reported_calls import Said, all_scheduled
from scheduled_calls import EVERYTHING

# What an MPI does with a call, in any form and layout, is in test_call_grid with both.
pytestmark = pytest.mark.by_turns

Check = Callable[..., Said]
Launched = Callable[..., subprocess.CompletedProcess[str]]
Told = Callable[..., tuple[subprocess.CompletedProcess[str], Said]]

EQUAL = ("MPI_Gather", "MPI_Scatter")


@pytest.mark.parametrize("network", ["chain:3,3", "torus:2x2x2"])
def test_every_root(check: Check, network: str) -> None:
    ranks = read_network(network).ranks
    said = check(gathers_and_scatters(5000, 20011, 1), network, ranks, env=EVERYTHING)
    for name in ("gather", "scatter"):
        # The world, and in reverse order.
        assert said.count(f"hocket: {name} of {ranks} ranks on {ranks} hosts") == 2 * ranks
        assert said.count(f"hocket: {name} of {ranks // 2} ranks") == (ranks if ranks >= 6 else 0)
    assert f"hocket: irregular exchange of {ranks - 1 - ranks // 3} messages" in said
    all_scheduled(said, *EQUAL)
    all_scheduled(said, "MPI_Gatherv", "MPI_Scatterv", but=("new_sizes", "not_asked"))


def test_small_segments_and_several_ranks_on_a_host(check: Check) -> None:
    env = EVERYTHING | {"HOCKET_SEGMENT": "1031"}
    all_scheduled(check(gathers_and_scatters(0, 40009), "star:3*2", 6, env=env), *EQUAL)


@pytest.mark.parametrize("flow", ["barrier", "free"])
def test_other_flow_control(check: Check, flow: str) -> None:
    env = EVERYTHING | {"HOCKET_FLOW_CONTROL": flow}
    all_scheduled(check(gathers_and_scatters(20011), "chain:2,2", 4, env=env), *EQUAL)


def test_small_ones_go_to_the_mpi_library(check: Check) -> None:
    assert not any(map(check(gathers_and_scatters(1000), "chain:2,2", 4).scheduled, EQUAL))
    all_scheduled(check(gathers_and_scatters(20000), "chain:2,2", 4), *EQUAL)


def test_plan_files_with_their_roots(check: Check, launch: Launched, tmp_path: Path) -> None:
    paths = []
    for name, root in (("gather", 1), ("gather", 2), ("scatter", 1)):
        path = tmp_path / f"{name}{root}.hkt"
        options = ["--network", "chain:2,2", "--root", str(root), "--window", "3", "-o", str(path)]
        made = CliRunner().invoke(plan, [name, *options])
        assert made.exit_code == 0, made.output
        assert f"{name} of 4 ranks, 3 messages" in made.output
        paths.append(str(path))
    given = [option for path in paths for option in ("--plan", path)]
    check(gathers_and_scatters(20011), "chain:2,2", 4, *given)
    twice = launch(gathers_and_scatters(20011), "chain:2,2", 4, "--plan", paths[0], "--plan", paths[0])
    assert twice.returncode == 2 and "a second gather with root 1 plan" in twice.stderr


def test_a_schedule_that_cuts_messages(check: Check, tmp_path: Path) -> None:
    path = tmp_path / "cut.hkt"
    options = ["--network", "chain:2,2", "--root", "1", "--algorithm", "RS_NLH", "-o", str(path)]
    assert CliRunner().invoke(plan, ["gather", *options]).exit_code == 0
    check(gathers_and_scatters(1, 20011), "chain:2,2", 4, "--plan", str(path), env=EVERYTHING)


def test_errors_are_those_of_the_library(mpi: Mpi, told: Told, compiled: Callable[[str], Path]) -> None:
    if mpi.family is MpiFamily.MPICH:
        pytest.skip("MPICH's wheel looks at no argument, and crashes")
    native = mpiexec(mpi, 4, [str(compiled("root_errors"))], {})
    done, said = told("root_errors", "chain:2,2", 4, env=EVERYTHING)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == native
    assert said.scheduled("MPI_Gather") > 0 and said.scheduled("MPI_Gatherv") > 0


def test_where_the_faster_is_chosen(check: Check, tmp_path: Path) -> None:
    env = {"HOCKET_CHOOSE": "learn", "HOCKET_CHOICES": str(tmp_path)}
    check(gathers_and_scatters(30000, 30001, 30002, 30003), "chain:2,2", 4, env=env)
