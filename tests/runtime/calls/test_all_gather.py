"""MPI_Allgather and MPI_Allgatherv by plan: every byte checked, under both MPI families."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from call_rows import all_gathers
from gathers import Row, both_ways, doubling, plan_of, random_gossip, ring
from hocket import _core
from hocket.network import read_network
from reported_calls import Said, all_scheduled

# What an MPI does with a call, in any form and layout, is in test_call_grid with both.
pytestmark = pytest.mark.by_turns

Check = Callable[..., Said]

ALL = {"HOCKET_MIN_BYTES": "1"}
BOTH = ("MPI_Allgather", "MPI_Allgatherv")
ERRORS = ("erroneous",)  # the program makes some
SMALL_SEGMENTS = ALL | {"HOCKET_SEGMENT": "1031"}


@pytest.fixture
def planned(check: Check, tmp_path: Path) -> Check:
    """Runs all-gathers by the given rows."""

    def run(
        network: str, rows: list[Row], size: int, *options: str, sizes: list[int] | None = None,
        window: int = 2, program: str = all_gathers(), env: dict[str, str] = ALL, serves: bool = True,
    ) -> Said:  # fmt: skip
        built = read_network(network)
        path = tmp_path / "gather.hkt"
        path.write_bytes(plan_of(built, rows, size, sizes, window).encode())
        # Past the launcher, which refuses plans whose messages collide: the ranks' part is tested here.
        given = {"HOCKET_PLAN": str(path)}
        said = check(program, network, built.ranks, *options, env=env, exports=given)
        all_scheduled(said, *BOTH, by="by hand" if serves else "", ranks=built.ranks, but=ERRORS)
        assert serves or "by hand" not in said
        return said

    return run


def test_what_hocket_plans(check: Check) -> None:
    said = check(all_gathers(), "chain:3,3", 6, env=ALL)
    for ranks in (6, 3):  # the world, and its halves
        all_scheduled(said, *BOTH, ranks=ranks)


@pytest.mark.parametrize("network", ["torus:3x3", "mesh:3x2"])
def test_multi_port_networks(check: Check, network: str) -> None:
    ranks = read_network(network).ranks
    said = check("in_turn 20001 2", network, ranks)
    all_scheduled(said, "MPI_Allgather", ranks=ranks)


def test_small_contributions_go_to_the_mpi_library(check: Check) -> None:
    assert check(all_gathers(1500), "chain:2,2", 4).scheduled() == 0
    all_scheduled(check(all_gathers(4096), "chain:2,2", 4), "MPI_Allgather")
    assert check(all_gathers(4096), "chain:2,2", 4, "--min-bytes", "10KiB").scheduled() == 0


@pytest.mark.parametrize("window", [1, 2, 64])
def test_a_ring_with_any_window(planned: Check, window: int) -> None:
    planned("chain:2,2,2", ring(6, 100), 100, window=window, program=all_gathers(16385, 100003))


@pytest.mark.parametrize("env", [ALL, SMALL_SEGMENTS], ids=["usual", "small segments"])
def test_two_level(planned: Check, env: dict[str, str]) -> None:
    planned("chain:4,4", doubling(8, 64), 64, program=all_gathers(1, 16385, 50001), env=env)


def test_several_ports_and_parts_of_contributions(planned: Check) -> None:
    planned("chain:3,3", both_ways(6, 1000), 1000)


@pytest.mark.parametrize("flow", ["barrier", "free"])
def test_every_flow_control(planned: Check, flow: str) -> None:
    planned("chain:2,2", both_ways(4, 10), 10, "--flow", flow, program=all_gathers(1, 40000))
    planned("chain:2,2", doubling(4, 10), 10, "--flow", flow, program=all_gathers(1, 40000))


@pytest.mark.parametrize("seed", range(4))
def test_random_gossip(planned: Check, seed: int) -> None:
    """Parts of any size, several messages of a rank in a phase, any window; segments wait for MPI."""
    rng = Random(seed)
    env = SMALL_SEGMENTS if seed % 2 else ALL
    rows = random_gossip(rng, [1000] * 6)
    planned("chain:3,3", rows, 1000, window=1 + seed, program=all_gathers(3, 20011), env=env)


def test_a_plan_without_a_contribution_serves_nothing(planned: Check) -> None:
    """Calls may have one: the ranks plan for them."""
    sizes = [0, 10, 10, 10]
    rows = [row for row in ring(4, 10) if row[3] != 0]
    planned("chain:2,2", rows, 10, sizes=sizes, program=all_gathers(1, 20000), serves=False)


@pytest.mark.parametrize(
    ("drop", "complaint"),
    [(slice(4, 5), "sends what its sender does not hold|lacks"), (slice(11, 12), "lacks messages")],
)
def test_an_incomplete_plan_is_refused(check: Check, tmp_path: Path, drop: slice, complaint: str) -> None:
    rows = ring(4, 10)
    del rows[drop]
    network = read_network("chain:2,2")
    schedule = _core.Schedule.from_rows(4, 10, rows)
    demand = _core.Demand(4, 10, "all-gather")
    waits = _core.Waits.derive(network, schedule)
    path = tmp_path / "incomplete.hkt"
    path.write_bytes(_core.Plan(network, schedule, waits, demand, "by hand", 0, 0.0, 0.0).encode())
    said = check(all_gathers(20000), "chain:2,2", 4, env=ALL, exports={"HOCKET_PLAN": str(path)})
    assert said.count("the MPI library serves this communicator") == 1
    assert any(part in said for part in complaint.split("|")), said
    assert said.scheduled(ranks=4) == 0


def test_plans_of_different_networks_are_refused(check: Check, tmp_path: Path) -> None:
    gather, other = tmp_path / "gather.hkt", tmp_path / "other.hkt"
    gather.write_bytes(plan_of(read_network("chain:2,2"), ring(4, 10), 10).encode())
    star = read_network("star:4")
    demand = _core.Demand(4, 10)
    schedule = _core.plan_exchange(star, demand).schedule
    waits = _core.Waits.derive(star, schedule)
    other.write_bytes(_core.Plan(star, schedule, waits, demand, "tree", 0, 0.0, 0.0).encode())
    said = check(all_gathers(5000), "chain:2,2", 4, exports={"HOCKET_PLAN": f"{gather}:{other}"})
    assert said.count("made for another network") == 1 and said.scheduled() == 0


def test_a_contribution_of_the_wrong_size_is_an_error(check: Check) -> None:
    check("wrong_block", "chain:2,2", 4)


@pytest.mark.parametrize(
    ("hosts", "size", "scheduled"),
    [
        ("n0 n1 n2 n3", 2000, False),
        ("n0 n1 n2 n3", 5000, True),
        ("n0 n2 n1 n3", 2000, True),
        ("n0 n2 n1 n3", 500, False),
    ],
)
def test_the_placement_decides_from_which_size(
    check: Check, tmp_path: Path, hosts: str, size: int, scheduled: bool
) -> None:
    """Small all-gathers are scheduled where a ring in the order of ranks would share links."""
    placement = tmp_path / "hosts"
    placement.write_text(hosts.replace(" ", "\n") + "\n")
    trace = tmp_path / "trace"
    check(f"in_turn {size} 1", "chain:2,2", 4, placement=str(placement), env={"HOCKET_TRACE": str(trace)})
    lines = trace.with_name("trace.0").read_text().splitlines() if trace.with_name("trace.0").exists() else []
    assert any(line.startswith("all-gather") for line in lines) == scheduled
