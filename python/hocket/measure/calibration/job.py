"""Starts ranks that measure, or measures as one of a job's ranks."""

from __future__ import annotations

import json
import sys
import tempfile
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from hocket.costs.calibration import Calibration, from_json
from hocket.errors import HocketError, UsageError
from hocket.launch import started
from hocket.launch.messages import Tell, how_it_ended, messages, run_as_rank
from hocket.launch.mpi import Mpi, launch_command, mpi4py_environment
from hocket.measure.bench.job import need_mpi4py

if TYPE_CHECKING:
    from mpi4py import MPI

MARK: Final = "hocket-calibrate:"
Say = Callable[[int, int, str], None]


def measured_here(
    ranks: int | None, source: str | None, placement: str, quick: bool, say: Say
) -> Calibration | None:
    """This process is a rank: all of them call this. The calibration on the first, None on the others."""
    from mpi4py import MPI

    from hocket.measure.calibration.measure import measure

    comm = MPI.COMM_WORLD
    try:
        if ranks not in (None, comm.Get_size()):
            raise UsageError(f"-n {ranks}: this job has {comm.Get_size()} ranks", remedy="leave -n out")
        return measure(comm, source, placement, quick, say)
    except HocketError:  # the same on all ranks
        if comm.Get_rank() == 0:
            raise
        sys.exit(2)
    except Exception:  # others may wait for this rank
        traceback.print_exc()
        comm.Abort(1)
        raise


def measured_by(
    mpi: Mpi, ranks: int, hostfile: str | None, source: str | None, placement: str, quick: bool, say: Say
) -> Calibration:
    """Starts ranks. Raises HocketError with what they say, or with how they ended."""
    need_mpi4py()
    what = json.dumps({"ranks": ranks, "source": source, "placement": placement, "quick": quick})
    worker = [sys.executable, "-m", "hocket.measure.calibration.job", what]
    command = launch_command(mpi, ranks, (), mpi4py_environment(mpi), worker, hostfile=hostfile)
    found: Calibration | None = None
    with tempfile.TemporaryFile() as said, started(command, stderr=said) as process:
        for message in messages(process, MARK, verbose=False):
            if "error" in message:
                raise HocketError(message["error"])
            if "calibration" in message:
                found = from_json(message["calibration"])
            else:
                say(message["at"], message["of"], message["work"])
        code = process.wait()
        if code != 0 or found is None:
            raise HocketError(how_it_ended(code, said, "all was measured"),
                              remedy="run it by hand: " + " ".join(command))  # fmt: skip
    return found


def main() -> None:
    """A rank that measured_by() has started."""
    from hocket.measure.calibration.measure import measure

    what = json.loads(sys.argv[1])

    def work(comm: MPI.Intracomm, tell: Tell) -> None:
        first = comm.Get_rank() == 0

        def say(at: int, of: int, now: str) -> None:
            if first:
                tell({"at": at, "of": of, "work": now})

        found = measure(comm, what["source"], what["placement"], what["quick"], say)
        if found is not None:
            tell({"calibration": found.as_json()})

    run_as_rank(MARK, what["ranks"], work)


if __name__ == "__main__":
    main()
