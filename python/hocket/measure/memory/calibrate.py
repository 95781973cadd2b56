"""Starts the ranks that measure, and makes a profile of what they report."""

from __future__ import annotations

import datetime
import json
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from hocket import _core
from hocket.errors import HocketError
from hocket.launch import started
from hocket.launch.messages import error_lines, lines
from hocket.launch.mpi import Mpi, launch_command, mpi4py_environment
from hocket.measure.memory.agreement import slower, was_busy
from hocket.measure.memory.budget import Figure, Measured

DIFFER: Final = "differ between measurements: the machine was busy"

Report = Callable[[int, int, str], None]  # measured so far, of how many, what comes next

_MiB = 1 << 20
_LEAST = _MiB
_MOST = 256 * _MiB
_QUICK = 32 * _MiB
_BUDGET, _QUICK_BUDGET = 600.0, 30.0  # seconds of measuring, however loaded the machine is
_PATIENCE = 600.0  # seconds without a figure; compiling the runtime comes before the first


def usable_memory(ranks: int, quick: bool) -> int:
    """Bytes that a rank works on: large enough to be out of the caches, small enough for all ranks of the
    host.

    A rank needs three times as much, a third of it shared.
    """
    wanted = _QUICK if quick else _MOST
    free = _free_bytes()
    shared = _free_shared_bytes()
    return max(min(wanted, free // (8 * ranks), shared // (4 * ranks)) // _MiB * _MiB, _LEAST)


def calibrate(mpi: Mpi, ranks: int, memory: int, quick: bool, report: Report) -> _core.memory.Profile:
    """Measures with one rank and with ``ranks`` at once. Raises HocketError if the ranks fail.

    What there is no time for is left out; the origin says so.
    """
    rows: list[Figure] = []
    wanted = differing = 0
    for count in (1, ranks):

        def tell(at: int, of: int, what: str, count: int = count) -> None:
            report(at, of, f"{what}, {'one rank' if count == 1 else f'{count} ranks'}")

        seconds = (_QUICK_BUDGET if quick else _BUDGET) / 2
        done, of = _measure(mpi, count, memory, quick or count < ranks, seconds, tell)
        rows += done.figures
        wanted += of
        differing += done.differing
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    origin = f"{platform.node()}, {processor()}, {today}, 1 and {ranks} ranks, {memory // _MiB} MiB each"
    built_in = _core.memory.Profile.built_in()
    if left_out := wanted - len(rows):
        origin += f"; {left_out} of {wanted} figures left out for want of time"
    if was_busy(differing, len(rows)):
        origin += f"; {differing} of {len(rows)} figures {DIFFER}"
    measured = {row[0] for row in rows}
    if lacking := [work for work in _core.memory.WORKS if work not in measured]:
        origin += f"; built-in figures: {', '.join(lacking)}"
    rows += [figure for figure in built_in.figures if figure[0] in lacking]
    return _core.memory.Profile(origin, cores(), built_in.wire, rows)


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return " ".join(next(names, platform.machine()).split())


def _measure(
    mpi: Mpi, ranks: int, memory: int, quick: bool, seconds: float, report: Report
) -> tuple[Measured, int]:
    """The figures, and how many there should be."""
    arguments = ["hocket.measure.memory.measure", "--memory", str(memory), "--seconds", str(seconds)]
    arguments += ["--quick"] if quick else []
    told = _last(mpi, ranks, arguments, lambda line: report(line["at"], line["of"], line["work"]))
    return Measured([tuple(figure) for figure in told["figures"]], told["differing"]), told["of"]


def made_slower(mpi: Mpi, ranks: int, memory: int, path: str) -> dict[str, float]:
    """Sorts by the profile at ``path`` and by the built-in one: how many times as long those take that it makes
    slower, by name. Raises HocketError if the ranks fail."""
    elements = max(min(memory, _QUICK) // 8, 1)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as built_in:
        built_in.write(_core.memory.Profile.built_in().text())
        built_in.flush()
        arguments = ["hocket.measure.memory.trial", str(elements), path, built_in.name]
        return slower(_last(mpi, ranks, arguments, lambda line: None)["times"])


def _last(mpi: Mpi, ranks: int, arguments: list[str], report: Callable[[Any], None]) -> Any:
    """Last message of rank 0 of a module's job; messages before it are reported. Raises HocketError if there
    is none."""
    command = launch_command(mpi, ranks, (), mpi4py_environment(mpi), [sys.executable, "-m", *arguments])
    last = None
    with tempfile.TemporaryFile() as said, started(command, stderr=said) as process:
        for message in _messages(lines(process, _PATIENCE)):
            if "at" in message:
                report(message)
            else:
                last = message
        if process.wait() == 0 and last is not None:
            return last
        told = error_lines(said)
    no_mpi4py = any("mpi4py" in line for line in told)
    raise HocketError(
        f"measuring with {ranks} ranks failed: {told[0] if told else 'they say nothing'}",
        remedy="pip install 'hocket[mpi4py]'" if no_mpi4py else "run it by hand: " + " ".join(command),
    )


def _messages(said: Iterator[str]) -> Iterator[dict[str, Any]]:
    for line in said:
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue  # a launcher's own words


def _free_bytes() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return 8 * _MOST


def _free_shared_bytes() -> int:
    try:
        status = os.statvfs("/dev/shm")
    except OSError:
        return 4 * _MOST
    return status.f_bavail * status.f_frsize
