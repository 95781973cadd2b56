"""Checks of what is installed: the Python package and its extension, the cache, the runtime for this MPI."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from hocket import _core
from hocket.doctor.case import Case
from hocket.doctor.finding import Finding, note, ok, problem
from hocket.doctor.variables import ANEW
from hocket.launch.runtime.build import native_dir
from hocket.launch.runtime.ready import find_runtime
from hocket.system.cache import cache_dir

_NEEDED_MB = 64  # a runtime, with room for its objects' neighbours and for plans
_AGAIN = "install it again: pip install --force-reinstall hocket"


def check_package(_: Case) -> Iterator[Finding]:
    try:
        package = version("hocket")
    except PackageNotFoundError:
        yield problem("hocket", "the package is found but not installed", _AGAIN)
        return
    extension = getattr(_core, "__version__", "older")
    if extension != package:
        yield problem("hocket", f"the package is {package}, its extension {extension}", _AGAIN)
        return
    needed = [
        native_dir() / "libhocket_core.a",
        native_dir() / "runtime" / "shim" / "shim.c",
        native_dir() / "sort",
    ]
    missing = [path for path in needed if not path.exists()]
    if missing:
        yield problem("hocket", f"{missing[0]} is missing, which the runtime is built from", _AGAIN)
        return
    python = ".".join(map(str, sys.version_info[:3]))
    yield ok("hocket", f"version {package}, Python {python}")


def check_cache(case: Case) -> Iterator[Finding]:
    cache = cache_dir()
    free = shutil.disk_usage(cache).free >> 20
    if free < _NEEDED_MB:
        yield problem("cache", f"{cache}: {free} MB are free, a built runtime and plans need {_NEEDED_MB}",
                      "free some space there, or set XDG_CACHE_HOME to a directory with more")  # fmt: skip
        return
    yield ok("cache", f"{cache}, writable by you only")
    if case.hostfile:
        yield note("cache", f"all hosts of {case.hostfile} must see {cache}",
                   "if they do not, set XDG_CACHE_HOME to a shared directory")  # fmt: skip


def check_runtime(case: Case) -> Iterator[Finding]:
    """Ready-made, built, or built now."""
    if case.mpi is None:
        return
    case.runtime = find_runtime(case.mpi.mpicc)
    prepared = case.environment.get("HOCKET_RUNTIME_MPI", case.runtime.mpi)
    if prepared != case.runtime.mpi:
        yield problem("runtime", f"the job is prepared for {prepared} and {case.mpi.mpiexec} is of {case.runtime.mpi}",
                      f"{ANEW}; --mpi chooses another MPI")  # fmt: skip
    yield ok("runtime", f"{case.runtime.library.parent}{', ready-made' if case.ready else ''}")
