"""Work of each rank of ``hocket-sort``: read its rows, sort with the others, write its part of the result."""

from __future__ import annotations

import mmap
import socket
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np

from hocket.errors import HocketError, UsageError
from hocket.launch.job import Tell
from hocket.launch.runtime.library import everywhere, load_sort_library
from hocket.sorting.job import Array, ArrayFile, FileSort, Report, Step
from hocket.sorting.sort import memory_per_rank, sort_report
from hocket.system.memory import available_memory
from hocket.units import format_total

if TYPE_CHECKING:
    from mpi4py import MPI

T = TypeVar("T")

READING: Final = "read"
WRITING: Final = "write"


class _Opened(NamedTuple):
    """``moved``: what goes with the keys; records hold their keys, so that nothing else is written."""

    keys: ArrayFile
    moved: ArrayFile | None
    begin: int
    end: int

    @property
    def nbytes(self) -> int:
        more = self.moved is not None and self.moved is not self.keys
        return self.keys.nbytes + (self.moved.nbytes if self.moved and more else 0)


def sort_files(comm: MPI.Comm, job: FileSort, tell: Tell) -> Report:
    """Collective. HocketErrors are the same on all ranks."""
    rank, ranks = comm.Get_rank(), comm.Get_size()
    load_sort_library(comm)  # before the clock starts
    files = _collective_try(comm, lambda: _open(job, rank, ranks))
    _refuse_too_much(comm, job, files)

    def progress(name: str, done: int, steps: int) -> None:
        if rank == 0:
            tell({"step": name, "done": done, "steps": steps})

    began = time.perf_counter()
    progress(READING, 0, 0)
    keys, payload = _collective_try(comm, lambda: _read(job, files))
    has_read = time.perf_counter()
    result = sort_report(comm, keys, payload, method=job.method, progress=progress)
    has_sorted = time.perf_counter()
    progress(WRITING, 0, 0)
    first = sum(comm.allgather(len(result.keys))[:rank])
    _collective_try(comm, lambda: _write(job, first, result.keys, result.payload))
    ended = time.perf_counter()

    own = [
        Step(READING, has_read - began),
        *(Step(step.name, step.seconds, step.predicted) for step in result.steps),
        Step(WRITING, ended - has_sorted),
    ]
    seconds = np.max(comm.allgather([step.seconds for step in own]), axis=0)
    return Report(
        method=result.method,
        ranks=ranks,
        rows=files.keys.rows,
        bytes=files.nbytes,
        seconds=max(comm.allgather(ended - began)),
        imbalance=result.imbalance,
        steps=tuple(Step(step.name, float(s), step.predicted) for step, s in zip(own, seconds, strict=True)),
    )


def _open(job: FileSort, rank: int, ranks: int) -> _Opened:
    keys = ArrayFile.open(job.keys)
    moved = keys if job.field else ArrayFile.open(job.payload) if job.payload else None
    return _Opened(keys, moved, keys.rows * rank // ranks, keys.rows * (rank + 1) // ranks)


def _refuse_too_much(comm: MPI.Comm, job: FileSort, files: _Opened) -> None:
    """Check the memory before anything is read. Ranks of a host add up what they need; one of them compares."""
    from mpi4py import MPI

    rows = -(-files.keys.rows // comm.Get_size())
    key = files.keys.dtype[job.field] if job.field else files.keys.dtype
    width = files.moved.row_bytes if files.moved else 0
    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
    private, shared = memory_per_rank(rows, key.newbyteorder("="), width)
    need = private + shared
    if host.Get_size() < comm.Get_size():
        need += private  # an exchange between hosts takes as much again
    if job.field or not key.isnative:
        need += 2 * rows * key.itemsize  # keys are copied before, and brought to the file's byte order after
    together, most = host.allreduce(need), comm.allreduce(need, MPI.MAX)

    def refuse() -> None:
        free = available_memory() if job.memory is None else job.memory
        if host.Get_rank() != 0 or together <= free:
            return
        some = (
            "together" if host.Get_size() == comm.Get_size() else f"for the {host.Get_size()} ranks of a host"
        )
        raise UsageError(
            f"sorting {format_total(files.nbytes)} with {comm.Get_size()} ranks needs about {format_total(most)} "
            f"per rank, {format_total(together)} {some}; {socket.gethostname()} "
            f"{'has' if job.memory is None else 'may use'} {format_total(free)}",
            remedy="use more hosts (--hostfile), or a host with more memory",
        )

    everywhere(comm, refuse)
    host.Free()


def _read(job: FileSort, files: _Opened) -> tuple[Array, Array | None]:
    """Keys and what moves with them, as they are in the files; not copied."""
    rows = files.keys.map(files.begin, files.end)
    _bring_in(rows)
    if job.field:
        return rows[job.field], rows
    if files.moved is None:
        return rows, None
    moved = files.moved.map(files.begin, files.end)
    _bring_in(moved)
    return rows, moved


def _bring_in(rows: Array) -> None:
    """Reads a byte of every page, so that no step of the sort waits for a disk."""
    if rows.nbytes > 0:
        rows.reshape(-1).view(np.uint8)[:: mmap.PAGESIZE].max()


def _write(job: FileSort, first: int, keys: Array, payload: Array | None) -> None:
    if job.field:
        keys, payload = payload if payload is not None else keys, None  # records hold their keys
    ArrayFile.open(job.keys_output).write(first, keys)
    if job.payload_output is not None and payload is not None:
        ArrayFile.open(job.payload_output).write(first, payload)


def _collective_try(comm: MPI.Comm, step: Callable[[], T]) -> T:
    """The result of this rank's step; what goes wrong on any is raised on all. Collective."""

    def run() -> T:
        try:
            return step()
        except OSError as error:
            raise HocketError(f"{error.filename or 'a file'}: {error.strerror or error}",
                              remedy="all hosts must see the files") from error  # fmt: skip
        except MemoryError as error:
            raise HocketError(
                "there is not enough memory", remedy="give less by --memory, or start fewer ranks"
            ) from error

    return everywhere(comm, run)


def work(comm: MPI.Intracomm, what: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Do one rank's part; returns the report."""
    return asdict(sort_files(comm, FileSort(**what), tell))
