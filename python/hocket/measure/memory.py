"""Starts the ranks that measure, and makes a profile of what they report."""

import datetime
import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from hocket import _core
from hocket.errors import UsageError
from hocket.launch.job import Job, run_job
from hocket.launch.mpi import Mpi
from hocket.measure.memory_sizes import Figure, Measured, slower, was_busy

DIFFER: Final = "differ between measurements: the machine was busy"

Report = Callable[[int, int, str], None]  # measured so far, of how many, what comes next

_MiB = 1 << 20
_LEAST = _MiB
_MOST = 256 * _MiB
_QUICK = 32 * _MiB
_BUDGET, _QUICK_BUDGET = 600.0, 30.0  # seconds of measuring, however loaded the machine is
_PATIENCE = 600.0  # seconds without a figure; compiling the runtime comes before the first


def usable_memory(ranks: int, quick: bool) -> int:
    """Bytes that a rank works on: large enough to be out of the caches, small enough for all ranks of the host.

    A rank needs three times as much, a third of it shared."""
    import psutil

    wanted = _QUICK if quick else _MOST
    free, shared = psutil.virtual_memory().available, _free_shared_bytes()
    return max(min(wanted, free // (8 * ranks), shared // (4 * ranks)) // _MiB * _MiB, _LEAST)


def calibrate(mpi: Mpi, ranks: int, memory: int, quick: bool, report: Report) -> _core.memory.Profile:
    """Measures with one rank and with ``ranks`` at once. Raises HocketError if the ranks fail.

    What there is no time for is left out; the origin says so."""
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
    job = Job(f"hocket.measure.memory_ranks:{work}", ranks, what, "all was measured", _PATIENCE)
    return run_job(job, mpi, {}, report, verbose=None).answer


def _free_shared_bytes() -> int:
    try:
        return shutil.disk_usage("/dev/shm").free
    except OSError:
        return 4 * _MOST


_REACH: Final = 256 << 20  # bytes: out of the caches

MEANINGS: Final = {
    "1C1": "copied in a row",
    "sC1": "copied, read 64 elements apart",
    "1Cs": "copied, written 64 elements apart",
    "wC1": "copied, read at any place (gather)",
    "1Cw": "copied, written at any place (scatter)",
    "1S0": "sent to a rank of the host by MPI, read in a row",
    "Nd": "the same: within a host the network is the memory",
    "0R1": "the same, written in a row",
    "wS0": "read at any place in shared memory",
    "0Rw": "written at any place in shared memory",
    "Nadp": "read in a row from shared memory of another rank",
}

#: Operations within a host, as composed of basic transfers.
WAYS: Final = {
    "permutation, packed": "wC1 o (1S0 || Nd || 0R1) o 1Cw",
    "permutation, chained": "1S0 || Nadp || 0Rw",
    "take, chained": "wS0 || Nadp || 0R1",
}


def transfers(profile: _core.memory.Profile, width: int) -> dict[str, float]:
    """MB/s of each basic transfer, all measured ranks working at once on elements of ``width`` bytes."""
    ranks = max(figure[1] for figure in profile.figures)

    def rate(work: str, unit: int, parts: int = 1) -> float:
        return 1e-6 * unit / float(profile.seconds(work, ranks=ranks, width=unit, parts=parts, bytes=_REACH))

    message = rate("message", 1)
    return {
        "1C1": rate("copy", 1),
        "sC1": rate("strided-read", width),
        "1Cs": rate("strided-write", width),
        "wC1": rate("gather", width),
        "1Cw": rate("scatter", width),
        "1S0": message,
        "Nd": message,
        "0R1": message,
        "wS0": rate("shared-gather", width),
        "0Rw": rate("shared-scatter", width),
        "Nadp": rate("pull", 1, 1 << 16),
    }


def composed(composition: str, figures: Mapping[str, float] | None = None) -> float:
    """MB/s of composed transfers; without figures only the grammar is checked. Raises UsageError."""
    try:
        if figures is None:
            _core.memory.composition(composition)
            return 0.0
        return float(_core.memory.throughput(composition, dict(figures)))
    except _core.InputError as error:
        raise UsageError(
            f"'{composition}': {error}", remedy="write one such as 'wC1 o (1S0 || Nd || 0R1) o 1Cw'"
        ) from None
