"""Compiling on the user's machine; nothing is left behind when it is cut short."""

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hocket.errors import HocketError, MissingToolError
from hocket.launch.process import TimedOutError, captured
from hocket.system.signals import held_back
from hocket.system.text import console

_SECONDS = 900  # of one command: sanitizers, on a busy machine
_FULL = ("No space left on device", "Disk quota exceeded", "File too large")


def compile_native(command: Sequence[str], environment: Mapping[str, str], work: Path) -> None:
    """Runs the command, whose compiler's temporary files lie in ``work``; it ends with us, as launchers do.

    Raises MissingToolError, with the first thing the compiler complains of, if the command does not compile;
    HocketError if the disk is full."""
    try:
        done = captured(command, {**environment, "TMPDIR": str(work)}, _SECONDS)
    except TimedOutError:
        raise MissingToolError(
            f"{command[0]} does not run: it has not ended after {_SECONDS} seconds",
            remedy="check the compiler",
        ) from None
    if done.returncode == 0:
        return
    for full in _FULL:
        if full in done.stderr:
            output = Path(command[command.index("-o") + 1]).parent
            raise HocketError(
                f"building the runtime failed: {full}",
                remedy=f"free some space in {output}, or set XDG_CACHE_HOME to where there is more",
            )
    lines = done.stderr.splitlines()
    first = next((line for line in lines if "error" in line), done.stderr.strip()[:300])
    raise MissingToolError(
        f"building the runtime failed: {first}", remedy=f"try by hand: {' '.join(command)}"
    )


@contextlib.contextmanager
def progress(what: str) -> Iterator[None]:
    """Says that ``what`` is built. On a terminal the seconds are counted."""
    print(f"hocket: building {what} (once)", file=sys.stderr, flush=True)
    if not sys.stderr.isatty():
        yield
        return
    from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn

    with contextlib.ExitStack() as stack:
        with held_back():  # else the thread that draws the bar takes signals that are held back
            bar = stack.enter_context(
                Progress(SpinnerColumn(), TimeElapsedColumn(), console=console(), transient=True)
            )
        bar.add_task("")
        yield


# MPI libraries by the macros of mpi.h: the beginning of MPI_Get_library_version in a process that uses this
# MPI, up to the major version, and the MPI's name for people. Derivatives of MPICH come first, since some
# keep MPICH's macro.
_LIBRARIES = {
    "I_MPI_VERSION": ("Intel(R) MPI Library {}", "Intel MPI"),
    "CRAY_MPICH_VERSION": ("MPI VERSION: CRAY MPICH version {}.", "Cray MPICH"),
    "MVAPICH2_VERSION": ("MVAPICH2 Version: {}.", "MVAPICH2"),
    "MVAPICH_VERSION": ("MVAPICH Version: {}.", "MVAPICH"),
    "MPICH_VERSION": ("MPICH Version: {}.", "MPICH"),
    "OMPI_VERSION": ("Open MPI v{}.", "Open MPI"),
}
_OPEN_MPI = ("OMPI_MAJOR_VERSION", "OMPI_MINOR_VERSION", "OMPI_RELEASE_VERSION")
_ASK_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Wrapper:
    """An MPI compiler wrapper that runs a C++ compiler.

    ``mpi`` is what the shim compares with the process it finds itself in: ``MPI ABI 1.`` for the standard's ABI, else
    how the version text of the library begins. ``version`` is for people. ``identity`` changes whenever the MPI or the
    compiler does. ``headers``: mpi.h with all that it includes, and the macros. ``environment``: to run it in."""

    path: str
    compiler: str
    mpi: str
    version: str
    identity: str
    headers: str = field(repr=False)
    environment: dict[str, str] = field(repr=False)

    @property
    def functions(self) -> frozenset[str]:
        """Functions that mpi.h declares; macros in their place do not count."""
        declared = re.sub(r"^#.*", "", self.headers, flags=re.MULTILINE)
        return frozenset(re.findall(r"\bP?MPI_\w+(?=\s*\()", declared))


def read_wrapper(mpicc: str) -> Wrapper:
    """Raises MissingToolError if there is no such wrapper, no C++ compiler, or an unknown MPI behind it."""
    if (path := shutil.which(mpicc)) is None:
        raise MissingToolError(
            f"no MPI compiler wrapper '{mpicc}'",
            remedy="put the mpicc of your MPI beside its mpiexec, or install one: pip install mpich",
        )
    compiler = find_compiler()
    environment = {**os.environ, **dict.fromkeys(("MPICH_CC", "MPICH_CXX", "OMPI_CC", "I_MPI_CC"), compiler)}
    headers, complaint = _ask(path, ["-E", "-dD", "-x", "c++", "-"], environment)  # with the macros
    links, _ = _ask(path, ["-show"], environment)
    mpi, version = _library(path, headers, complaint)
    identity = hashlib.sha256("\0".join((path, compiler, headers, links)).encode()).hexdigest()
    return Wrapper(path, compiler, mpi, version, identity, headers, environment)


def find_compiler() -> str:
    """The C++ compiler: ``CXX``, or the first one found. Raises MissingToolError."""
    if named := os.environ.get("CXX"):
        if (compiler := shutil.which(named)) is None:
            raise MissingToolError(
                f"no compiler '{named}' (CXX)", remedy="set CXX to a C++ compiler, or unset it"
            )
        return compiler
    found = (shutil.which(name) for name in ("c++", "g++", "clang++"))
    if (compiler := next(filter(None, found), None)) is None:
        nowhere = "" if os.environ.get("PATH") else ": PATH is empty"
        raise MissingToolError(f"no C++ compiler{nowhere}", remedy="install g++ (C++20), or set CXX or PATH")
    return compiler


def _ask(path: str, options: list[str], environment: dict[str, str]) -> tuple[str, str]:
    """Output and error output of the wrapper for a program that includes mpi.h. Raises MissingToolError if it
    does not run."""
    try:
        done = subprocess.run(
            [path, *options], input="#include <mpi.h>\n", capture_output=True, text=True, errors="replace",
            timeout=_ASK_SECONDS, env=environment, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingToolError(f"{path} does not run: {error}", remedy="check the MPI installation") from None
    return done.stdout, done.stderr.strip()


def _library(path: str, text: str, complaint: str) -> tuple[str, str]:
    """The MPI for the shim, and for people."""
    macros = dict(re.findall(r'^#define (\w+) "?([^"\n]*)"?$', text, re.MULTILINE))
    if "MPI_ABI_VERSION" in macros:
        major = macros["MPI_ABI_VERSION"]
        return f"MPI ABI {major}.", f"the standard ABI {major}.{macros.get('MPI_ABI_SUBVERSION', '0')} of MPI"
    if all(part in macros for part in _OPEN_MPI):
        macros["OMPI_VERSION"] = ".".join(macros[part] for part in _OPEN_MPI)
    for macro, (begins, name) in _LIBRARIES.items():
        if macro in macros:
            return begins.format(macros[macro].split(".")[0]), f"{name} {macros[macro]}"
    raise MissingToolError(
        f"{path} belongs to no MPI that Hocket knows",
        remedy="use MPICH (or one derived from it), Open MPI, or a wrapper of the standard ABI"
        + (f"; it said: {complaint[:200]}" if complaint else ""),
    )
