"""What ranks that were started say on standard output, which every launcher brings here; and how they say it."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any

from hocket.errors import HocketError, MissingToolError

if TYPE_CHECKING:
    from mpi4py import MPI

Tell = Callable[[dict[str, Any]], None]


def lines(process: subprocess.Popen[str], patience: float) -> Iterator[str]:
    """What it prints. Raises HocketError if nothing comes for ``patience`` seconds."""
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
                f"the ranks have said nothing for {patience:g} s",
                remedy="see whether the hosts are busy, or cannot reach each other",
            ) from None
        if line is None:
            return
        yield line


def messages(process: subprocess.Popen[str], mark: str, verbose: bool) -> Iterator[dict[str, Any]]:
    """JSON objects that ranks print behind ``mark``, one a line; every launcher brings standard output here.

    Other lines are the MPI library's, and shown if ``verbose``.
    """
    assert process.stdout is not None
    for line in process.stdout:
        before, found, text = line.partition(mark)
        if found:
            yield json.loads(text)
        elif verbose:
            print(before, end="", file=sys.stderr)


def run_as_rank(mark: str, ranks: int, work: Callable[[MPI.Intracomm, Tell], None]) -> None:
    """In a rank that was started: ``work`` with a way to tell messages(). Errors are told, not raised.

    A HocketError is the same on all ranks; anything else ends the job, for others may wait for this rank.
    """
    from mpi4py import MPI

    comm = MPI.COMM_WORLD

    def tell(message: dict[str, Any]) -> None:
        print(f"{mark}{json.dumps(message)}", flush=True)

    try:
        if comm.Get_size() != ranks:
            raise MissingToolError(
                "mpi4py does not run on the MPI of the launcher",
                remedy="set MPI4PY_LIBMPI to the path of its libmpi.so, or choose another MPI by --mpi",
            )
        work(comm, tell)
    except HocketError as error:
        if comm.Get_rank() == 0:
            tell({"error": str(error)})
    except BaseException as error:
        traceback.print_exc()
        tell({"error": f"rank {comm.Get_rank()}: {error or type(error).__name__}"})
        comm.Abort(1)


def how_it_ended(code: int, said: IO[bytes], before: str) -> str:
    """Of ranks that have not done what they were to do, with the last words, which tend to say why."""
    words = "".join(f": {line}" for line in error_lines(said)[-1:])
    return f"the ranks ended with exit code {code if code >= 0 else 128 - code} before {before}{words}"


def error_lines(said: IO[bytes]) -> list[str]:
    """What the ranks or the launcher have said on standard error, without lines that have no words."""
    said.seek(0)
    told = [line.strip() for line in said.read().decode(errors="replace").splitlines()]
    return [line for line in told if any(map(str.isalpha, line))]
