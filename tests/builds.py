"""Programs and libraries of tests, compiled once for all processes of a run."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

# For a runtime that few tests use, which takes the compiler longer than all of them: unoptimised, and with so much
# memory that garbage is seldom collected, which is a tenth of the rest.
QUICK_RUNTIME = {"HOCKET_CXXFLAGS": "-O0 --param=ggc-min-heapsize=400000"}

_FOLDER = "HOCKET_TEST_BUILDS"  # of this run; pytest's workers inherit it


def prepare(config: pytest.Config) -> None:
    """Makes the folder of builds, which goes with the process that has made it."""
    if _FOLDER not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="hocket-test-builds-")
        os.environ[_FOLDER] = folder.name
        config.add_cleanup(folder.cleanup)


def compile_once(command: Sequence[str], name: str) -> Path:
    """The file ``name`` that ``command`` makes when it gets ``-o FILE``; its sources do not change in a run."""

    def compile_to(made: Path) -> None:
        subprocess.run([*command, "-o", str(made)], check=True, timeout=300)

    return make_once(command, name, compile_to)


def make_once(what: Sequence[str], name: str, make: Callable[[Path], object]) -> Path:
    """The file ``name`` that ``make`` writes to the path that it gets; ``what``: told apart by."""
    told = hashlib.sha256("\0".join(what).encode()).hexdigest()[:16]
    folder = Path(os.environ[_FOLDER]) / told
    folder.mkdir(exist_ok=True)
    out = folder / name
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not out.exists():
            made = folder / "unfinished"
            make(made)
            made.rename(out)
    return out
