"""Finds the runtime for an MPI: ready-made where the installation has one that fits, else compiled.

A wheel brings runtimes for three ABIs (cmake/ready_runtimes.cmake). One serves an MPI that speaks this ABI and has
exactly the same of the functions that the shim knows: a program that looks for a function must not find one in the shim
that its MPI lacks. Every other MPI gets a runtime of its own (hocket.launch.runtime.build)."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hocket.launch.runtime import probe
from hocket.launch.runtime.build import (
    CHOSEN_FLAGS,
    LIBRARY,
    SHIM,
    SORT_LIBRARY,
    Runtime,
    build_runtime,
    build_sort,
    can_hold,
    digest_of,
    native_dir,
    runtime_library,
)
from hocket.system.cache import build_once, check_installed
from hocket.system.files import real_path

_SECONDS = 20
_LOADED_BEFORE = ("LD_PRELOAD", "LD_AUDIT")  # they may speak for the MPI library
_STANDARD = 1
# ABIs: the library's file name, and how its text begins, up to the major version.
_KINDS = {
    "mpich": ("libmpi.so.12", re.compile(r"MPICH Version:\s*(?:[5-9]|\d\d+)\.")),
    "openmpi": ("libmpi.so.40", re.compile(r"Open MPI v5\.")),
    "standard": ("libmpi_abi.so.1", re.compile("")),
}


@dataclass(frozen=True, slots=True)
class Library:
    """Properties of an MPI library, as hocket.launch.runtime.probe.look finds them."""

    version: str
    abi: int
    functions: dict[str, bool]


def find_runtime(mpicc: str) -> Runtime:
    """The runtime for the MPI that ``mpicc`` belongs to, or would if the MPI had one.

    Raises MissingToolError where it must be compiled and there is no such wrapper or no C++20 compiler, HocketError if
    others can change what would be loaded."""
    return ready_runtime(mpicc) or build_runtime(mpicc)


def find_sort(mpicc: str) -> Path:
    """The library of sorting and permuting, which loads that runtime. Raises as find_runtime() does."""
    ready = ready_runtime(mpicc)
    runtime = ready.library if ready else runtime_library(mpicc)
    return ready_sort(runtime) or build_sort(mpicc, runtime)


def ready_sort(runtime: Path) -> Path | None:
    """Sort library beside a ready-made runtime; None if it must be compiled."""
    beside = runtime.with_name(SORT_LIBRARY)
    return beside if beside.is_file() else None


def ready_runtime(mpicc: str) -> Runtime | None:
    """The ready-made one; None where there is none for this MPI, or where the user has chosen flags."""
    if os.environ.get(CHOSEN_FLAGS):
        return None
    standard = Path(mpicc).name.startswith("mpicc_abi")
    files = {name: file for name, (file, _) in _KINDS.items() if (name == "standard") == standard}
    found = [(name, path) for name, file in files.items() if (path := _beside(mpicc, file)) is not None]
    if len(found) != 1:  # none, or nobody knows which of them ranks load
        return None
    name, path = found[0]
    home = native_dir() / "ready" / name
    parts = [home / SHIM, home / LIBRARY, home / SORT_LIBRARY, home / "functions.json"]
    if not all(part.is_file() for part in parts):
        return None
    functions = json.loads(parts[-1].read_text())
    library = _ask(path, list(functions))
    if library is None or library.abi != (_STANDARD if standard else 0) or library.functions != functions:
        return None
    if (begins := _KINDS[name][1].match(library.version)) is None:
        return None
    for part in (home, *parts):
        check_installed(part)
    mpi = f"MPI ABI {_STANDARD}." if standard else " ".join(begins[0].split())  # which the shim compares
    return Runtime(_preloadable(parts[0]), parts[1], mpi)


def _preloadable(shim: Path) -> Path:
    """The shim, or its copy in the cache where Hocket is installed in a place that LD_PRELOAD cannot hold."""
    if can_hold(shim):
        return shim

    def copy(folder: Path, _: Path) -> None:
        shutil.copyfile(shim, folder / SHIM)

    return build_once(f"shim-{digest_of([], [shim])}", (SHIM,), copy) / SHIM


def _beside(mpicc: str, file: str) -> Path | None:
    """The library of the installation that has this wrapper or launcher in its ``bin``."""
    wrapper = Path(mpicc)
    for bin_dir in dict.fromkeys((wrapper.parent.absolute(), real_path(wrapper).parent)):
        for folder in ("lib", "lib64"):
            if (path := bin_dir.parent / folder / file).exists():
                return path
    return None


def _ask(library: Path, names: list[str]) -> Library | None:
    """None if the library cannot be loaded here, or is none of MPI."""
    environment = {name: value for name, value in os.environ.items() if name not in _LOADED_BEFORE}
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", probe.__file__, str(library)], input=json.dumps(names),
            capture_output=True, text=True, errors="replace", timeout=_SECONDS, env=environment,
            check=True)  # fmt: skip
        told: dict[str, Any] = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Library(told["version"], told["abi"], told["functions"])
