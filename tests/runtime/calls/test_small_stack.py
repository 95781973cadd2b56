"""Calls on threads with 64 KiB of stack, as user-level threads have: 48 KiB are enough for what Hocket does."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from hocket.launch.mpi import Mpi, MpiFamily
from hocket.launch.runtime.build import build_runtime
from mpi_programs import mpiexec
from scheduled_calls import EVERYTHING

pytestmark = pytest.mark.by_turns

Launch = Callable[..., CompletedProcess[str]]
ENOUGH = 48 << 10


def depths(printed: str) -> dict[str, int]:
    assert " 0 wrong" in printed
    found = {name: int(depth) for name, depth in re.findall(r"^(\w+) (\d+)$", printed, re.MULTILINE)}
    assert len(found) > 20
    return found


def launched(launch: Launch, *arguments: Any, **more: Any) -> dict[str, int]:
    done = launch(*arguments, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return depths(done.stdout)


@pytest.mark.parametrize("candidate", ["", "two-level-1", "two-level-leaders"])
def test_every_call_on_a_small_stack(launch: Launch, candidate: str) -> None:
    """Irregular exchanges, too, are planned there. Below it is a megabyte that nobody may touch."""
    deepest = launched(
        launch, "small_stack 64", "chain:2,2", 4, env={**EVERYTHING, "HOCKET_CHOOSE": candidate}
    )
    assert max(deepest.values()) <= ENOUGH


def test_what_the_library_needs_itself(mpi: Mpi, launch: Launch, compiled: Callable[[str], Path]) -> None:
    """MPICH's MPI_Gather packs what it hands on with 131 KB of stack; by default the library serves calls, too."""
    native = depths(mpiexec(mpi, 4, [str(compiled("small_stack")), "256"], {}))
    by_default = launched(launch, "small_stack 256", "chain:2,2", 4, "--choose", "learn")
    deep = {name for name, depth in native.items() if depth > ENOUGH}
    assert deep == ({"Gather"} if mpi.family is MpiFamily.MPICH else set())
    assert max(depth for name, depth in by_default.items() if name not in deep) <= ENOUGH


@pytest.mark.skipif(platform.machine() != "x86_64" or not shutil.which("objdump"), reason="reads x86-64 code")
def test_no_large_frame(mpi: Mpi) -> None:
    """Functions take at most 4096 bytes as compiled, those of the core and of the C++ library included."""
    built = build_runtime(mpi.mpicc)
    large = []
    for library in (built.library, built.shim):
        listing = subprocess.run(
            ["objdump", "-d", "--no-show-raw-insn", str(library)], capture_output=True, text=True, check=True
        )
        # At most 2 GB: a frame is given back by subtracting a negative number, at times.
        frames = [int(size, 16) for size in re.findall(r"\bsub +\$0x([0-9a-f]{1,7}),%rsp", listing.stdout)]
        assert len(frames) > 5
        large += [frame for frame in frames if frame > 4096]
    assert large == []
