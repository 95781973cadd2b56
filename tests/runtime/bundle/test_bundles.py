"""Calls for which the ranks of a host act together: every byte checked, under both MPI families."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hocket.network import read_network

Check = Callable[..., str]
Launched = Callable[..., subprocess.CompletedProcess[str]]

NETWORK = "chain:2,1*3"  # three hosts
# Ranks of a host side by side; one on each host in turn; hosts that are not full, in no order.
PLACEMENTS = {
    "block": [0, 0, 0, 1, 1, 1, 2, 2, 2],
    "cyclic": [0, 1, 2, 0, 1, 2, 0, 1, 2],
    "unequal": [2, 0, 2, 1, 0, 2],
}
PROGRAMS = {
    "alltoall_check 20": "all-to-all",
    "allgather_check 1000 100003": "all-gather",
    "reduce_check 1 1000 50001": "all-reduce",
}


@pytest.fixture
def bundled(check: Check, tmp_path: Path) -> Callable[..., str]:
    """Runs a check on the hosts of a placement; returns what Hocket said."""

    def run(program: str, placement: str, arm: str, **env: str) -> str:
        hosts = [read_network(NETWORK).name(host) for host in (0, 1, 2)]
        places = tmp_path / "places"
        places.write_text("".join(f"{hosts[host]}\n" for host in PLACEMENTS[placement]))
        ranks = len(PLACEMENTS[placement])
        given = {"HOCKET_ARM": arm, **env}
        return check(program, NETWORK, ranks, placement=str(places), env=given)

    return run


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(("placement", "arm"), [("cyclic", "bundle-1"), ("unequal", "bundle-order")])
def test_every_byte_arrives(bundled: Callable[..., str], program: str, placement: str, arm: str) -> None:
    said = bundled(program, placement, arm)
    ranks = len(PLACEMENTS[placement])
    assert f"hocket: {PROGRAMS[program]} of {ranks} ranks on 3 hosts, bundled: " in said


def test_what_does_not_fit_is_the_librarys(bundled: Callable[..., str]) -> None:
    """The decision is the same on all ranks, so sizes may change from call to call."""
    assert "bundled" in bundled("alltoall_check 20", "block", "bundle-1", HOCKET_HOST_MEMORY="65536")


def test_without_memory_nothing_is_bundled(bundled: Callable[..., str]) -> None:
    assert "bundled" not in bundled("alltoall_check 3", "block", "bundle-1", HOCKET_HOST_MEMORY="0")


def test_ranks_that_cannot_share_memory_say_so_once(check: Check, compiled: Callable[[str], Path]) -> None:
    """Another process namespace, as in containers: the others cannot find the memory of the leader."""
    apart = ["unshare", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("making process namespaces is not allowed here")
    said = check([*apart, str(compiled("alltoall_check")), "3"], NETWORK, 9, env={"HOCKET_ARM": "bundle-1"})
    assert said.count("the ranks of a host cannot share memory") == 1
    assert "messages of a host's ranks are not bundled" in said


@pytest.mark.parametrize("how", ["kill", "exit"])
def test_a_rank_dies(launch: Launched, how: str) -> None:
    """The launcher ends the others. Memory without a name cannot stay behind."""
    before = sorted(path.name for path in Path("/dev/shm").glob("*hocket*"))
    done = launch(f"killed {how}", "chain:2,2*2", 8, env={"HOCKET_ARM": "bundle-1"})
    assert done.returncode != 0
    assert "bundled" in done.stderr, done.stderr
    assert sorted(path.name for path in Path("/dev/shm").glob("*hocket*")) == before


def test_an_unknown_arm_is_one_warning(check: Check) -> None:
    said = check("alltoall_check 3", "chain:2,2", 4, env={"HOCKET_ARM": "bundles"})
    assert "HOCKET_ARM: no arm is called 'bundles'; arms are chosen" in said
