"""Measures the speed of combining partial results, beside a copy and beside MPI_Reduce_local.

    python bench/memory/combine.py [--mpi mpich] [--bytes 134217728] [--rounds 5]

One rank; the loops of runtime/reduce/kernels.cpp, compiled as the runtime is. They take turns with the others. Writes
bench/results/combine.{csv,md}. Exit code 1 if a sum, minimum, maximum or operation on bits stays below the target.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpi_jobs import add_mpi, compiled, mpis, run_job
from results_file import ROOT, Row, begin, cells, median_ratio, provenance, read, values

TARGET = 0.8  # of the rate of a copy, in bytes read and written
MOVED, COPIED = 3, 2  # times the vector: two read and one written; one and one


def of_copy(row: Row) -> float:
    """Bytes read and written per second, over those of a copy."""
    return median_ratio(values(row["copy"]), values(row["kernel"])) * MOVED / COPIED


def missed(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["operation"] != "product" and of_copy(row) < TARGET]


def summary(heading: Row, rows: list[Row]) -> list[str]:
    names = list(dict.fromkeys(row["operation"] for row in rows))
    lines = []
    for kind in dict.fromkeys(row["type"] for row in rows):
        told = {row["operation"]: row for row in rows if row["type"] == kind}
        lines.append([kind, *(_cell(told[name]) if name in told else "" for name in names)])
    return [
        "# Combining partial results: memory rates",
        "",
        f"{provenance(heading)}, {heading['mpi']}.",
        "",
        f"Vectors of {heading['bytes'] >> 20} MiB, one rank. Bytes read and written per second, over those of a copy "
        f"(`1C1` of",
        "`hocket calibrate memory`): two vectors are read and one is written, of a copy one and one. In brackets the",
        "time of `MPI_Reduce_local` over that of Hocket's loop. Medians of the ratios of turns. Target: "
        f"{TARGET}, but for products.",
        "",
        *cells(["type", *names], lines),
        "",
        f"Below the target: {', '.join(row['type'] + ' ' + row['operation'] for row in missed(rows)) or 'none'}.",
    ]


def _cell(row: Row) -> str:
    return f"{of_copy(row):.2f} ({median_ratio(values(row['library']), values(row['kernel'])):.2f})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_mpi(parser)
    parser.add_argument("--bytes", type=int, default=1 << 27, help="of a vector")
    parser.add_argument("--rounds", type=int, default=5)
    arguments, results = begin(parser, "combine", summary)
    (mpi,) = mpis(arguments)
    results.heading |= {"mpi": mpi.family.value, "bytes": arguments.bytes}
    found: dict[tuple[str, str], list[list[str]]] = {}
    with tempfile.TemporaryDirectory() as work:
        flags = ("-std=c++20", "-I", str(ROOT), str(ROOT / "runtime/reduce/kernels.cpp"), "-lstdc++")
        program = compiled(mpi, Path(__file__).with_suffix(".cpp"), Path(work), *flags)
        command = [program, arguments.bytes, arguments.rounds]
        for line in run_job(mpi, 1, {}, command, timeout=600).stdout.splitlines():
            kind, operation, *seconds = line.split()
            found.setdefault((kind, operation), []).append(seconds)
    for (kind, operation), turns in found.items():
        kernel, library, copy = zip(*turns, strict=True)
        row = {"type": kind, "operation": operation, "kernel": list(kernel), "library": list(library)}
        results.add(row | {"copy": list(copy)})
    print(results.summarise())
    return 1 if missed(read(results.path)[1]) else 0


if __name__ == "__main__":
    sys.exit(main())
