"""Builds the MPI runtime for the MPI at hand, once, and keeps it in the user's cache.

Handle types differ between MPI families, so the part that calls MPI is compiled with the ``mpicc``
of each. The preloaded shim knows no MPI and only hands calls over (runtime/shim.c).
"""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from hocket import _core
from hocket.errors import HocketError, MissingToolError
from hocket.runtime.cache import build_once
from hocket.runtime.preload import SHIM as _SHIM
from hocket.runtime.preload import VARIABLE, with_shim
from hocket.runtime.wrapper import Wrapper, read_wrapper

_FLAGS = [
    "-std=c++20",
    "-O2",
    "-fPIC",
    "-fvisibility=hidden",
    "-DOMPI_SKIP_MPICXX=1",  # the old C++ bindings, for which ranks have no library loaded
    "-DMPICH_SKIP_MPICXX=1",
    "-static-libgcc",
    "-static-libstdc++",
    *shlex.split(os.environ.get("HOCKET_CXXFLAGS", "")),  # sanitizers, say
]
_SHIM_FLAGS = ["-x", "c", "-std=gnu17", "-O2", "-fPIC", "-fvisibility=hidden", "-shared"]
_BUILD_SECONDS = 300
_ROOMS = ("runtime", "sort")  # what is compiled with the MPI at hand
_LIBRARY = "libhocket_runtime.so"

# What most sources include and what takes most of the compiler's time: read once for all of them.
_COMMON_HEADERS = (
    "mpi.h", "algorithm", "array", "atomic", "chrono", "cstdint", "cstring", "fstream", "limits", "map",
    "memory", "mutex", "numeric", "optional", "span", "sstream", "string", "utility", "vector",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Runtime:
    """A built runtime: what to preload, what it loads, and the MPI it belongs to."""

    shim: Path
    library: Path
    mpi: str

    def environment(self) -> dict[str, str]:
        """The variables that switch the runtime on in every rank."""
        return {
            VARIABLE: with_shim(self.shim),
            "HOCKET_RUNTIME": str(self.library),
            "HOCKET_RUNTIME_MPI": self.mpi,
        }


def native_dir() -> Path:
    """Where headers, core library and runtime sources are installed."""
    return Path(_core.__file__).parent / "native"


def include_dir() -> Path:
    """Where ``hocket.h`` and its sisters are."""
    return native_dir() / "runtime" / "include"


def build_runtime(mpicc: str) -> Runtime:
    """The runtime for the MPI behind ``mpicc``; compiled on first use.

    Raises MissingToolError if there is no such compiler wrapper or no C++20 compiler, HocketError if the
    cache cannot be used.
    """
    wrapper = read_wrapper(mpicc)

    def build(folder: Path) -> None:
        print(f"hocket: building the runtime for {wrapper.version} (once)", file=sys.stderr)
        _compile_library(wrapper, folder / _LIBRARY)
        _compile_shim(wrapper, folder / _SHIM)

    sources = [
        *_sources(),
        *(header for room in _ROOMS for header in sorted((native_dir() / room).glob("*.h*"))),
        *sorted(include_dir().glob("*.h")),
        _shim_source(),
        _core_library(),
    ]
    name = f"runtime-{digest_of([*_FLAGS, *_SHIM_FLAGS, wrapper.identity], sources)}"
    home = build_once(name, (_SHIM, _LIBRARY), build)
    return Runtime(home / _SHIM, home / _LIBRARY, wrapper.mpi)


def digest_of(texts: Iterable[str], files: Iterable[Path]) -> str:
    """Tells builds apart."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def compile_native(command: list[str], environment: dict[str, str]) -> None:
    """Raises MissingToolError, with the first thing the compiler complains of, if this does not compile."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_BUILD_SECONDS, env=environment, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingToolError(f"{command[0]} does not run: {error}", remedy="check the compiler") from None
    if done.returncode == 0:
        return
    lines = done.stderr.splitlines()
    for full in ("No space left on device", "Disk quota exceeded", "File too large"):
        if full in done.stderr:
            output = Path(command[command.index("-o") + 1]).parent
            places = f"{output} and {tempfile.gettempdir()}"
            raise HocketError(
                f"building the runtime failed: {full}",
                remedy=f"free some space in {places}, or set XDG_CACHE_HOME and TMPDIR",
            )
    first = next((line for line in lines if "error" in line), done.stderr.strip()[:300])
    raise MissingToolError(
        f"building the runtime failed: {first}", remedy=f"try by hand: {' '.join(command)}"
    )


def _shim_source() -> Path:
    return native_dir() / "runtime" / "shim.c"


def _core_library() -> Path:
    return native_dir() / "libhocket_core.a"


def _sources() -> list[Path]:
    return [source for room in _ROOMS for source in sorted((native_dir() / room).glob("*.cpp"))]


def _compile_library(wrapper: Wrapper, library: Path) -> None:
    """Objects lie where temporary files do: they need more room than what is kept of them."""
    folders = [native_dir() / "include", include_dir(), *(native_dir() / room for room in _ROOMS)]
    compiling = [wrapper.path, *_FLAGS, *(argument for folder in folders for argument in ("-I", str(folder)))]
    with tempfile.TemporaryDirectory(prefix="hocket-", ignore_cleanup_errors=True) as work:
        common = _precompile(wrapper, compiling, Path(work))
        objects = {source: f"{work}/{source.parent.name}-{source.stem}.o" for source in _sources()}
        commands = [[*compiling, *common, "-c", str(source), "-o", made] for source, made in objects.items()]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda command: compile_native(command, wrapper.environment), commands))
        linking = [
            wrapper.path,
            *_FLAGS,
            "-shared",
            *objects.values(),
            str(_core_library()),
            "-o",
            str(library),
        ]
        compile_native(linking, wrapper.environment)


def _compile_shim(wrapper: Wrapper, shim: Path) -> None:
    """It shows the names that this MPI has: a program that looks for others must not find them here."""
    with tempfile.TemporaryDirectory(prefix="hocket-", ignore_cleanup_errors=True) as work:
        shown = Path(work) / "shown.h"
        visible = '__attribute__((visibility("default")))'
        shown.write_text("".join(f"{visible} int {name}();\n" for name in sorted(wrapper.functions)))
        compile_native(
            [
                wrapper.compiler,
                *_SHIM_FLAGS,
                "-include",
                str(shown),
                str(_shim_source()),
                "-o",
                str(shim),
                "-ldl",
            ],
            wrapper.environment,
        )


def _precompile(wrapper: Wrapper, compiling: list[str], work: Path) -> list[str]:
    """Reads the common headers once. Returns the options that make use of this.

    A compiler behind ccache is left alone: compiles with precompiled headers are not found there again.
    """
    if Path(wrapper.compiler).resolve().name == "ccache":
        return []
    header = work / "common.hpp"
    header.write_text("".join(f"#include <{name}>\n" for name in _COMMON_HEADERS))
    command = [*compiling, "-x", "c++-header", "-c", str(header), "-o", f"{header}.gch"]
    try:
        compile_native(command, wrapper.environment)
    except MissingToolError:
        return []  # it only takes longer
    return ["-include", str(header)]
