"""The phased all-to-all of tori, meshes, hypercubes as a real MPI program: every byte, under both MPIs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from call_rows import all_to_alls
from hocket import _core
from hocket.network import read_network
from reported_calls import Said, all_scheduled

# What an MPI does with a call, in any form and layout, is in test_call_grid with both.
pytestmark = pytest.mark.by_turns

Check = Callable[..., Said]

CALLS = "in_turn 20001 2"  # all-to-alls and all-gathers in turn


@pytest.mark.parametrize(
    "network", ["torus:4x4", "torus:2x2x2", "mesh:3x3", "torus:4x2*2", "hypercube:3", "torus:5x2"]
)
def test_every_byte_arrives(check: Check, network: str) -> None:
    built = read_network(network)
    said = check(CALLS, network, built.ranks)
    demand = _core.Demand(built.ranks, 20001)
    phases = _core.plan_exchange(built, demand).schedule.phases
    assert (
        f"hocket: all-to-all of {built.ranks} ranks on {len(built.hosts)} hosts: {phases} phases by 'product'"
        in said.splitlines()
    )
    all_scheduled(said, "MPI_Alltoall", by="product")


def test_every_datatype_and_part_of_a_torus(check: Check) -> None:
    """The halves of the world, its reverse and its copy are planned when they call."""
    said = check(all_to_alls(), "torus:2x2x2", 8)
    all_scheduled(said, "MPI_Alltoall", by="product", ranks=8, but=("erroneous",))
    all_scheduled(said, "MPI_Alltoall", but=("erroneous",))
    assert said.count("hocket: all-to-all of 8 ranks on 8 hosts: 7 phases") == 3
    assert said.count("hocket: all-to-all of 4 ranks on 4 hosts: 3 phases") == 2


def test_fewer_ranks_than_the_torus_has(check: Check) -> None:
    all_scheduled(check(CALLS, "torus:3x3", 7), "MPI_Alltoall", ranks=7)


@pytest.mark.parametrize("flow", ["window:2", "barrier"])
def test_every_flow_control(check: Check, flow: str) -> None:
    all_scheduled(check(CALLS, "torus:3x3", 9, "--flow", flow), "MPI_Alltoall", ranks=9)


def test_ranks_anywhere_by_coordinates(check: Check, tmp_path: Path) -> None:
    """A placement of coordinates, two ranks per host, keeps the phases of the plan."""
    places = [f"{x} {y}" for x in range(3) for y in range(3)] * 2
    Random(1).shuffle(places)
    path = tmp_path / "places"
    path.write_text("\n".join(places) + "\n")
    in_order = check(CALLS, "torus:3x3*2", 18)
    phases = next(line for line in in_order.splitlines() if "all-to-all of 18 ranks on 9 hosts" in line)
    said = check(CALLS, "torus:3x3*2", 18, placement=str(path))
    assert phases in said
    all_scheduled(said, "MPI_Alltoall", ranks=18)
