"""Time of a program that makes and frees a communicator around two calls, natively, by default and forced; and of the
same calls on one communicator, which tells what setting one up takes.

    python bench/runtime/short_lived.py [--mpi mpich --mpi PATH/mpirun] [--turns 5]

Jobs take turns. Forced: everything is scheduled, nothing is chosen. Writes bench/results/short-lived.{csv,md}.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Final

from hocket.launch.environment import RuntimeOptions, scheduled_environment
from hocket.network import read_network

sys.path.extend([str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tests")])
from mpi_jobs import add_mpi, compiled, mpis, run_job
from results_file import ROOT, Row, begin, cells, grouped, provenance
from scheduled_calls import EVERYTHING

PROGRAM: Final = ROOT / "bench" / "runtime" / "short_lived.c"
NETWORK: Final = "chain:2,2"
COMMUNICATORS: Final = 1000
WAYS: Final = ("natively", "by default", "forced", "kept natively", "kept forced")
COMPARED: Final = [
    *((way, WAYS[0]) for way in WAYS[1:3]),
    ("kept forced", "kept natively"),
    ("forced", "kept forced"),
]


def summary(heading: Row, rows: list[Row]) -> list[str]:
    def ratio(of_case: list[Row], way: str, over: str) -> str:
        seconds = {(row["turn"], row["way"]): float(row["seconds"]) for row in of_case}
        turns = sorted({turn for turn, _ in seconds})
        return f"{statistics.median(seconds[turn, way] / seconds[turn, over] for turn in turns):.2f}"

    return [
        "# Communicators around two calls",
        "",
        f"{provenance(heading)}.",
        f"{NETWORK}, 4 ranks on this one machine, in shared memory. {COMMUNICATORS:,} times: MPI_Comm_dup,",
        "MPI_Alltoall, MPI_Allreduce, MPI_Comm_free. Times over others of the same turn, medians of turns.",
        "Kept: all calls on one communicator. Its columns tell what calls take, the last one what setting up takes.",
        "",
        *cells(
            ["MPI", "ints", *(f"{way} / {over}" for way, over in COMPARED)],
            (
                [*case, *(ratio(of_case, *pair) for pair in COMPARED)]
                for case, of_case in grouped(rows, "mpi", "ints").items()
            ),
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_mpi(parser)
    parser.add_argument("--turns", type=int, default=5)
    options, results = begin(parser, "short-lived", summary)
    with tempfile.TemporaryDirectory() as work:
        for mpi in mpis(options):
            program = compiled(mpi, PROGRAM, Path(work))
            network = read_network(NETWORK)

            environments = {"natively": {}}
            for way, choose, more in (("by default", "learn", {}), ("forced", "off", EVERYTHING)):
                chosen = RuntimeOptions(placement="order", choose=choose)
                of_way = scheduled_environment(mpi.mpicc, network, chosen)
                environments[way] = of_way | more | {"HOCKET_CHOICES": ""}
            for ints in (8, 2000):
                for turn in range(options.turns):
                    where = {"mpi": mpi.family.value, "ints": ints, "turn": turn}
                    done = {
                        way: run_job(
                            mpi,
                            4,
                            environments[way.removeprefix("kept ")],
                            [program, COMMUNICATORS, ints, "kept" if "kept" in way else "made"],
                            3600,
                        )
                        for way in WAYS
                    }
                    results.add(
                        *(
                            where | {"way": way, "seconds": float(of.stdout.split()[1])}
                            for way, of in done.items()
                        )
                    )
    print(results.summarise())


if __name__ == "__main__":
    main()
