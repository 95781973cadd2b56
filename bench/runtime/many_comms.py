"""Resident memory of a program that makes, uses and frees 10,000 communicators, with Hocket and without.

    python bench/runtime/many_comms.py [--mpi mpich --mpi PATH/mpirun] [--communicators 10000]

On each communicator: MPI_Alltoall, MPI_Allgather and MPI_Alltoallv, twice, every element checked; all of
them are scheduled. Resident memory is that of the largest rank. Writes bench/results/communicators.{csv,md}.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path
from typing import Final

from hocket.launch.environment import RuntimeOptions, scheduled_environment
from hocket.launch.mpi import Mpi
from hocket.network import read_network

sys.path.extend([str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tests")])
from mpi_jobs import add_mpi, compiled, mpis, run_job
from results_file import ROOT, Row, begin, cells, grouped, provenance
from scheduled_calls import EVERYTHING

PROGRAM: Final = ROOT / "tests" / "runtime" / "programs" / "many_comms.c"
NETWORK: Final = "chain:2,2"
COUNT: Final = 8  # ints per message
ORDERS: Final = 24  # more than are kept


def resident(mpi: Mpi, program: Path, env: dict[str, str], communicators: int) -> dict[int, int]:
    """KiB, by the number of communicators that are through."""
    done = run_job(mpi, 4, env, [program, communicators, COUNT, ORDERS], 3600)
    if " 0 wrong" not in done.stdout:
        sys.exit(f"{mpi.family.value}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    scheduled = done.stderr.count("all-to-all of 4 ranks")
    if env and scheduled != communicators:
        sys.exit(f"{mpi.family.value}: {scheduled} of {communicators} communicators were scheduled")
    return {int(step): int(kib) for step, kib in re.findall(r"rss (\d+) (\d+)", done.stdout)}


def summary(heading: Row, rows: list[Row]) -> list[str]:
    return [
        "# Communicators that come and go",
        "",
        f"{provenance(heading)}.",
        f"{NETWORK}, 4 ranks on this one machine, in {ORDERS} orders: nothing that is kept serves twice.",
        "Each communicator: all-to-all, all-gather and",
        f"irregular all-to-all of {COUNT} ints per message, twice, checked; then it is freed. Under Hocket",
        "all of these are scheduled, on a private communicator each. Resident memory of the largest rank,",
        "KiB, when so many are through.",
        "",
        *cells(
            ["MPI", "", *(f"{count:,}" for count in grouped(rows, "communicators"))],
            (
                [*case, *(f"{row['kib']:,}" for row in of_case)]
                for case, of_case in grouped(rows, "mpi", "with").items()
            ),
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_mpi(parser)
    parser.add_argument("--communicators", type=int, default=10000)
    options, results = begin(parser, "communicators", summary)
    with tempfile.TemporaryDirectory() as work:
        for mpi in mpis(options):
            program = compiled(mpi, PROGRAM, Path(work))
            chosen = RuntimeOptions(placement="order", choose="off", log=1)
            hocket = scheduled_environment(mpi.mpicc, read_network(NETWORK), chosen) | EVERYTHING
            for label, env in (("without Hocket", {}), ("with Hocket", hocket)):
                where = {"mpi": mpi.family.value, "with": label}
                kib = resident(mpi, program, env, options.communicators)
                results.add(*(where | {"communicators": step, "kib": rss} for step, rss in kib.items()))
    print(results.summarise())


if __name__ == "__main__":
    main()
