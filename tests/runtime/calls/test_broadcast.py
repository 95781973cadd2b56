"""MPI_Bcast by plan from every root: every byte checked, under both MPI families."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from call_rows import all_gathers, broadcasts
from hocket.cli.plan import plan
from hocket.network import read_network
from reported_calls import Said, all_scheduled

# What an MPI does with a call, in any form and layout, is in test_call_grid with both.
pytestmark = pytest.mark.by_turns

Check = Callable[..., Said]


@pytest.mark.parametrize("network", ["chain:3,3", "torus:2x2x2"])
def test_every_root(check: Check, network: str) -> None:
    ranks = read_network(network).ranks
    said = check(broadcasts(), network, ranks, env={"HOCKET_MIN_BYTES": "1"})
    for part in (ranks, ranks // 2):
        all_scheduled(said, "MPI_Bcast", ranks=part)


def test_small_ones_go_to_the_mpi_library(check: Check) -> None:
    assert check(broadcasts(1000), "chain:2,2", 4).scheduled() == 0
    all_scheduled(check(broadcasts(5000), "chain:2,2", 4), "MPI_Bcast")


def test_plan_files_beside_one_of_all_gathers(check: Check, tmp_path: Path) -> None:
    """All are all-gathers to the core: by how many contribute it is known which calls they serve."""
    given = []
    for name, *root in (("broadcast", "--root", "1"), ("broadcast", "--root", "2"), ("all-gather",)):
        path = tmp_path / f"{name}{root[-1:]}.hkt"
        options = ["--network", "chain:2,2", "--window", "3", "--bytes", "20KiB", "-o", str(path)]
        assert CliRunner().invoke(plan, [name, *root, *options]).exit_code == 0
        given += ["--plan", str(path)]
    all_scheduled(check(broadcasts(20011), "chain:2,2", 4, *given), "MPI_Bcast", ranks=4)
    for plans in (given, given[:4]):
        said = check(all_gathers(20011), "chain:2,2", 4, *plans, env={"HOCKET_MIN_BYTES": "1"})
        all_scheduled(said, "MPI_Allgather", "MPI_Allgatherv", ranks=4)


@pytest.mark.slow  # 6 GB of memory
def test_an_element_that_mpi_cannot_pack(launch: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = launch("long_element", "chain:2,1", 3, env={"HOCKET_MIN_BYTES": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "scheduled 1\n" in done.stdout and " 0 wrong" in done.stdout
