"""Signals to commands that start ranks, with real launchers: ranks end, nothing stays, what was found out is kept."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from builds import compile_once
from hocket.launch.mpi import Mpi, MpiFamily, launch_command

pytestmark = pytest.mark.by_turns

RANKS = 4
WAIT_AND_EXIT = "sleep 0.5; exit 7"  # MPICH's launcher may die of ranks that end as they begin


def is_alive(pid: int) -> bool:
    """Return true for a running process. Zombies do not count: maybe nobody waits for them."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Job:
    """A command of Hocket whose ranks have made their calls and stay."""

    def __init__(self, place: Path, *command: object) -> None:
        self.ranks: list[int] = []
        self.shared: set[str] = set()  # files in memory that its ranks have mapped
        self._error = (place / "stderr").open("w+")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hocket", *map(str, command)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._error, start_new_session=True,
        )  # fmt: skip
        until = time.monotonic() + 200
        while len(self.ranks) < RANKS:
            assert self.process.poll() is None and time.monotonic() < until, self.said()
            self.ranks = [int(path.name) for path in (place / "ranks").iterdir()]
            time.sleep(0.05)
        maps = "".join(Path(f"/proc/{pid}/maps").read_text() for pid in self.ranks)
        self.shared = set(re.findall(r"/dev/shm/\S+$", maps, re.MULTILINE))

    def variable(self, name: str) -> str:
        """Value of a variable in the environment of its ranks."""
        environment = Path(f"/proc/{self.ranks[0]}/environ").read_bytes().decode()
        (value,) = re.findall(rf"(?:^|\0){name}=([^\0]*)", environment)
        return str(value)

    def end_by(self, number: int) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(120)

    def still_alive(self) -> list[int]:
        until = time.monotonic() + 20  # a killed process takes a moment
        while (alive := [pid for pid in self.ranks if is_alive(pid)]) and time.monotonic() < until:
            time.sleep(0.05)
        return alive

    def said(self) -> str:
        self._error.seek(0)
        return self._error.read()

    def clean_up(self) -> None:
        for pid in (self.process.pid, *self.ranks):
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        for path in self.shared:
            Path(path).unlink(missing_ok=True)
        self._error.close()


@pytest.fixture
def job(tmp_path: Path) -> Iterator[type[Job]]:
    (tmp_path / "ranks").mkdir()
    begun: list[Job] = []

    class Begun(Job):
        def __init__(self, place: Path, *command: object) -> None:
            begun.append(self)
            super().__init__(place, *command)

    yield Begun
    for each in begun:
        each.clean_up()


@pytest.fixture
def stays(mpi: Mpi, tmp_path: Path) -> list[str]:
    source = Path(__file__).parent / "programs/stays.c"
    return [
        str(compile_once([mpi.mpicc, "-O1", "-Wall", "-Werror", str(source)], "stays")),
        str(tmp_path / "ranks"),
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=["INT", "TERM", "HUP"])
def test_run(job: type[Job], mpi: Mpi, stays: list[str], tmp_path: Path, number: int) -> None:
    report = tmp_path / "report.json"
    run = ["run", "--mpi", mpi.mpiexec, "--network", "chain:2,2", "-n", RANKS, "--placement", "order"]
    begun = job(tmp_path, *run, f"--report={report}", "--", *stays)
    folder = Path(begun.variable("HOCKET_REPORT"))
    assert folder.is_dir()
    assert mpi.family is MpiFamily.MPICH or any("/sm_segment" in path for path in begun.shared)
    assert begun.end_by(number) == 128 + number
    assert begun.still_alive() == []
    # Open MPI's launcher removes them; MPICH's ranks that are ended leave theirs, also without Hocket.
    assert [path for path in begun.shared if "/sm_segment" in path and Path(path).exists()] == []
    assert not folder.exists() and not folder.parent.exists()
    told = json.loads(report.read_text())
    assert told["cut_short"] == list(range(RANKS))
    assert {line["call"] for line in told["lines"]} == {"MPI_Alltoall"}
    assert "Traceback" not in begun.said() and "MPI_Finalize" in begun.said()


def test_run_that_is_killed(job: type[Job], mpi: Mpi, stays: list[str], tmp_path: Path) -> None:
    """subprocess.run(timeout=...) does that, and a machine that is out of memory."""
    run = ["run", "--mpi", mpi.mpiexec, "--network", "chain:2,2", "-n", RANKS, "--placement", "order"]
    begun = job(tmp_path, *run, "--", *stays)
    launcher = int(
        Path(f"/proc/{begun.ranks[0]}/stat").read_text().rpartition(")")[2].split()[3]
    )  # its session
    begun.ranks.append(launcher)
    assert begun.end_by(signal.SIGKILL) == -signal.SIGKILL
    assert begun.still_alive() == []
    assert [path for path in begun.shared if "/sm_segment" in path and Path(path).exists()] == []


def test_record(job: type[Job], mpi: Mpi, stays: list[str], tmp_path: Path) -> None:
    """Recorded calls are kept; the folder beside the file goes."""
    launcher = launch_command(mpi, RANKS, (), {}, stays)
    begun = job(tmp_path, "record", "-o", tmp_path / "traffic.json", "--", *launcher)
    folder = Path(begun.variable("HOCKET_RECORD"))
    assert folder.is_dir() and folder.parent == tmp_path
    assert begun.end_by(signal.SIGTERM) == 143
    assert begun.still_alive() == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ranks", "stderr", "traffic.json"]
    assert "MPI_Alltoall" in begun.said()


def test_exit_codes_are_the_launchers(mpi: Mpi) -> None:
    """Exit codes are the launcher's own where no signal came."""
    for network in (
        [],
        ["run", "--network", "chain:2,2", "--placement", "order", "--mpi", mpi.mpiexec, "-n", "4"],
    ):
        command = launch_command(mpi, RANKS, (), {}, ["sh", "-c", WAIT_AND_EXIT])
        if network:
            command = [sys.executable, "-m", "hocket", *network, "--", "sh", "-c", WAIT_AND_EXIT]
        assert subprocess.run(command, capture_output=True, timeout=120).returncode == 7
