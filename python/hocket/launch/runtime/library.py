"""The runtime as a C library (``hocket.h``), and that of sorting, for the MPI that mpi4py runs on."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hocket.errors import HocketError, MissingToolError, NetworkError, TableError, UsageError
from hocket.launch.mpi import Abi, MpiFamily, find_mpi
from hocket.launch.runtime.build import build_sort, prepared_runtime
from hocket.launch.runtime.ready import find_runtime, ready_sort

if TYPE_CHECKING:
    from mpi4py import MPI

T = TypeVar("T")

# hocket.h, HOCKET_ERR_*
_ERRORS: dict[int, type[Exception]] = {
    -1: UsageError,
    -2: UsageError,
    -3: NetworkError,
    -4: TableError,
    -5: TableError,
    -6: TableError,
    -7: UsageError,
    -8: MemoryError,
}


class Phase(ctypes.Structure):
    """``hocket_phase``."""

    _fields_ = [
        ("phase", ctypes.c_int64),
        ("send_to", ctypes.c_int),
        ("receive_from", ctypes.c_int),
        ("send_length", ctypes.c_int64),
        ("send_offset", ctypes.c_int64),
        ("receive_length", ctypes.c_int64),
        ("receive_offset", ctypes.c_int64),
    ]


class Info(ctypes.Structure):
    """``hocket_info``."""

    _fields_ = [
        ("ranks", ctypes.c_int),
        ("rank", ctypes.c_int),
        ("phases", ctypes.c_int64),
        ("digest", ctypes.c_uint64),
        ("seed", ctypes.c_uint64),
        ("lockstep_seconds", ctypes.c_double),
        ("bound_seconds", ctypes.c_double),
        ("algorithm", ctypes.c_char * 32),
    ]


class RuntimeLibrary:
    """The functions of ``hocket.h``; of the library of sorting also those of its headers."""

    def __init__(self, path: str, comm_type: type[Any]) -> None:
        self._library = ctypes.CDLL(path)
        self._comm_type = comm_type
        self._library.hocket_error_string.restype = ctypes.c_char_p
        self._library.hocket_error_string.argtypes = [ctypes.c_int]
        self._library.hocket_schedule.argtypes = [
            comm_type,
            ctypes.c_int,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.c_uint64,
            ctypes.c_void_p,
        ]

    def handle(self, comm: MPI.Comm) -> Any:
        """The communicator as C knows it: an int in MPICH, a pointer in Open MPI and the standard ABI."""
        from mpi4py import MPI

        return self._comm_type(MPI._handleof(comm))

    def call(self, function: str, *arguments: Any) -> int:
        """Its error code. Other threads run meanwhile."""
        return int(getattr(self._library, function)(*arguments))

    def check(self, function: str, *arguments: Any) -> None:
        """Calls it; raises what its error code means."""
        if (code := self.call(function, *arguments)) == 0:
            return
        if code in _ERRORS:
            raise _ERRORS[code](self.error_string(code))
        from mpi4py import MPI

        raise MPI.Exception(code)

    def value(self, function: str, kind: type[Any], *arguments: Any) -> Any:
        """Call a function that returns a value instead of an error code."""
        target = self._library[function]
        target.restype = kind
        return target(*arguments)

    def error_string(self, code: int) -> str:
        text: bytes = self._library.hocket_error_string(code)
        return text.decode(errors="replace")


def everywhere(comm: MPI.Comm, step: Callable[[], T]) -> T:
    """The result of this rank's step; what goes wrong on any is raised on all. Collective."""
    problem: HocketError | MemoryError | None = None
    results: list[T] = []
    try:
        results.append(step())
    except HocketError as error:
        problem = error
    except MemoryError as error:
        problem = MemoryError(str(error))  # numpy's own takes other arguments
    problems = comm.allgather(problem)
    if problem is not None:
        raise problem
    for rank, other in enumerate(problems):
        if other is not None:
            raise type(other)(f"rank {rank}: {other}")
    return results[0]


