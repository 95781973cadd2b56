"""Collective calls on 2 to 9 hosts with 1 to 5 ranks each, in two levels and by default: every element, and that all
are scheduled.

    python bench/runtime/two_levels.py [--mpi mpich --mpi PATH/mpirun]

Ranks of this machine stand for hosts. Writes bench/results/two-levels.{csv,md}.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Final

from hocket.launch.environment import RuntimeOptions, scheduled_environment
from hocket.launch.mpi import Mpi
from hocket.network import read_network

sys.path.extend([str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tests")])
from mpi_jobs import add_mpi, compiled, mpis, run_job
from reported_calls import Said
from results_file import ROOT, Row, begin, cells, grouped, provenance

PROGRAM: Final = ROOT / "tests" / "runtime" / "programs" / "two_levels.c"
HOSTS, RANKS = range(2, 10), range(1, 6)
SUMS: Final = ("MPI_Allreduce", "MPI_Reduce_scatter_block", "MPI_Reduce_scatter", "MPI_Reduce")
CALLS: Final = (*SUMS, "MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall", "MPI_Bcast")
# Calls of each way. By default sums of floating-point numbers are not timed; others may be left to the
# library, and those are counted.
WAYS: Final = {
    "forced": ({"HOCKET_CANDIDATE": "two-level-1"}, CALLS),
    "default": ({"HOCKET_CHOOSE": "learn", "HOCKET_MIN_GATHER_BYTES": "1"}, (*SUMS, "MPI_Bcast")),
}


def measure(mpi: Mpi, program: Path, hosts: int, ranks: int, way: str) -> Row:
    settings, calls = WAYS[way]
    all_ranks = hosts * ranks
    with tempfile.TemporaryDirectory() as directory:
        options = RuntimeOptions(
            placement="order", report=Path(directory), choose=settings.get("HOCKET_CHOOSE", "off")
        )
        network = read_network(f"chain:{(hosts + 1) // 2},{hosts // 2}*{ranks}")
        patient = {"HOCKET_SPIN_US": "0", "HOCKET_SLEEP_US": "50", "HOCKET_CHOICES": ""}
        env = {**scheduled_environment(mpi.mpicc, network, options), **patient, **settings}
        done = run_job(mpi, all_ranks, env, [program, all_ranks + 1, 3 * all_ranks + 257], 600)
        said = Said(done.stderr, Path(directory))
    if " 0 wrong" not in done.stdout:
        sys.exit(f"{mpi.family.value}: {hosts} × {ranks}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    served = [line for line in said.lines if line.call in calls]
    return {
        "mpi": mpi.family.value,
        "way": way,
        "hosts": hosts,
        "ranks": ranks,
        "calls": sum(line.calls for line in served),
        "scheduled": sum(line.calls for line in served if line.scheduled),
        "two_level": sum(line.calls for line in served if line.detail.startswith("aggregates")),
        "reasons": ";".join(sorted({line.why for line in served if not line.scheduled})),
        "elements": int(done.stdout.split()[1]),
    }


def summary(heading: Row, rows: list[Row]) -> list[str]:
    return [
        "# Calls in two levels on any number of hosts",
        "",
        f"{provenance(heading)}.",
        "Ranks of this one machine stand for hosts of two switches. All-reduces, reduce-scatters, reduces, broadcasts,",
        "all-gathers and all-to-alls with elements of 1 to 16 bytes, N + 1 and 3 N + 257 of them for N ranks:",
        "every element is right. Calls that were scheduled, of all; in brackets those in two levels. *Forced*: the",
        "candidate `two-level-1`. *Default*: sums and broadcasts, the least size set to a byte.",
        "",
        *(
            line
            for (mpi, way), of_way in grouped(rows, "mpi", "way").items()
            for line in (
                f"{mpi}, {way}:",
                "",
                *cells(
                    ["hosts", *(f"{ranks} a host" for ranks in RANKS)],
                    (
                        [
                            hosts,
                            *(
                                "; ".join(
                                    f"{row['scheduled']} of {row['calls']} ({row['two_level']})"
                                    for row in here
                                )
                                for here in ([row for row in of_hosts if row["ranks"] == n] for n in RANKS)
                            ),
                        ]
                        for hosts, of_hosts in grouped(of_way, "hosts").items()
                    ),
                ),
                "",
            )
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_mpi(parser)
    options, results = begin(parser, "two-levels", summary)
    with tempfile.TemporaryDirectory() as work:
        for mpi in mpis(options):
            program = compiled(mpi, PROGRAM, Path(work))
            for way in WAYS:
                for hosts in HOSTS:
                    for ranks in RANKS:
                        if hosts * ranks < 3:
                            continue  # nothing can collide
                        results.add(measure(mpi, program, hosts, ranks, way))
                        print(*results.rows[-1].values(), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("HOCKET_CHOOSE", "off")
    main()
