"""Measures the time that recognising a repeated MPI_Alltoallv adds to a call, in 8-byte allreduces.

    python bench/irregular/recognition.py [--mpi mpich --mpi PATH/mpirun] [--bytes 1024] [--rounds 100]

Under the preload library, in turn within one job: calls that are recognised; the same exchange as a
persistent request, which nobody has to recognise; two kinds of reductions. For a machine that does nothing
else; at least three ranks, best of all a core for each. Writes bench/results/recognition.{csv,md}.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

from hocket import _core
from hocket.launch.environment import RuntimeOptions, scheduled_environment
from hocket.launch.mpi import Mpi
from hocket.network import read_network_description

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpi_jobs import add_mpi, compiled, mpis, run_job
from results_file import Row, begin, cells, grouped, provenance, quartiles, values

KINDS: Final = ("recognised", "persistent", "allreduce", "yielding")  # columns of recognition.c
REFERENCES: Final = KINDS[2:]
COLUMNS: Final = (
    *("MPI", "ranks", "bytes", *KINDS, "added"),
    *(f"added / {reference}" for reference in REFERENCES),
)
PLANNED: Final = 2  # exchanges that a job plans: for the calls, for the request

Seconds = dict[str, Sequence[float]]  # per call, by kind and round


def job(mpi: Mpi, program: Path, network: _core.Network, size: int, options: argparse.Namespace) -> Seconds:
    chosen = RuntimeOptions(placement="order", choose="off", min_vector_bytes=1, log=1)
    env = scheduled_environment(mpi.mpicc, network, chosen)
    env |= {"HOCKET_MIN_FLOWS": "1"} | dict(pair.split("=", 1) for pair in options.env)
    command = [program, size, options.rounds, options.calls]
    done = run_job(mpi, network.ranks, env, command, options.timeout)
    what = f"{mpi.family.value}, {size} bytes"
    if done.stderr.count("irregular exchange of") != PLANNED:
        sys.exit(f"{what}: not scheduled, there is nothing to recognise\n{done.stderr}")
    rounds = [map(float, line.split()) for line in done.stdout.splitlines()]
    return dict(zip(KINDS, zip(*rounds, strict=True), strict=True))


def added(seconds: Seconds) -> list[float]:
    """Per round."""
    return [a - b for a, b in zip(seconds["recognised"], seconds["persistent"], strict=True)]


def case_cells(key: tuple[str, int, int], rows: list[Row]) -> list[str]:
    """A line of the summary."""
    seconds = {row["kind"]: values(row["seconds"]) for row in rows}
    more = added(seconds)
    medians = [f"{1e6 * median(column):.1f}" for column in (*(seconds[kind] for kind in KINDS), more)]
    ratios = ([a / b for a, b in zip(more, seconds[reference], strict=True)] for reference in REFERENCES)
    return [key[0], str(key[1]), f"{key[2]:,}", *medians, *map(quartiles, ratios)]


def summary(heading: Row, rows: list[Row]) -> list[str]:
    return [
        "# What recognising a repeated MPI_Alltoallv costs",
        "",
        f"{provenance(heading)}.",
        f"{heading['network']}, ranks in order on this one machine, preload library, `HOCKET_MIN_FLOWS=1`,",
        f"`HOCKET_MIN_VECTOR_BYTES=1`. In one job, in turn: blocks of {heading['calls']} calls of",
        "`MPI_Alltoallv` with counts used before (recognised); start and wait of",
        "`MPI_Alltoallv_init` with the same arguments (persistent); `MPI_Allreduce` of 8 bytes; that",
        "reduction as `MPI_Iallreduce`, with `sched_yield` between tests (yielding). Median µs per call,",
        "on the slowest rank. Added: recognised − persistent of the same round. Ratios: median",
        f"(quartiles) over {heading['rounds']} rounds. Where ranks outnumber cores, an MPI that polls in",
        "`MPI_Allreduce` takes the processor from the ranks it waits for; there the last column is the",
        "stricter comparison.",
        "",
        *cells(COLUMNS, (case_cells(*item) for item in grouped(rows, "mpi", "ranks", "bytes").items())),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_mpi(parser)
    parser.add_argument("--network", default="chain:2,2", help="with a place for each rank")
    parser.add_argument(
        "--bytes", type=int, nargs="+", default=[64, 1024, 16384], help="of the smallest message"
    )
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--calls", type=int, default=20, help="in a row, of each kind in each round")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="for the ranks")
    parser.add_argument("--timeout", type=float, default=300, help="seconds per job")
    options, results = begin(parser, "recognition", summary)
    network = read_network_description(options.network).build()
    results.heading |= {name: getattr(options, name) for name in ("network", "rounds", "calls")}
    with tempfile.TemporaryDirectory() as work:
        for mpi in mpis(options):
            program = compiled(mpi, Path(__file__).with_suffix(".c"), Path(work))
            for size in options.bytes:
                where = {"mpi": mpi.family.value, "ranks": network.ranks, "bytes": size}
                seconds = job(mpi, program, network, size, options)
                results.add(*(where | {"kind": kind, "seconds": of} for kind, of in seconds.items()))
                print(f"{mpi.family.value}, {size} bytes: done", file=sys.stderr)
    print(results.summarise())


if __name__ == "__main__":
    main()
