"""What each rank of ``hocket sort`` does: reads its rows, sorts with the others, writes what it has got."""

from __future__ import annotations

import json
import mmap
import socket
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np

from hocket.errors import HocketError, MissingToolError, UsageError
from hocket.filesort.files import Array, ArrayFile, native_keys, raw_rows, typed_rows
from hocket.filesort.job import MARK, Job, Report, Step
from hocket.filesort.memory import available_memory, available_shared_memory
from hocket.runtime.library import everywhere
from hocket.sorting import memory_per_rank, sort_report
from hocket.units import format_total

if TYPE_CHECKING:
    from mpi4py import MPI

T = TypeVar("T")

READING: Final, WRITING: Final = "read", "write"


class _Files(NamedTuple):
    """``moved``: what goes with the keys; records hold their keys, so that nothing else is written."""

    keys: ArrayFile
    moved: ArrayFile | None
    begin: int
    end: int

    @property
    def nbytes(self) -> int:
        more = self.moved is not None and self.moved is not self.keys
        return self.keys.nbytes + (self.moved.nbytes if self.moved and more else 0)


def main() -> None:
    """One rank. Errors are told, not raised."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    try:
        report = sort_files(comm, Job.from_json(sys.argv[1]))
        if comm.Get_rank() == 0:
            _tell({"report": asdict(report)})
    except HocketError as error:  # the same on all ranks
        if comm.Get_rank() == 0:
            _tell({"error": str(error)})
    except BaseException as error:  # others may wait for this rank
        traceback.print_exc()
        _tell({"error": f"rank {comm.Get_rank()}: {error or type(error).__name__}"})
        comm.Abort(1)


def sort_files(comm: MPI.Comm, job: Job) -> Report:
    """Collective. HocketErrors are the same on all ranks."""
    rank, ranks = comm.Get_rank(), comm.Getformat_total()
    if ranks != job.ranks:
        raise MissingToolError(
            "mpi4py does not run on the MPI of the launcher",
            remedy="set MPI4PY_LIBMPI to the path of its libmpi.so, or choose another MPI by --mpi",
        )
    files = _together(comm, lambda: _open(job, rank, ranks))
    _refuse_too_much(comm, job, files)

    def progress(name: str, done: int, steps: int) -> None:
        if rank == 0:
            _tell({"step": name, "done": done, "steps": steps})

    began = time.perf_counter()
    progress(READING, 0, 0)
    keys, payload = _together(comm, lambda: _read(job, files))
    has_read = time.perf_counter()
    result = sort_report(comm, keys, payload, method=job.method, progress=progress)
    has_sorted = time.perf_counter()
    progress(WRITING, 0, 0)
    first = comm.exscan(len(result.keys)) or 0
    _together(comm, lambda: _write(job, first, result.keys, result.payload))
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


def _open(job: Job, rank: int, ranks: int) -> _Files:
    keys = ArrayFile.open(job.keys)
    moved = keys if job.field else ArrayFile.open(job.payload) if job.payload else None
    return _Files(keys, moved, keys.rows * rank // ranks, keys.rows * (rank + 1) // ranks)


def _refuse_too_much(comm: MPI.Comm, job: Job, files: _Files) -> None:
    """Before anything is read. Ranks of a host add up what they need; one of them compares."""
    from mpi4py import MPI

    rows = files.end - files.begin
    key = files.keys.dtype[job.field] if job.field else files.keys.dtype
    width = files.moved.row_bytes if files.moved else 0
    private, shared = memory_per_rank(rows, key.newbyteorder("="), width, job.method)
    if job.field or not key.isnative:
        private += rows * key.itemsize  # keys are copied out first
    host = comm.Split_type(MPI.COMM_TYPE_SHARED)
    together, together_shared = host.allreduce(private + shared), host.allreduce(shared)

    def refuse() -> None:
        if host.Get_rank() != 0:
            return
        needs = f"sorting {format_total(files.nbytes)} with {job.ranks} ranks needs about {format_total(private + shared)} per rank"
        some = "together" if host.Getformat_total() == job.ranks else f"for the {host.Getformat_total()} ranks of a host"
        free = available_memory() if job.memory is None else job.memory
        if together > free:
            what = "has" if job.memory is None else "may use"
            raise UsageError(
                f"{needs}, {format_total(together)} {some}; {socket.gethostname()} {what} {format_total(free)}",
                remedy="use more hosts (--hostfile), or a host with more memory",
            )
        limit = available_shared_memory()
        if limit is not None and together_shared > limit:
            raise UsageError(
                f"{needs}, {format_total(together_shared)} of shared memory {some}; "
                f"/dev/shm of {socket.gethostname()} has {format_total(limit)}",
                remedy="enlarge it (mount -o remount,size=..., docker run --shm-size)",
            )

    everywhere(comm, refuse)
    host.Free()


def _read(job: Job, files: _Files) -> tuple[Array, Array | None]:
    rows = files.keys.map(files.begin, files.end)
    keys = native_keys(rows, job.field)
    if files.moved is None:
        _bring_in(keys)
        return keys, None
    moved = raw_rows(rows if files.moved is files.keys else files.moved.map(files.begin, files.end))
    for part in (keys, moved):
        _bring_in(part)
    return keys, moved if files.moved.row_bytes else None


def _bring_in(rows: Array) -> None:
    """Reads a byte of every page, so that no step of the sort waits for a disk."""
    raw_rows(rows).reshape(-1)[:: mmap.PAGESIZE].max(initial=0)


def _write(job: Job, first: int, keys: Array, payload: Array | None) -> None:
    if not job.field:
        ArrayFile.open(job.keys_output).write(first, keys)
    output = job.keys_output if job.field else job.payload_output
    if output is not None and payload is not None:
        file = ArrayFile.open(output)
        file.write(first, typed_rows(payload, file))


def _together(comm: MPI.Comm, step: Callable[[], T]) -> T:
    """The result of this rank's step; what goes wrong on any is raised on all. Collective."""
    results: list[T] = []

    def run() -> None:
        try:
            results.append(step())
        except OSError as error:
            raise HocketError(f"{error.filename or 'a file'}: {error.strerror or error}") from error
        except MemoryError as error:
            raise HocketError("there is not enough memory") from error

    everywhere(comm, run)
    return results[0]


def _tell(message: dict[str, Any]) -> None:
    """To whom has started the ranks."""
    print(f"{MARK}{json.dumps(message)}", flush=True)


if __name__ == "__main__":
    main()
