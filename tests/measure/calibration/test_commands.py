"""hocket calibrate network, and what plan and simulate make of it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cli.conftest import Call
from hocket.costs.calibration import kept_path, read_file_of
from hocket.errors import HocketError
from hocket.launch.mpi import find_mpi
from hocket.network import read_network_description

NETWORK = "chain:4,4@100Mbit"


def launcher(family: str) -> str:
    """Launcher of MPICH or Open MPI; skips the test where there is none."""
    openmpi = os.environ.get("HOCKET_TEST_OPENMPI")
    if family == "openmpi" and openmpi:
        return str(Path(openmpi) / "mpirun")
    try:
        return find_mpi(family).mpiexec
    except HocketError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("family", ["mpich", "openmpi"])
def test_measures_and_keeps(hocket: Call, tmp_path: Path, family: str) -> None:
    path = tmp_path / "calibration.json"
    answer = hocket(
        "calibrate", "network", "--mpi", launcher(family), "-n", "3", "--quick", "-o", path, "--json"
    )
    assert answer.code == 0, answer.err
    report = answer.object()
    found = read_file_of(path)
    assert report["file"] == str(path) and report["mpi"] == found.mpi
    assert (found.ranks, found.hosts, found.ranks_per_host) == (3, 1, 3)
    assert [one.name for one in found.classes] == ["same host"]
    assert found.classes[0].transfers[0].bytes == 1 and found.token_loaded.median >= 0
    assert {flow.flows for flow in found.host_flows} == {1, 2} and found.left_out == 0
    shown = hocket("calibrate", "network", "--show", path)
    assert shown.code == 0 and shown.err == ""
    assert "same host" in shown.out and "flows into one host" in shown.out


def test_draws_a_picture(hocket: Call, kept: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "costs.svg"
    assert hocket("calibrate", "network", "--show", kept, "--plot", f"costs={picture}").code == 0
    assert "<svg" in picture.read_text()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "-n is missing"),
        (["-n", "1"], "-n 1 is not accepted"),
        (["-n", "2", "--mpi", "no-such-mpiexec"], "not a launcher"),
        (["-n", "2", "-o", "/no/such/place/file"], "cannot write"),
        (["-n", "2", "--network", "star:"], "star"),
        (["--show", "/no/such/file"], "cannot read the calibration /no/such/file"),
        (["--show", "/dev/zero"], "Is a device"),
        (["--plot", "costs=costs.txt"], "has no known ending"),
    ],
)
def test_bad_input(hocket: Call, arguments: list[str], complaint: str) -> None:
    answer = hocket("calibrate", "network", *arguments)
    assert answer.code == 2 and complaint in answer.err and "Traceback" not in answer.err
    assert answer.out == "" and len(answer.err.splitlines()) == 1


@pytest.mark.parametrize("damage", ["{", "[]", "\0\1", '{"format": "other"}', "5" * 5000])
@pytest.mark.parametrize(
    "command",
    [
        ["calibrate", "network", "--show"],
        ["plan", "all-to-all", "--network", NETWORK, "--calibration"],
        ["simulate", "--network", NETWORK, "--calibration"],
    ],
)
def test_a_damaged_file_is_refused(hocket: Call, kept: Path, command: list[str], damage: str) -> None:
    kept.write_text(damage)
    answer = hocket(*command, kept)
    assert answer.code == 2 and str(kept) in answer.err and "measure again" in answer.err
    assert answer.out == "" and len(answer.err.splitlines()) == 1


def test_plans_by_a_calibration(hocket: Call, kept: Path) -> None:
    arguments = ["plan", "all-to-all", "--network", NETWORK, "--bytes", "1KiB"]
    assumed = hocket(*arguments)
    assert (
        assumed.code == 0 and "costs       assumed: ethernet-1g" in assumed.out and "window 1" in assumed.out
    )
    measured = hocket(*arguments, "--calibration", kept)
    assert (
        measured.code == 0
        and f"costs       measured 2026-11-23, MPICH Version: 5.0.1 ({kept})" in measured.out
    )
    assert "window 1" in measured.out and "HOCKET_SEGMENT=" in measured.out  # as a run plans it
    told = hocket(*arguments, "--calibration", kept, "--window", "2", "--json").object()
    assert told["window"] == 2 and told["forecast"]["measured"]
    seconds = {one["name"]: one["seconds"] for one in told["forecast"]["candidates"]}
    assert seconds["window-8"] < seconds["window-2"] < seconds["window-1"]


def test_the_kept_calibration_is_used(
    hocket: Call, kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = kept_path(read_network_description(NETWORK))
    path.write_bytes(kept.read_bytes())
    for command in (["plan", "all-gather"], ["simulate"]):
        answer = hocket(*command, "--network", NETWORK)
        assert answer.code == 0 and f"({path})" in answer.out
    assert json.loads(hocket("simulate", "--network", NETWORK, "--json").out)["forecast"]["measured"]
    path.write_text("{")
    answer = hocket("plan", "all-to-all", "--network", NETWORK)
    assert answer.code == 0 and "assumed: ethernet-1g" in answer.out and "damaged" in answer.err
