"""Placement files with coordinates: what they mean, and one clear message for each way to get them wrong."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from call_rows import all_to_alls
from hocket.errors import UsageError
from hocket.launch.environment import RuntimeOptions
from hocket.launch.placement import hosts_by_coordinates
from hocket.network import read_network
from reported_calls import Said, all_scheduled

Check = Callable[..., Said]
Launched = Callable[..., subprocess.CompletedProcess[str]]


def hosts(tmp_path: Path, network: str, text: str, ranks: int) -> list[str] | None:
    path = tmp_path / "places"
    path.write_text(text)
    return hosts_by_coordinates(path, read_network(network), ranks)


@pytest.mark.parametrize(
    ("network", "text", "wanted"),
    [
        (
            "torus:4x3x2",
            "3 1 0\n0,2,1\n# none here\n\n 2 , 0 , 1 # the last\n",
            ["h3-1-0", "h0-2-1", "h2-0-1"],
        ),
        ("mesh:2x2", "1 1\r\n1 0\r\n0 1\r\n0 0\r\n", ["h1-1", "h1-0", "h0-1", "h0-0"]),
        ("hypercube:3", "1 0 1\n0 1 1\n", ["h1-0-1", "h0-1-1"]),
        ("torus:3*2", "2\n0\n2\n0\n", ["h2", "h0", "h2", "h0"]),
        ("torus:12x2", "11\t1\n", ["h11-1"]),
    ],
)
def test_coordinates_name_hosts(tmp_path: Path, network: str, text: str, wanted: list[str]) -> None:
    assert hosts(tmp_path, network, text, len(wanted)) == wanted


@pytest.mark.parametrize(("network", "text"), [("torus:2x2", "h0-0\nh1-1\n"), ("star:3", "n0\nn2\n")])
def test_names_are_left_to_the_ranks(tmp_path: Path, network: str, text: str) -> None:
    assert hosts(tmp_path, network, text, 2) is None
    options = RuntimeOptions(placement=str(tmp_path / "places"))
    assert options.where_ranks_are(read_network(network), 2) == str(tmp_path / "places")


def test_hosts_may_be_called_by_numbers(tmp_path: Path) -> None:
    network = tmp_path / "numbers.conf"
    network.write_text("SwitchName=s Nodes=7,8,9\n")
    assert hosts(tmp_path, str(network), "9\n7\n", 2) is None


@pytest.mark.parametrize(
    ("network", "text", "ranks", "line", "message"),
    [
        ("torus:2x2", "0 0\n0 1\n\n0 1\n", 3, 4, "'0 1' repeats line 2, and .* 1 rank; .*free: 1 0, 1 1$"),
        ("torus:3*2", "0\n1\n0\n0\n", 4, 4, "'0' repeats line 3, and its host has 2 ranks; .*free: 1, 2$"),
        ("torus:2x2", "0 0\n", 3, 0, "1 line of coordinates for 3 ranks; .*rank 1 .*free: 0 1, 1 0, 1 1$"),
        ("torus:4x4", "0 0\n", 3, 0, "; free: 0 1, 0 2, 0 3, 1 0, 1 1, 1 2, 1 3, 2 0 and 7 more$"),
        ("mesh:2", "0\n1\n", 3, 0, "2 lines .*no place of the mesh is free, so start at most 2 ranks$"),
        ("torus:4x4", "0 0\n0 4\n", 2, 2, "coordinate 2 of '0 4' is out of range; .*goes from 0 to 3$"),
        ("torus:4x4", "-1 0\n", 1, 1, "coordinate 1 of '-1 0' is out of range"),
        ("hypercube:2", "0 2\n", 1, 1, "coordinate 2 of '0 2' is out .*hypercube goes from 0 to 1$"),
        ("torus:4x4", "0 0 0\n", 1, 1, "'0 0 0' has 3 coordinates, the torus 2 dimensions; write 2 numbers"),
        ("torus:4x4", "0 1\n3\n", 2, 2, "'3' has 1 coordinate, the torus 2 dimensions"),
        ("mesh:4x4", "0 1\n0 x\n", 2, 2, "'x' is not a coordinate; write 2 numbers, such as 0 0$"),
        ("mesh:4x4", "0 1.0\n", 1, 1, "'1.0' is not a coordinate"),
        ("mesh:4x4", "0,,1\n", 1, 1, "'0,,1' has 3 coordinates"),
        ("torus:2x2", "0 1\nh1-1\n", 2, 2, "'h1-1' reads as a host name, but line 1 as coordinates"),
        ("torus:2x2", "h1-1\n0 1\n", 2, 1, "'h1-1' reads as a host name, but line 2 as coordinates"),
        ("star:4", "0 1\n", 1, 1, "only a torus, mesh or hypercube has coordinates; .*one host name"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant(
    tmp_path: Path, network: str, text: str, ranks: int, line: int, message: str
) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        hosts(tmp_path, network, text, ranks)
    assert refused.value.where is not None
    assert refused.value.where.line == line and refused.value.where.file == str(tmp_path / "places")


def test_not_a_text(tmp_path: Path) -> None:
    path = tmp_path / "places"
    path.write_bytes(b"0 0\n\xff\xfe\n")
    with pytest.raises(UsageError, match="places:2: this is not text"):
        hosts_by_coordinates(path, read_network("torus:2x2"), 1)


def test_a_run_by_coordinates(check: Check, tmp_path: Path) -> None:
    """Ranks in an order of their own; the plan is the network's, so its phases are."""
    placement = tmp_path / "places"
    placement.write_text("1 2\n0,1\n1 0\n0 2\n1 1\n0 0\n")
    said = check(all_to_alls(), "torus:2x3", 6, placement=str(placement))
    assert "hocket: all-to-all of 6 ranks on 6 hosts" in said
    all_scheduled(said, "MPI_Alltoall", ranks=6, but=("erroneous",))


def test_nothing_starts_by_a_wrong_file(launch: Launched, tmp_path: Path) -> None:
    placement, started = tmp_path / "places", tmp_path / "started"
    placement.write_text("0 0\n0 1\n0 1\n")
    done = launch(["touch", str(started)], "torus:2x2", 3, placement=str(placement))
    assert done.returncode == 2 and not started.exists()
    assert done.stderr.startswith(f"hocket: {placement}:3: '0 1' repeats line 2"), done.stderr
    assert len(done.stderr.splitlines()) == 1
