"""Builds the MPI runtime for the MPI at hand, once, and keeps it in the user's cache.

Handle types differ between MPI families, so the part that calls MPI is compiled with the ``mpicc`` of each. The
preloaded shim knows no MPI and only hands calls over (runtime/shim/shim.c). The library of sorting and permuting uses
the runtime and is built for those who sort. ``LD_PRELOAD`` also holds what the user or a tool preloads."""

import hashlib
import os
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hocket import _core
from hocket.errors import HocketError, UsageError
from hocket.launch.runtime.compiling import Wrapper, compile_native, progress, read_wrapper
from hocket.system.cache import build_once, cache_dir

PRELOAD: Final = "LD_PRELOAD"
SHIM: Final = "libhocket_shim.so"
_SEPARATORS: Final = re.compile(r"[:\s]+")  # as ld.so has them: no path in the list can hold one


def others() -> list[str]:
    """Libraries preloaded beside Hocket, in their order."""
    entries = _SEPARATORS.split(os.environ.get(PRELOAD, ""))
    return [entry for entry in entries if entry and Path(entry).name != SHIM]


def can_hold(shim: Path) -> bool:
    """False for a path that ld.so would split."""
    return _SEPARATORS.search(str(shim)) is None


def with_shim(shim: Path) -> str:
    """The value that preloads this shim, once, whatever shim was preloaded before.

    Libraries that the user preloads come first: whichever way they pass calls on, these reach Hocket. Raises
    HocketError for a path that ``LD_PRELOAD`` cannot hold."""
    if not can_hold(shim):
        raise HocketError(
            f"{shim} cannot be preloaded: its path holds a blank or a colon",
            remedy="set XDG_CACHE_HOME to a directory without",
        )
    return ":".join([*others(), str(shim)])


CHOSEN_FLAGS = "HOCKET_CXXFLAGS"  # more of them, from the user: sanitizers, say
_LIBRARY_FLAGS, _LINK_FLAGS = "runtime/library_flags.txt", "runtime/link_flags.txt"
_SHIM_FLAGS = "runtime/shim/shim_flags.txt"
LIBRARY, SORT_LIBRARY = "libhocket_runtime.so", "libhocket_sort.so"


@dataclass(frozen=True, slots=True)
class Runtime:
    """A built runtime: what to preload, what it loads, and the MPI it belongs to."""

    shim: Path
    library: Path
    mpi: str

    @property
    def mpi_name(self) -> str:
        """For people: MPICH 5."""
        return name_of_mpi(self.mpi)

    def environment(self) -> dict[str, str]:
        """The variables that switch the runtime on in every rank."""
        return {
            PRELOAD: with_shim(self.shim),
            "HOCKET_RUNTIME": f"{self.mpi} {self.library.absolute()}",
        }


def prepared_runtime(environment: Mapping[str, str]) -> tuple[str, Path] | None:
    """The MPI and the library that ``HOCKET_RUNTIME`` names in a prepared environment."""
    mpi, slash, path = environment.get("HOCKET_RUNTIME", "").partition("/")
    return (mpi.rstrip(), Path(slash + path)) if mpi and slash else None


def name_of_mpi(mpi: str) -> str:
    """``MPICH 5`` of ``MPICH Version: 5.``, by which the shim knows it."""
    return re.sub(r" (Version: |v)(?=\d)", " ", mpi).rstrip(".")


def native_dir() -> Path:
    """Folder of the installed headers, core library and runtime sources."""
    return Path(_core.__file__).parent / "native"


def include_dir() -> Path:
    """Folder of ``hocket.h``."""
    return native_dir() / "runtime" / "include"


def sort_include_dir() -> Path:
    """Folder of ``hocket_sort.h`` and the headers beside it."""
    return native_dir() / "sort" / "include"


def build_runtime(mpicc: str) -> Runtime:
    """The runtime for the MPI behind ``mpicc``; compiled on first use.

    Raises MissingToolError if there is no such compiler wrapper or no C++20 compiler, HocketError if the cache cannot
    be used."""
    wrapper = read_wrapper(mpicc)

    def build(folder: Path, work: Path) -> None:
        with progress(f"the runtime for {wrapper.version}"):
            made = _compile(wrapper, "runtime", work)
        _link(wrapper, [made, str(_core_library())], folder / LIBRARY, work)
        _compile_shim(wrapper, folder / SHIM, work)

    home = build_once(_runtime_name(wrapper), (SHIM, LIBRARY), build)
    return Runtime(home / SHIM, home / LIBRARY, wrapper.mpi)


