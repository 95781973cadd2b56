"""The runtime's plan store as a program that needs no launcher: tests/runtime/programs/plan_store.cpp."""

from __future__ import annotations

import os
from pathlib import Path

from hocket.launch.runtime.build import native_dir

_PARTS = (
    "plan/plan_store",
    "plan/placement",
    "plan/planned",
    "plan/settings",
    "environment/variables",
    "mpi/world",
)


def compile_command(mpicc: str) -> list[str]:
    """Command that compiles the program with MPICH's wrapper, without ``-o FILE``."""
    native = native_dir()
    sources = [Path(__file__).parent / "runtime" / "programs" / "plan_store.cpp"]
    sources += [native / "runtime" / f"{name}.cpp" for name in _PARTS]
    included = [option for source in sources for option in ("-include", str(source))]  # headers are read once
    flags = ["-cc=c++", "-std=c++20", "-O0", "-I", str(native)]
    libraries = ["-x", "none", str(native / "libhocket_core.a"), "-lstdc++", "-lm"]
    return [mpicc, *flags, *included, "-x", "c++", os.devnull, *libraries]