def load_library(comm: MPI.Comm) -> RuntimeLibrary:
    """Compiles it if this has not been done yet: the first rank, so that the others find it. Collective.

    Raises MissingToolError on all ranks if mpi4py, a compiler or the MPI's ``mpicc`` is missing."""
    return _load(comm, _runtime)


def load_sort_library(comm: MPI.Comm) -> RuntimeLibrary:
    """The library of sorting and permuting, which has the functions of the runtime, too. As load_library()."""
    return _load(comm, _sort)


def _load(comm: MPI.Comm, library: Callable[[], RuntimeLibrary]) -> RuntimeLibrary:
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise MissingToolError(
            f"mpi4py is missing ({error})", remedy="pip install 'hocket[mpi4py]'"
        ) from None
    if not isinstance(comm, MPI.Comm):
        raise UsageError(
            f"{type(comm).__name__} is not a communicator",
            remedy="give one of mpi4py, such as MPI.COMM_WORLD",
        )
    everywhere(comm, library if comm.Get_rank() == 0 else lambda: None)
    return everywhere(comm, library)


@functools.cache
def _runtime() -> RuntimeLibrary:
    mpi = _process_mpi()
    return _opened(_path(mpi), mpi)


@functools.cache
def _sort() -> RuntimeLibrary:
    mpi = _process_mpi()
    runtime = _path(mpi)
    return _opened(ready_sort(runtime) or build_sort(_mpicc(mpi), runtime), mpi)


def _path(mpi: _ProcessMpi) -> Path:
    """The runtime's."""
    return _of_hocket_run(mpi) or find_runtime(_mpicc(mpi)).library


def _opened(path: Path, mpi: _ProcessMpi) -> RuntimeLibrary:
    try:
        return RuntimeLibrary(str(path), ctypes.c_int if mpi.handles_are_ints else ctypes.c_void_p)
    except OSError as error:
        raise MissingToolError(
            f"cannot load the runtime: {error}", remedy="check the MPI installation"
        ) from None


@dataclass(frozen=True, slots=True)
class _ProcessMpi:
    """The MPI that mpi4py runs on. ``name``: as runtime/shim/mpi_library.h compares it."""

    name: str
    abi: Abi
    family: MpiFamily
    handles_are_ints: bool


def _process_mpi() -> _ProcessMpi:
    from mpi4py import MPI

    version = MPI.Get_library_version()
    family = MpiFamily.OPENMPI if version.startswith("Open MPI") else MpiFamily.MPICH
    abi = getattr(MPI, "Get_abi_version", lambda: (-1, -1))()[0]  # of mpi4py 4.1
    name, speaks = (f"MPI ABI {abi}.", Abi.STANDARD) if abi > 0 else (version, Abi.NATIVE)
    return _ProcessMpi(name, speaks, family, MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_int))


def _of_hocket_run(mpi: _ProcessMpi) -> Path | None:
    """The library that ``hocket run`` has started this process with, if it is for this MPI."""
    built_for, path = prepared_runtime(os.environ) or ("", None)
    same = "".join(mpi.name.split()).startswith("".join(built_for.split()))
    return path if same else None


def _mpicc(mpi: _ProcessMpi) -> str:
    """The compiler wrapper of the MPI library that this process has loaded, or the first one found.

    A ready-made runtime needs none, only to know whose it would be: the launcher beside it does."""
    library, wrapper = ("libmpi_abi.so", "mpicc_abi") if mpi.abi is Abi.STANDARD else ("libmpi.so", "mpicc")
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = Path("/") / line.partition("/")[2]
        if path.name.startswith(library) and any(
            (path.parent.parent / "bin" / beside).exists() for beside in (wrapper, "mpiexec")
        ):
            return str(path.parent.parent / "bin" / wrapper)
    return replace(find_mpi(mpi.family.value), abi=mpi.abi).mpicc