def runtime_library(mpicc: str) -> Path:
    """Where the library for the MPI behind ``mpicc`` lies once it is built. Raises as build_runtime() does."""
    return cache_dir() / _runtime_name(read_wrapper(mpicc)) / LIBRARY


def _runtime_name(wrapper: Wrapper) -> str:
    """Name of the runtime's folder in the cache, which tells what it was built of."""
    sources = [
        *_sources("runtime", "*.cpp"),
        *_headers("core", "runtime"),  # the core's, too: its constants are compiled in
        _shim_source(),
        native_dir() / _LINK_FLAGS,
        native_dir() / _SHIM_FLAGS,
        _core_library(),
    ]
    return f"runtime-{digest_of([*_library_flags(), wrapper.identity], sources)}"


def build_sort(mpicc: str, runtime: Path) -> Path:
    """The library of sorting and permuting for the MPI behind ``mpicc``; compiled on first use. It loads this runtime,
    which is built after it where it must be: another process may be building it.

    Raises as build_runtime() does."""
    wrapper = read_wrapper(mpicc)
    core = [str(native_dir() / "libhocket_sort_core.a"), str(_core_library())]

    def build(folder: Path, work: Path) -> None:
        with progress(f"sorting and permuting for {wrapper.version}"):
            made = _compile(wrapper, "sort/mpi", work)
        if not runtime.exists():
            build_runtime(mpicc)
        beside = [f"-L{runtime.parent}", "-lhocket_runtime", f"-Wl,-rpath,{runtime.parent}"]
        _link(wrapper, [made, *core, *beside], folder / SORT_LIBRARY, work)

    sources = [
        *_sources("runtime", "*.cpp"),  # some are compiled in
        *_sources("sort/mpi", "*.cpp"),
        *_headers("core", "runtime", "sort"),
        native_dir() / _LINK_FLAGS,
        *map(Path, core),
    ]
    name = f"sort-{digest_of([*_library_flags(), wrapper.identity, str(runtime)], sources)}"
    return build_once(name, (SORT_LIBRARY,), build) / SORT_LIBRARY


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


def _core_library() -> Path:
    return native_dir() / "libhocket_core.a"


def _read_flags(file: str) -> list[str]:
    lines = (native_dir() / file).read_text().splitlines()
    return [line for line in lines if line.startswith("-")]


def _library_flags() -> list[str]:
    try:
        chosen = shlex.split(os.environ.get(CHOSEN_FLAGS, ""))
    except ValueError as error:
        raise UsageError(f"{CHOSEN_FLAGS} cannot be split into words: {error}",
                         remedy=f"correct or unset {CHOSEN_FLAGS}") from None  # fmt: skip
    return [*_read_flags(_LIBRARY_FLAGS), *chosen]


def _sources(tree: str, pattern: str) -> list[Path]:
    return sorted((native_dir() / tree).rglob(pattern))


def _headers(*trees: str) -> list[Path]:
    return [header for tree in trees for header in _sources(tree, "*.h*")]


def _compile(wrapper: Wrapper, tree: str, work: Path) -> str:
    """The object of a tree, all of which is compiled as one source: headers are read once, and templates made once,
    which takes half the processor time of a room at a time. Names without linkage differ within a tree (make lint)."""
    unit, made = work / "unit.cpp", str(work / "unit.o")
    unit.write_text("".join(f'#include "{source}"\n' for source in _sources(tree, "*.cpp")))
    folders = [native_dir(), include_dir(), sort_include_dir()]
    searched = [argument for folder in folders for argument in ("-I", str(folder))]
    command = [wrapper.path, *_library_flags(), *searched, "-c", str(unit), "-o", made]
    compile_native(command, wrapper.environment, work)
    return made


def _link(wrapper: Wrapper, linked: list[str], library: Path, work: Path) -> None:
    command = [
        wrapper.path,
        *_library_flags(),
        *_read_flags(_LINK_FLAGS),
        "-shared",
        *linked,
        "-o",
        str(library),
    ]
    compile_native(command, wrapper.environment, work)


def _compile_shim(wrapper: Wrapper, shim: Path, work: Path) -> None:
    """Compile the shim. It defines only names that this MPI has: a program that looks for others must not
    find them here."""
    shown = work / "shown.h"
    visible = '__attribute__((visibility("default")))'
    shown.write_text("".join(f"{visible} int {name}();\n" for name in sorted(wrapper.functions)))
    flags = [*_read_flags(_SHIM_FLAGS), "-I", str(native_dir()), "-x", "c", "-shared", "-include", str(shown)]
    command = [wrapper.compiler, *flags, str(_shim_source()), "-o", str(shim), "-ldl"]
    compile_native(command, wrapper.environment, work)
