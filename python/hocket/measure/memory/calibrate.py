"""Starts the ranks that measure, and makes a profile of what they report."""

from __future__ import annotations

import datetime
import os
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from hocket import _core
from hocket.launch.job import Job, run_job
from hocket.launch.mpi import Mpi
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
    what = {"memory": memory, "seconds": seconds, "quick": quick}
    told = _answer(mpi, ranks, "work", what, lambda now: report(now["at"], now["of"], now["work"]))
    return Measured([tuple(figure) for figure in told["figures"]], told["differing"]), told["of"]


def made_slower(mpi: Mpi, ranks: int, memory: int, path: str) -> dict[str, float]:
    """Sorts by the profile at ``path`` and by the built-in one: how many times as long those take that it makes
    slower, by name. Raises HocketError if the ranks fail."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as built_in:
        built_in.write(_core.memory.Profile.built_in().text())
        built_in.flush()
        what = {"elements": max(min(memory, _QUICK) // 8, 1), "profiles": [path, built_in.name]}
        return slower(_answer(mpi, ranks, "trial", what, lambda now: None))


def _answer(
    mpi: Mpi, ranks: int, work: str, what: dict[str, Any], report: Callable[[dict[str, Any]], None]
) -> Any:
    job = Job(f"hocket.measure.memory.measure:{work}", ranks, what, "all was measured", _PATIENCE)
    return run_job(job, mpi, {}, report, verbose=None).answer


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
