"""Jobs of Hocket's own: every rank runs one function, and rank 0 tells what it finds, on the way and at the end.

What ranks say comes by standard output, which every launcher brings here: one JSON object a line behind a mark."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, cast

from hocket.errors import HocketError, MissingToolError, UsageError
from hocket.launch import started
from hocket.launch.mpi import OF_RANKS, Mpi, launch_command, mpi4py_environment, mpi_of_rank

if TYPE_CHECKING:
    from mpi4py import MPI

T = TypeVar("T")
Tell = Callable[[dict[str, Any]], None]
Work = Callable[["MPI.Intracomm", dict[str, Any], Tell], Any]

MARK: Final = "hocket-job:"


@dataclass(frozen=True, slots=True)
class Job:
    """Ranks that call ``work`` (``module:function``) with their communicator, ``what``, which are plain values, and a
    function that sends messages. ``until``: what is done when they have ended well. ``patience``: seconds in which they
    have to tell something."""

    work: str
    ranks: int
    what: dict[str, Any]
    until: str
    patience: float | None = None


class Outcome(NamedTuple):
    """The answer of rank 0, and what ranks and launcher have said on standard error, if that was not shown."""

    answer: Any
    said: list[str]


def need_mpi4py() -> None:
    """Raises MissingToolError."""
    if importlib.util.find_spec("mpi4py") is None:
        raise MissingToolError("mpi4py is missing", remedy="pip install 'hocket[mpi4py]'")


def run_job(
    job: Job,
    mpi: Mpi,
    environment: Mapping[str, str],
    on_message: Callable[[dict[str, Any]], None],
    *,
    hostfile: str | None = None,
    verbose: bool | None = False,
) -> Outcome:
    """Starts the ranks and listens to them. Raises HocketError with what they say, or with how they ended.

    ``verbose``: shows all that they say; None where the user has no option for that."""
    need_mpi4py()
    told = {"work": job.work, "ranks": job.ranks, "what": job.what}
    worker = [sys.executable, "-m", "hocket.launch.job", json.dumps(told)]
    variables = {**environment, **mpi4py_environment(mpi)}
    command = launch_command(mpi, job.ranks, (), variables, worker, hostfile=hostfile)
    answers = []
    with tempfile.TemporaryFile() as said, started(command, stderr=None if verbose else said) as process:
        for message in _messages(process, bool(verbose), job.patience):
            if "error" in message:
                raise HocketError(message["error"])
            if "answer" in message:
                answers.append(message["answer"])
            else:
                on_message(message)
        if (code := process.wait()) != 0 or not answers:
            by_hand = "run it by hand: " + " ".join(command)
            raise HocketError(
                _how_it_ended(code, said, job.until),
                remedy=by_hand if verbose is None else "-v shows the output of the ranks",
            )
        return Outcome(answers[-1], _error_lines(said))


def _lines(process: subprocess.Popen[str], patience: float | None) -> Iterator[str]:
    """Lines that a process prints. Raises HocketError if nothing comes for ``patience`` seconds."""
    heard: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            heard.put(line)
        heard.put(None)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        try:
            line = heard.get(timeout=patience)
        except queue.Empty:
            raise HocketError(
                f"the ranks have not reported for {patience:g} s",
                remedy="check that the hosts are not overloaded and can reach each other",
            ) from None
        if line is None:
            return
        yield line


def _messages(
    process: subprocess.Popen[str], verbose: bool, patience: float | None
) -> Iterator[dict[str, Any]]:
    """JSON objects that ranks print behind the mark, one a line. Other lines are the MPI library's, and shown if
    ``verbose``."""
    for line in _lines(process, patience):
        before, found, text = line.partition(MARK)
        if found:
            yield json.loads(text)
        elif verbose:
            print(before, end="", file=sys.stderr)


def _how_it_ended(code: int, said: IO[bytes], before: str) -> str:
    """Text on ranks that ended too early, with their last line of error output, which tends to say why."""
    words = "".join(f": {line}" for line in _error_lines(said)[-1:])
    return f"the ranks ended with exit code {code if code >= 0 else 128 - code} before {before}{words}"


def _error_lines(said: IO[bytes]) -> list[str]:
    """Lines that the ranks or the launcher printed on standard error, without those that have no letters."""
    said.seek(0)
    told = [line.strip() for line in said.read().decode(errors="replace").splitlines()]
    return [line for line in told if any(map(str.isalpha, line))]


def work_of(job: str) -> Work:
    """The function of a job's ranks."""
    module, _, name = job.partition(":")
    return cast(Work, getattr(importlib.import_module(module), name))


def _run_as_rank() -> None:
    """Work in a rank of a job. The result on rank 0 is the job's answer. Errors are reported, not raised.

    A HocketError is the same on all ranks; anything else ends the job, for others may wait for this rank."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    job = json.loads(sys.argv[1])

    def tell(message: dict[str, Any]) -> None:
        print(f"{MARK}{json.dumps(message)}", flush=True)

    try:
        if comm.Get_size() != job["ranks"]:
            raise MissingToolError(
                "mpi4py does not run on the MPI of the launcher",
                remedy="set MPI4PY_LIBMPI to the path of its libmpi.so, or choose another MPI by --mpi",
            )
        answer = work_of(job["work"])(comm, job["what"], tell)
        if comm.Get_rank() == 0:
            tell({"answer": answer})
    except HocketError as error:
        if comm.Get_rank() == 0:
            tell({"error": str(error)})
    except BaseException as error:
        traceback.print_exc()
        tell({"error": f"rank {comm.Get_rank()}: {error or type(error).__name__}"})
        comm.Abort(1)


def in_a_job(environment: Mapping[str, str] = os.environ) -> bool:
    """Return true if a launcher has started this process as a rank."""
    if any(environment.get(name) for name in OF_RANKS):
        return True
    return bool(environment.get("SLURM_PROCID")) and environment.get("SLURM_STEP_ID", "").isdecimal()


def run_here(ranks: int | None, work: Callable[[MPI.Intracomm], T]) -> T:
    """Run ``work`` in a rank that the user has started; raises UsageError if ``ranks`` is given and not their number.

    Modules that use mpi4py are imported in ``work``: it loads the MPI library that is chosen here. A HocketError is the
    same on all ranks: the first raises it, the others end with exit code 2."""
    if mpi := mpi_of_rank():
        os.environ |= mpi4py_environment(mpi)
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    try:
        if ranks not in (None, comm.Get_size()):
            raise UsageError(f"-n {ranks}: this job has {comm.Get_size()} ranks", remedy="leave -n out")
        return work(comm)
    except HocketError:
        if comm.Get_rank() == 0:
            raise
        sys.exit(2)
    except Exception:  # others may wait for this rank
        traceback.print_exc()
        comm.Abort(1)
        raise


if __name__ == "__main__":
    _run_as_rank()
