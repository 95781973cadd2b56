"""HOCKET_DISABLE=1: every call is the MPI library's, whatever else is set."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from call_rows import grid, rows
from reported_calls import Said
from scheduled_calls import EVERYTHING

Launch = Callable[..., subprocess.CompletedProcess[str]]

FORCED = {**EVERYTHING, "HOCKET_CHOOSE": "window-1"}
PROGRAMS = {
    call: grid((20000,), rows(calls, "dense", "equal", form="*", counts="*"), rounds=2, words="threads ready")
    for call, calls in {
        "MPI_Ialltoall": "alltoall allgather allgatherv",
        "MPI_Alltoallv": "alltoallv",
        "MPI_Allreduce": "*reduce* bcast",
    }.items()
}


def hears(said: str) -> list[str]:
    """Output of Hocket in the ranks, without the line on building the runtime, which the first launch with an
    MPI adds."""
    lines = [line for line in said.splitlines() if line.startswith("hocket: ")]
    return [line for line in lines if not line.startswith("hocket: building the runtime")]


@pytest.mark.parametrize("call", PROGRAMS)
def test_no_call_is_scheduled_whatever_else_is_set(
    told: Callable[..., tuple[subprocess.CompletedProcess[str], Said]], tmp_path: Path, call: str
) -> None:
    """Every byte is right, and no rank has a runtime to trace or report a call."""
    trace = tmp_path / "trace"
    env = {**FORCED, "HOCKET_TRACE": str(trace)}
    for value, scheduled in (("1", False), ("0", True)):
        done, said = told(PROGRAMS[call], "chain:2,2", 4, env={**env, "HOCKET_DISABLE": value})
        assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr
        assert bool(said.lines) is scheduled and bool(list(tmp_path.glob("trace.*"))) is scheduled
        assert (said.scheduled(call) > 0) is scheduled
        told_once = ["hocket: not active: HOCKET_DISABLE=1 passes every call to the MPI library"]
        assert (hears(said) == told_once) is not scheduled, said  # where HOCKET_LOG asks


@pytest.mark.parametrize(("value", "loaded"), [("1", "0"), ("0", "1"), ("", "1")])
def test_the_runtime_is_not_loaded_and_nothing_is_said(launch: Launch, value: str, loaded: str) -> None:
    exports = {"HOCKET_LOG": "0", "HOCKET_DISABLE": value}
    done = launch("loaded init", "chain:2,2", 4, exports=exports)
    assert done.stdout.split() == ["before", "0", "after", loaded], done.stdout + done.stderr
    assert hears(done.stderr) == []


def test_nothing_is_recorded(launch: Launch, tmp_path: Path) -> None:
    """Calls of interest to recordings only reach the library, too."""
    for value in ("1", "0"):
        folder = tmp_path / value
        folder.mkdir()
        env = {"HOCKET_DISABLE": value, "HOCKET_RECORD": str(folder)}
        done = launch("traffic", "chain:2,2", 4, env=env)
        assert done.returncode == 0, done.stdout + done.stderr
        assert bool(list(folder.iterdir())) is (value == "0")


def test_a_value_that_says_neither(check: Callable[..., Said]) -> None:
    """Started by a launcher that ignores the variable; calls are scheduled as if it were unset."""
    said = check("subsets 300", "chain:2,2", 4, exports={**FORCED, "HOCKET_DISABLE": "yes"})
    assert said.count("HOCKET_DISABLE='yes' is not 0 or 1; using 0") == 1, said
    assert said.scheduled("MPI_Alltoall") > 0


def hocket(*command: str, value: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hocket", *command],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "HOCKET_DISABLE": value},
        check=False,
    )


@pytest.mark.parametrize(
    ("command", "value", "said"),
    [
        (["run", "--network", "star:2", "-n", "1"], "yes", "HOCKET_DISABLE='yes' is not 0 or 1"),
        (["record", "-o", "none.json"], "yes", "HOCKET_DISABLE='yes' is not 0 or 1"),
        (["record", "-o", "none.json"], "1", "HOCKET_DISABLE=1: no call would be recorded"),
    ],
)
@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_refused_before_anything_starts(
    mpi: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], value: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = hocket(*command, "--", "echo", "started", value=value)
    assert done.returncode == 2 and "started" not in done.stdout
    assert said in done.stderr and "unset HOCKET_DISABLE" in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())
