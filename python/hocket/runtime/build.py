"""Builds the MPI runtime for the MPI at hand, once, and keeps it in the user's cache.

Handle types differ between MPI families, so the part that calls MPI is compiled with the ``mpicc``
of each. The preloaded shim knows no MPI and only hands calls over (runtime/shim.c).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from hocket import _core
from hocket.errors import HocketError, MissingToolError

_FLAGS = [
    "-std=c++20",
    "-O2",
    "-fPIC",
    "-fvisibility=hidden",
    "-static-libgcc",
    "-static-libstdc++",
]
_BUILD_SECONDS = 300
_ROOMS = ("runtime", "sort")  # what is compiled with the MPI at hand


@dataclass(frozen=True, slots=True)
class Runtime:
    """A built runtime: what to preload, what it loads, and the MPI it belongs to."""

    shim: Path
    library: Path
    mpi: str

    def environment(self) -> dict[str, str]:
        """The variables that switch the runtime on in every rank.

        Libraries that the user preloads come first: whichever way they pass calls on, these reach Hocket.
        """
        preload = ":".join(filter(None, [os.environ.get("LD_PRELOAD", ""), str(self.shim)]))
        return {"LD_PRELOAD": preload, "HOCKET_RUNTIME": str(self.library), "HOCKET_RUNTIME_MPI": self.mpi}


def native_dir() -> Path:
    """Where headers, core library and runtime sources are installed."""
    return Path(_core.__file__).parent / "native"


def include_dir() -> Path:
    """Where ``hocket.h`` and its sisters are."""
    return native_dir() / "runtime" / "include"


def cache_dir() -> Path:
    """The user's cache for built runtimes and plans; refused if others can write to it.

    What lies there is loaded as code into the user's programs.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hocket"
    try:
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = base.stat()
    except OSError as error:
        raise HocketError(
            f"cannot use the cache directory {base}: {error.strerror}",
            remedy="set XDG_CACHE_HOME to a directory of your own",
        ) from None
    if status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise HocketError(
            f"the cache directory {base} belongs to or can be written by other users",
            remedy=f"run: chmod go-w {base}, or set XDG_CACHE_HOME to a directory of your own",
        )
    return base


def build_runtime(mpicc: str) -> Runtime:
    """The runtime for the MPI behind ``mpicc``; compiled on first use.

    Raises MissingToolError if there is no such compiler wrapper or no C++20 compiler.
    """
    wrapper = shutil.which(mpicc)
    if wrapper is None:
        raise MissingToolError(
            f"no MPI compiler wrapper '{mpicc}'",
            remedy="put the mpicc of your MPI on PATH, or install one: pip install mpich",
        )
    compiler = shutil.which(os.environ.get("CXX", "c++")) or shutil.which("g++")
    if compiler is None:
        raise MissingToolError("no C++ compiler", remedy="install g++ (C++20), or set CXX")
    environment = {**os.environ, "MPICH_CC": compiler, "MPICH_CXX": compiler, "OMPI_CC": compiler}
    mpi = library_version(wrapper, environment)
    sources = [source for room in _ROOMS for source in sorted((native_dir() / room).glob("*.cpp"))]
    core = native_dir() / "libhocket_core.a"
    home = cache_dir() / f"runtime-{_digest(wrapper, compiler, mpi, [*sources, core])}"
    runtime = Runtime(home / "libhocket_shim.so", home / "libhocket_runtime.so", mpi)
    if runtime.library.exists() and runtime.shim.exists():
        return runtime

    print(f"hocket: building the runtime for {mpi.rstrip('.')} (once)", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="build-", dir=cache_dir()) as work:
        folders = [native_dir() / "include", include_dir(), *(native_dir() / room for room in _ROOMS)]
        include = [argument for folder in folders for argument in ("-I", str(folder))]
        objects = [f"{work}/{source.parent.name}-{source.stem}.o" for source in sources]
        commands = [
            [wrapper, *_FLAGS, *include, "-c", str(source), "-o", made]
            for source, made in zip(sources, objects, strict=True)
        ]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda command: compile_native(command, environment), commands))
        linked = f"{work}/{runtime.library.name}"
        compile_native([wrapper, *_FLAGS, "-shared", *objects, str(core), "-o", linked], environment)
        shim = native_dir() / "runtime" / "shim.c"
        compile_native(
            [
                compiler,
                "-x",
                "c",
                "-O2",
                "-fPIC",
                "-shared",
                str(shim),
                "-o",
                f"{work}/{runtime.shim.name}",
                "-ldl",
            ],
            environment,
        )
        home.mkdir(mode=0o700, exist_ok=True)
        for built in (runtime.shim, runtime.library):
            (Path(work) / built.name).replace(built)
    return runtime


def library_version(wrapper: str, environment: dict[str, str]) -> str:
    """How MPI_Get_library_version begins in a process that uses this MPI: family and major version."""
    probe = "#include <mpi.h>\n"
    try:
        done = subprocess.run(
            [wrapper, "-E", "-dM", "-x", "c++", "-"],
            input=probe,
            capture_output=True,
            text=True,
            timeout=60,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingToolError(
            f"{wrapper} does not run: {error}", remedy="check the MPI installation"
        ) from None
    macros = dict(re.findall(r'^#define (\w+) "?([^"\n]*)"?$', done.stdout, re.MULTILINE))
    if "OMPI_MAJOR_VERSION" in macros:
        return f"Open MPI v{macros['OMPI_MAJOR_VERSION']}."
    if "MPICH_VERSION" in macros:
        return f"MPICH Version: {macros['MPICH_VERSION'].split('.')[0]}."
    raise MissingToolError(
        f"{wrapper} belongs to no MPI that Hocket knows",
        remedy="use MPICH (or one derived from it) or Open MPI"
        + (f"; it said: {done.stderr.strip()[:200]}" if done.stderr else ""),
    )


def compile_native(command: list[str], environment: dict[str, str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_BUILD_SECONDS, env=environment, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingToolError(f"{command[0]} does not run: {error}", remedy="check the compiler") from None
    if done.returncode != 0:
        first = next(
            (line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip()[:300]
        )
        raise MissingToolError(
            f"building the runtime failed: {first}", remedy=f"try by hand: {' '.join(command)}"
        )


def _digest(wrapper: str, compiler: str, mpi: str, files: list[Path]) -> str:
    digest = hashlib.sha256()
    for text in (str(Path(wrapper).resolve()), wrapper, compiler, mpi, *_FLAGS):
        digest.update(text.encode() + b"\0")
    for file in [
        *files,
        *(header for room in _ROOMS for header in sorted((native_dir() / room).glob("*.h*"))),
        native_dir() / "runtime" / "shim.c",
        *sorted(include_dir().glob("*.h")),
    ]:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
