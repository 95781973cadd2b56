"""Builds the MPI runtime for the MPI at hand, once, and keeps it in the user's cache.

Handle types differ between MPI families, so the part that calls MPI is compiled with the ``mpicc``
of each. The preloaded shim knows no MPI and only hands calls over (runtime/shim/shim.c).
"""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hocket import _core
from hocket.errors import MissingToolError, UsageError
from hocket.launch.runtime.compiling import compile_all, compile_native, progress
from hocket.launch.runtime.preload import SHIM, VARIABLE, with_shim
from hocket.launch.runtime.wrapper import Wrapper, read_wrapper
from hocket.system.cache import build_once
from hocket.system.files import real_path

CHOSEN_FLAGS = "HOCKET_CXXFLAGS"  # more of them, from the user: sanitizers, say
_UNITS = {
    "runtime": 3,
    "sort": 1,
}  # what is compiled with the MPI at hand, in how many parts of some 4,000 lines
_LIBRARY_FLAGS, _LINK_FLAGS = "runtime/library_flags.txt", "runtime/link_flags.txt"
_SHIM_FLAGS = "runtime/shim/shim_flags.txt"
LIBRARY = "libhocket_runtime.so"


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

    def build(folder: Path, work: Path) -> None:
        _compile_library(wrapper, folder / LIBRARY, work)
        _compile_shim(wrapper, folder / SHIM, work)

    sources = [
        *(source for tree in _UNITS for source in _sources(tree)),
        *sorted(native_dir().rglob("*.h*")),  # the core's, too: its constants are compiled in
        _shim_source(),
        native_dir() / _LINK_FLAGS,
        native_dir() / _SHIM_FLAGS,
        *_core_libraries(),
    ]
    name = f"runtime-{digest_of([*_library_flags(), wrapper.identity], sources)}"
    home = build_once(name, (SHIM, LIBRARY), build)
    return Runtime(home / SHIM, home / LIBRARY, wrapper.mpi)


def digest_of(texts: Iterable[str], files: Iterable[Path]) -> str:
    """Tells builds apart."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _shim_source() -> Path:
    return native_dir() / "runtime" / "shim" / "shim.c"


def _core_libraries() -> list[Path]:
    return [native_dir() / "libhocket_sort_core.a", native_dir() / "libhocket_core.a"]


def _read_flags(file: str) -> list[str]:
    lines = (native_dir() / file).read_text().splitlines()
    return [line for line in lines if line.startswith("-")]


def _library_flags() -> list[str]:
    try:
        chosen = shlex.split(os.environ.get(CHOSEN_FLAGS, ""))
    except ValueError as error:
        raise UsageError(f"{CHOSEN_FLAGS} is not as a shell writes it: {error}",
                         remedy=f"correct or unset {CHOSEN_FLAGS}") from None  # fmt: skip
    return [*_read_flags(_LIBRARY_FLAGS), *chosen]


def _sources(tree: str) -> list[Path]:
    return sorted((native_dir() / tree).rglob("*.cpp"))


def _write_units(work: Path) -> list[Path]:
    """Several rooms of a tree are compiled as one: headers are read once, and templates made once, which takes less
    processor time than a room at a time. Names without linkage differ within a tree (make lint)."""
    files = []
    for tree, count in _UNITS.items():
        rooms: dict[Path, list[Path]] = {}
        for source in _sources(tree):
            rooms.setdefault(source.parent, []).append(source)
        sizes = {room: sum(source.stat().st_size for source in sources) for room, sources in rooms.items()}
        units: list[list[Path]] = [[] for _ in range(min(count, len(rooms)))]
        for room in sorted(rooms, key=lambda room: (-sizes[room], room)):
            min(units, key=lambda unit: sum(sizes[other] for other in unit)).append(room)
        for number, unit in enumerate(units):
            sources = [source for room in unit for source in rooms[room]]
            files.append(work / f"{tree}-{number}.cpp")
            files[-1].write_text("".join(f'#include "{source}"\n' for source in sources))
    return files


def _compile_library(wrapper: Wrapper, library: Path, work: Path) -> None:
    folders = [native_dir(), include_dir()]
    flags = _library_flags()
    compiling = [wrapper.path, *flags, *(argument for folder in folders for argument in ("-I", str(folder)))]
    units = _write_units(work)
    objects = [str(unit.with_suffix(".o")) for unit in units]
    with progress(f"the runtime for {wrapper.version}", len(units)) as done:
        common = _precompile(wrapper, compiling, work)
        commands = [
            [*compiling, *common, "-c", str(unit), "-o", made]
            for unit, made in zip(units, objects, strict=True)
        ]
        compile_all(commands, wrapper.environment, work, done)
    linking = [wrapper.path, *flags, *_read_flags(_LINK_FLAGS), "-shared", *objects]
    linking += [*map(str, _core_libraries()), "-o", str(library)]
    compile_native(linking, wrapper.environment, work)


def _compile_shim(wrapper: Wrapper, shim: Path, work: Path) -> None:
    """It shows the names that this MPI has: a program that looks for others must not find them here."""
    shown = work / "shown.h"
    visible = '__attribute__((visibility("default")))'
    shown.write_text("".join(f"{visible} int {name}();\n" for name in sorted(wrapper.functions)))
    flags = [*_read_flags(_SHIM_FLAGS), "-I", str(native_dir()), "-x", "c", "-shared", "-include", str(shown)]
    command = [wrapper.compiler, *flags, str(_shim_source()), "-o", str(shim), "-ldl"]
    compile_native(command, wrapper.environment, work)


def _precompile(wrapper: Wrapper, compiling: list[str], work: Path) -> list[str]:
    """Reads the common headers once. Returns the options that make use of this.

    A compiler behind ccache is left alone: compiles with precompiled headers are not found there again.
    """
    if real_path(wrapper.compiler).name == "ccache":
        return []
    header = work / "common_headers.hpp"
    header.write_text((native_dir() / "runtime" / header.name).read_text())
    command = [*compiling, "-x", "c++-header", "-c", str(header), "-o", f"{header}.gch"]
    try:
        compile_native(command, wrapper.environment, work)
    except MissingToolError:
        return []  # it only takes longer
    return ["-include", str(header)]
