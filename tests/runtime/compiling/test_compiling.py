"""Compiling that is cut short leaves no process and no file, neither in the cache nor in /tmp."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hocket.errors import HocketError, MissingToolError
from hocket.launch.mpi import Mpi
from hocket.launch.runtime.compiling import compile_native
from hocket.system.cache import build_once

# Like a compiler driver: leaves a file where temporary ones go and a process of its own, and takes long.
DRIVER = ["sh", "-c", 'echo > "$TMPDIR/cc.s"; sleep 100 & echo "$!" > "$0"; wait']

BUILDER = """
import os, sys
from contextlib import contextmanager
from pathlib import Path
from hocket.launch import process
from hocket.launch.runtime.compiling import compile_native
from hocket.system.cache import build_once

pids, command = sys.argv[1], sys.argv[2:]
ends_with_us = process.ending_with_us

@contextmanager
def ending_with_us():
    with ends_with_us() as tell:
        def tell_us_too(group):
            tell(group)
            Path(pids).with_name("started").touch()
        yield tell_us_too

process.ending_with_us = ending_with_us
compiles = lambda folder, work: compile_native([*command, f"{pids}/0"], os.environ, work)
build_once("runtime-1", ["a"], compiles)
"""

# Put before it: a signal comes when a compiler is at work and its start has not returned.
SIGNALLED = """
import os, signal, subprocess, time
from pathlib import Path
class Popen(subprocess.Popen):
    def __init__(self, command, **options):
        super().__init__(command, **options)
        if command[0] == "/bin/sh":  # what ends the compiler with us
            return
        while not (Path(command[-1]).exists() and Path(command[-1]).read_text().strip()):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGHUP)
        time.sleep(0.1)
subprocess.Popen = Popen
"""

# Put before it: a signal comes whenever somebody looks whether the compiler has ended.
SIGNALLED_IN_A_LOOK = """
import os, signal, time
waitid = os.waitid
def look(*words):
    os.kill(os.getpid(), signal.SIGHUP)
    time.sleep(0.01)
    return waitid(*words)
os.waitid = look
"""


def is_alive(pid: int) -> bool:
    """Not a zombie, which nobody may be there to reap."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(true: object, what: str) -> None:
    for _ in range(1200):
        if true():  # type: ignore[operator]
            return
        time.sleep(0.05)
    pytest.fail(what)


@pytest.fixture
def places(tmp_path: Path) -> Iterator[dict[str, Path]]:
    """Cache, temporary files, and a file with its process's id for each compiler; all are ended at last."""
    made = {name: tmp_path / name for name in ("cache", "tmp", "pids")}
    for folder in made.values():
        folder.mkdir()
    yield made
    for file in made["pids"].iterdir():
        if text := file.read_text():
            try:
                os.kill(int(text), signal.SIGKILL)
            except ProcessLookupError:
                continue


def build(places: dict[str, Path], script: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(places["cache"]), "TMPDIR": str(places["tmp"])}
    return subprocess.Popen([sys.executable, "-c", script, str(places["pids"]), *DRIVER], env=environment)


def start_builder(places: dict[str, Path]) -> tuple[subprocess.Popen[bytes], int]:
    """A process that builds, with a compiler at work that would end with it; and the compiler's process."""
    builder, file = build(places, BUILDER), places["pids"] / "0"
    wait_until(lambda: file.exists() and file.read_text().strip(), "the compiler does not start")
    wait_until(places["pids"].with_name("started").exists, "starting the compiler does not return")
    return builder, int(file.read_text())


def left(places: dict[str, Path]) -> list[str]:
    builds = (places["cache"] / "hocket").glob("build-*")
    return [str(path) for path in [*places["tmp"].iterdir(), *builds]]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_leaves_nothing(places: dict[str, Path], number: signal.Signals) -> None:
    builder, compiler = start_builder(places)
    builder.send_signal(number)
    assert builder.wait(60) != 0
    assert left(places) == [] and list((places["cache"] / "hocket").iterdir()) == []
    wait_until(lambda: not is_alive(compiler), "the compiler goes on")


def test_a_command_that_is_ended_says_so(mpi: Mpi, tmp_path: Path) -> None:
    compiler = tmp_path / "c++"
    compiler.write_text(
        '#!/bin/sh\ncase " $* " in *" -E "*) exec c++ "$@";; esac\ntouch "$0.runs"\nexec sleep 100\n'
    )
    compiler.chmod(0o755)
    command = [
        sys.executable,
        "-m",
        "hocket",
        "run",
        "--mpi",
        mpi.mpiexec,
        "--network",
        "star:3",
        "-n",
        "3",
        "true",
    ]
    environment = {**os.environ, "CXX": str(compiler), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    builder = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert builder.stderr is not None
    assert builder.stderr.readline().startswith("hocket: building the runtime")
    wait_until((tmp_path / "c++.runs").exists, "the compiler does not start")
    builder.terminate()
    assert builder.wait(60) == 143
    with builder.stderr as said:
        assert said.read() == "hocket: ended by SIGTERM\n"


def test_a_signal_while_a_compiler_starts_leaves_nothing(places: dict[str, Path]) -> None:
    assert build(places, SIGNALLED + BUILDER).wait(60) != 0
    compilers = [int(file.read_text()) for file in places["pids"].iterdir()]
    assert len(compilers) == 1 and left(places) == []
    wait_until(lambda: not any(map(is_alive, compilers)), "the compiler goes on")


def test_a_signal_while_compilers_are_looked_after_leaves_nothing(places: dict[str, Path]) -> None:
    assert build(places, SIGNALLED_IN_A_LOOK + BUILDER).wait(60) != 0
    assert left(places) == []


def test_what_a_killed_build_leaves_goes_with_the_next(
    places: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lies in the cache, where its lock tells that nobody uses it any more; /tmp is never used."""
    builder, compiler = start_builder(places)
    builder.kill()
    builder.wait(60)
    wait_until(lambda: not is_alive(compiler), "the compiler goes on")
    assert list(places["tmp"].iterdir()) == [] and len(left(places)) == 1
    monkeypatch.setenv("XDG_CACHE_HOME", str(places["cache"]))
    build_once("runtime-1", ["a"], lambda folder, _: (folder / "a").touch())
    assert left(places) == []


def test_what_does_not_compile_is_told(tmp_path: Path) -> None:
    fails = ["sh", "-c", "echo 'x.cpp:1: error: no such thing' >&2; exit 1"]
    with pytest.raises(MissingToolError, match=r"failed: x.cpp:1: error: no such thing; try by hand: sh"):
        compile_native(fails, os.environ, tmp_path)


def test_no_such_compiler(tmp_path: Path) -> None:
    with pytest.raises(HocketError, match=r"/nonexistent/mpicc does not start: .*No such file"):
        compile_native(["/nonexistent/mpicc"], os.environ, tmp_path)


PROGRESS = """
from hocket.launch.runtime.compiling import progress
import time
with progress("the runtime for MPICH 5.0"):
    time.sleep(1.1)
"""


def test_progress_is_one_line_in_a_file() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRESS], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stderr == "hocket: building the runtime for MPICH 5.0 (once)\n"


def test_progress_counts_the_seconds_on_a_terminal() -> None:
    ours, its = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    environment.pop("NO_COLOR", None)
    builder = subprocess.Popen([sys.executable, "-c", PROGRESS], stderr=its, env=environment)
    os.close(its)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    assert builder.wait(60) == 0
    assert b"(once)" in shown and b"0:00:01" in shown
