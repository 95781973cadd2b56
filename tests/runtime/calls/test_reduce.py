"""Reductions by plan: every element checked, under both MPI families."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from subprocess import CompletedProcess

import pytest

from gathers import Row, all_reduce, both_ways, doubling, plan_of, random_gossip, ring, turned
from hocket import _core
from hocket.launch.mpi import Mpi, MpiFamily
from hocket.network import read_network
from reported_calls import Said, all_scheduled

# What an MPI does with a call, in any form and layout, is in test_call_grid with both.
pytestmark = pytest.mark.by_turns

Check = Callable[..., Said]
Launch = Callable[..., CompletedProcess[str]]

ALL = {"HOCKET_MIN_BYTES": "1"}
SMALL_SEGMENTS = ALL | {"HOCKET_SEGMENT": "1031"}
SCATTERS = ("MPI_Reduce_scatter_block", "MPI_Reduce_scatter")
ORDERED = ("operation",)  # one of the program's does not commute


def scheduled(trace: Path, rank: int = 0) -> Counter[str]:
    """Events that a rank recorded, by the first word."""
    lines = trace.with_name(f"{trace.name}.{rank}").read_text().splitlines()
    return Counter(line.split()[0] for line in lines)


@pytest.fixture
def planned(check: Check, tmp_path: Path) -> Callable[..., None]:
    """Runs reduce_check by the given rows of an all-gather, turned."""

    def run(
        network: str, rows: list[Row], size: int, *options: str,
        window: int = 2, program: str = "reduce_check", env: dict[str, str] = ALL,
    ) -> None:  # fmt: skip
        built = read_network(network)
        paths = [tmp_path / "scatter.hkt", tmp_path / "reduce.hkt"]
        plans = [(turned(rows), "reduce-scatter"), (all_reduce(rows), "all-reduce")]
        for path, (turned_rows, pattern) in zip(paths, plans, strict=True):
            path.write_bytes(plan_of(built, turned_rows, size, None, window, pattern).encode())
        # Past the launcher, which refuses plans whose messages collide: the ranks' part is tested here.
        given = {"HOCKET_PLAN": ":".join(map(str, paths))}
        said = check(program, network, built.ranks, *options, env=env, exports=given)
        all_scheduled(said, "MPI_Allreduce", *SCATTERS, by="by hand", ranks=built.ranks, but=ORDERED)

    return run


@pytest.mark.parametrize("network", ["chain:3,3", "torus:2x2x2"])
def test_what_hocket_plans(check: Check, network: str, tmp_path: Path) -> None:
    ranks = read_network(network).ranks
    said = check("reduce_check each", network, ranks, env=ALL | {"HOCKET_TRACE": str(tmp_path / "trace")})
    all_scheduled(said, "MPI_Allreduce", *SCATTERS, "MPI_Reduce", but=ORDERED)
    assert scheduled(tmp_path / "trace")["all-reduce"] > 100


def test_several_ranks_a_host(check: Check) -> None:
    said = check("reduce_check 1 1000 20001", "torus:2x2*2", 8, env=ALL)
    all_scheduled(said, "MPI_Allreduce", *SCATTERS, "MPI_Reduce", but=ORDERED)


@pytest.mark.parametrize("window", [1, 2, 64])
def test_a_ring_with_any_window(planned: Callable[..., None], window: int) -> None:
    planned("chain:2,2,2", ring(6, 100), 100, window=window, program="reduce_check sums 5003 20011")


@pytest.mark.parametrize("env", [ALL, SMALL_SEGMENTS], ids=["usual", "small segments"])
def test_two_level(planned: Callable[..., None], env: dict[str, str]) -> None:
    planned("chain:4,4", doubling(8, 64), 64, program="reduce_check 1 16385", env=env)


@pytest.mark.parametrize("flow", ["barrier", "free"])
def test_every_flow_control(planned: Callable[..., None], flow: str) -> None:
    planned("chain:2,2", both_ways(4, 10), 10, "--flow", flow, program="reduce_check sums 1 40000")
    planned("chain:2,2", doubling(4, 10), 10, "--flow", flow, program="reduce_check sums 1 40000")


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))])
def test_random_schedules(planned: Callable[..., None], seed: int) -> None:
    """Parts of any size, several messages of a rank in a phase, any window; segments wait for MPI."""
    rng = Random(seed)
    env = SMALL_SEGMENTS if seed % 2 else ALL
    rows = random_gossip(rng, [1000] * 6)
    planned("chain:3,3", rows, 1000, window=1 + seed, program="reduce_check 3 20011", env=env)


def test_an_incomplete_plan_is_refused(check: Check, tmp_path: Path) -> None:
    network = read_network("chain:2,2")
    rows = turned(ring(4, 10))
    del rows[6]
    schedule = _core.Schedule.from_rows(4, 10, rows)
    waits = _core.Waits.derive(network, schedule)
    path = tmp_path / "incomplete.hkt"
    demand = _core.Demand(4, 10, "reduce-scatter")
    path.write_bytes(_core.Plan(network, schedule, waits, demand, "by hand", 0, 0.0, 0.0).encode())
    said = check("reduce_check 20000", "chain:2,2", 4, env=ALL, exports={"HOCKET_PLAN": str(path)})
    assert "the plan" in said and "the MPI library serves this communicator" in said


def test_errors_are_those_of_the_library(mpi: Mpi, check: Check) -> None:
    if mpi.family is MpiFamily.MPICH:
        pytest.skip("MPICH's wheel looks at no argument, and crashes")
    assert check("reduce_errors", "chain:2,2", 4, env=ALL).scheduled("MPI_Allreduce") > 0


def test_where_the_faster_is_chosen(check: Check, tmp_path: Path) -> None:
    """Sums that round are never served by another than before; all others may be."""
    env = {"HOCKET_CHOOSE": "learn", "HOCKET_TRACE": str(tmp_path / "trace")}
    check("reduce_check 7 1000 50001", "chain:2,2", 4, env=env)
    assert scheduled(tmp_path / "trace")["all-reduce"] > 0
