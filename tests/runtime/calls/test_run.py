"""``hocket run``: unmodified programs, every byte checked, under both MPI families."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from call_rows import LARGE_SIZE, WITHIN, all_gathers, all_to_alls
from hocket.launch.mpi import Mpi
from mpi_programs import hocket_here
from reported_calls import Said, all_scheduled

# What an MPI does with a call, in any form and layout, is in test_call_grid with both.
pytestmark = pytest.mark.by_turns

Check = Callable[..., Said]
Launched = Callable[..., subprocess.CompletedProcess[str]]

ALL_TO_ALL = all_to_alls()
ERRORS = ("erroneous",)  # the program makes some


@pytest.mark.parametrize(
    ("network", "ranks"),
    [("chain:4,4", 8), ("star:5", 5), ("tree:(1,(2,2),3)", 8), ("star:4*2", 8), ("chain:3,2,1", 6)],
)
def test_every_byte_arrives(check: Check, network: str, ranks: int) -> None:
    all_scheduled(check(ALL_TO_ALL, network, ranks), "MPI_Alltoall", but=ERRORS)


@pytest.mark.parametrize("groups", ["world", pytest.param(WITHIN, marks=pytest.mark.slow)])
def test_messages_of_many_segments(check: Check, groups: str) -> None:
    said = check(all_to_alls(LARGE_SIZE, groups=groups), "chain:3,2,1", 6)
    all_scheduled(said, "MPI_Alltoall", ranks=6, but=ERRORS)


@pytest.mark.parametrize("flow", ["window:2", "barrier", "free"])
def test_every_flow_control(check: Check, flow: str) -> None:
    all_scheduled(check(ALL_TO_ALL, "chain:3,3", 6, "--flow", flow), "MPI_Alltoall", but=ERRORS)


def test_segments_smaller_than_a_message_and_odd(check: Check) -> None:
    env = {"HOCKET_SEGMENT": "1031", "HOCKET_MIN_BYTES": "1"}
    all_scheduled(check(ALL_TO_ALL, "chain:2,2,2", 6, env=env), "MPI_Alltoall", but=ERRORS)


def test_fewer_ranks_than_the_network_has(check: Check) -> None:
    all_scheduled(check(ALL_TO_ALL, "chain:4,4", 5), "MPI_Alltoall", ranks=5, but=ERRORS)


def test_placement_file_in_any_order(check: Check, tmp_path: Path) -> None:
    network = tmp_path / "net.conf"
    network.write_text(
        "SwitchName=s1 Nodes=a[0-2]\nSwitchName=s2 Nodes=b[0-2]\nSwitchName=top Switches=s[1-2]\n"
    )
    placement = tmp_path / "hosts"
    placement.write_text("# world rank i runs on line i\nb2\na0\nb0\na2\nb1\na1\n")
    said = check(ALL_TO_ALL, str(network), 6, "--oversubscription=3", placement=str(placement))
    assert "all-to-all of 6 ranks on 6 hosts: 9 phases" in said
    all_scheduled(said, "MPI_Alltoall", ranks=6, but=ERRORS)


@pytest.mark.parametrize(
    ("environment", "complaint"),
    [
        ({}, "is not in the network file"),
        ({"HOCKET_PLACEMENT": "/nonexistent/hosts"}, "cannot read the placement file"),
        ({"HOCKET_PLAN": "/nonexistent/plan.hkt"}, "cannot read the plan"),
    ],
)
def test_what_cannot_be_served_goes_to_the_mpi_library_with_one_warning(
    check: Check, environment: dict[str, str], complaint: str
) -> None:
    said = check(all_to_alls(20000), "chain:2,2", 4, placement=None, exports=environment)
    assert said.count("hocket:") - said.count("hocket: building") == 1, said
    assert complaint in said and said.scheduled() == 0


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """An all-to-all of four hosts."""
    path = tmp_path / "plan.hkt"
    command = ["plan", "all-to-all", "--network", "chain:2,2", "--bytes", "64KiB", "-o", str(path)]
    assert hocket_here(command).returncode == 0
    return path


def test_a_damaged_plan_is_refused_by_the_ranks(launch: Launched, check: Check, plan: Path) -> None:
    data = bytearray(plan.read_bytes())
    data[-3] ^= 4  # in the row of the last rank
    broken = plan.with_name("broken.hkt")
    broken.write_bytes(data)
    refused = launch(ALL_TO_ALL, "chain:2,2", 4, "--plan", str(broken))
    assert refused.returncode == 2
    assert "broken.hkt" in refused.stderr and "Traceback" not in refused.stderr
    said = check(ALL_TO_ALL, "chain:2,2", 4, exports={"HOCKET_PLAN": str(broken)})
    assert said.count("damaged") == 1 and said.scheduled() == 0, said


def test_a_plan_made_before(launch: Launched, check: Check, plan: Path) -> None:
    said = check(ALL_TO_ALL, "chain:2,2", 4, "--plan", str(plan))
    assert "hocket: all-to-all of 4 ranks on 4 hosts: 4 phases" in said
    all_scheduled(said, "MPI_Alltoall", ranks=4, but=ERRORS)
    twice = launch(ALL_TO_ALL, "chain:2,2", 4, "--plan", str(plan), "--plan", str(plan))
    assert twice.returncode == 2 and "a second all-to-all plan" in twice.stderr
    said = check(ALL_TO_ALL, "chain:2,2", 4, exports={"HOCKET_PLAN": f"{plan}:{plan}"})
    assert said.count("a second all-to-all plan") == 1


def test_wrong_settings_are_reported_once(check: Check) -> None:
    said = check(ALL_TO_ALL, "chain:2,2", 4, env={"HOCKET_HOST_MEMORY": "some"})
    assert said.count("HOCKET_HOST_MEMORY='some'") == 1


@pytest.mark.parametrize(
    "program",
    [ALL_TO_ALL, all_gathers(5000), "persistent_blocking"],
    ids=["all-to-all", "all-gather", "persistent"],
)
def test_a_process_with_another_mpi_is_left_alone(mpi: Mpi, check: Check, program: str) -> None:
    other = "Open MPI v1." if mpi.family.value == "mpich" else "MPICH Version: 1."
    said = check(program, "chain:2,2", 4, exports={"HOCKET_RUNTIME": f'"{other} /${{HOCKET_RUNTIME#*/}}"'})
    assert said.count("another MPI") == 1 and said.scheduled() == 0, said


def test_the_exit_code_of_the_program_comes_back(launch: Launched) -> None:
    assert launch(["sh", "-c", "exit 3"], "star:3", 1, placement=None).returncode == 3
