"""Sorts and permutations of elements on the emulated cluster, with and without schedules (needs root).

    python bench/lab/elements.py [--mpi mpich --mpi PATH/mpirun] [--network chain:4,4,4,4] [--rounds 3]

Jobs of all candidates take turns; each is a program of its own, because what a native call does to the TCP
connections would slow whatever follows. Raw numbers and medians go to
bench/results/lab-elements.{csv,md}.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Final

from run import emulated, environments_of, lab_options, lab_up, settings_of

from hocket import _core
from hocket.export.packages import compile_flags, link_flags
from hocket.launch.mpi import Mpi
from hocket.launch.runtime import find_runtime, find_sort
from hocket.launch.runtime.build import include_dir, sort_include_dir
from hocket.network import read_network_description

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpi_jobs import compiled, mpis
from results_file import Row, alternating, begin, cells, grouped, spread

# Operation, method, bytes of an element.
OPERATIONS: Final = (
    ("sort", "radix", 4), ("sort", "sample", 4), ("permute", "packed", 8), ("permute", "chained", 8)
)  # fmt: skip


def compile_program(mpi: Mpi, work: Path) -> Path:
    """element_times for this MPI, with sorting and the runtime as libraries."""
    libraries = [find_sort(mpi.mpicc), find_runtime(mpi.mpicc).library]
    flags = [*compile_flags([sort_include_dir(), include_dir()]), *link_flags(libraries)]
    return compiled(mpi, Path(__file__).with_name("element_times.c"), work, *flags)


def measure(mpi: Mpi, arguments: argparse.Namespace, program: Path) -> list[Row]:
    """One lab; the candidates' jobs in turn; a row per repetition."""
    description = read_network_description(arguments.network)
    network = description.build()
    environments = environments_of(arguments, mpi, network)
    rows: list[Row] = []
    with lab_up(description, arguments) as lab:
        for number in range(arguments.rounds):
            for operation, method, width in OPERATIONS:
                elements = arguments.bytes // width
                command = [str(program), operation, method, str(elements), str(arguments.repetitions)]
                for candidate in alternating(environments, number):
                    result = lab.run(
                        command, mpi=mpi, env=environments[candidate], timeout=arguments.timeout, capture=True
                    )
                    if result.exit_code != 0:
                        said = result.output[-2000:]
                        print(f"{operation} {method}, {candidate}: {said}", file=sys.stderr)
                    times = [line for line in result.output.splitlines() if line.replace(".", "").isdigit()]
                    common = {"mpi": mpi.family.value, "operation": operation, "method": method}
                    common |= {"candidate": candidate, "job": number, "exit_code": result.exit_code}
                    rows += [
                        common | {"use": use, "seconds": float(line)} for use, line in enumerate(times, 1)
                    ]
            print(f"{mpi.family.value}: {number + 1} of {arguments.rounds} rounds", file=sys.stderr)
    return rows


def once_around(arguments: argparse.Namespace) -> float:
    """Seconds that no way of moving every element to a random rank can beat, without packet headers."""
    network = read_network_description(arguments.network).build()
    block = arguments.bytes // network.ranks
    bound = _core.lower_bounds(network, _core.Demand(network.ranks, block, "all-to-all")).seconds
    return float(bound) * network.host_rate / (arguments.rate * 1e6 / 8)


def summary(heading: Row, rows: list[Row]) -> list[str]:
    """Medians per operation and MPI."""
    told = []
    for (operation, method, mpi), of in grouped(rows, "operation", "method", "mpi").items():
        times = {name: [row["seconds"] for row in part] for name, part in grouped(of, "candidate").items()}
        shown = [spread(times[name], 2) if name in times else "failed" for name in ("scheduled", "native")]
        medians = {name: statistics.median(seconds) for name, seconds in times.items()}
        ratio = f"{medians['native'] / medians['scheduled']:.2f}" if len(medians) == 2 else ""
        told.append([f"{operation}, {method}", mpi, *shown, ratio, max(map(len, times.values()))])
    columns = ("operation", "MPI", "scheduled, s", "native, s", "native / scheduled", "repetitions")
    return [
        *emulated("Sorts and permutations of elements", heading),
        f"{heading['network']}, {heading['bytes']:,} bytes a rank.",
        "",
        *cells(columns, told),
        "",
        "Median (minimum–maximum) of the seconds of the slowest rank; jobs take turns. Random 32-bit keys,",
        "a random permutation of elements of 8 bytes. To move every element to a random rank once takes",
        f"{heading['bound_seconds']:.2f} s at least, without packet headers (5 %); the radix sort does so "
        "once per digit.",
    ]


def main() -> None:
    """Measures what the command line asks for and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", default="chain:4,4,4,4")
    parser.add_argument("--bytes", type=int, default=2**20, help="of each rank's elements")
    parser.add_argument("--rounds", type=int, default=3, help="jobs of each candidate")
    parser.add_argument("--repetitions", type=int, default=1, help="in a job")
    lab_options(parser, timeout=60)
    arguments, results = begin(parser, "lab-elements", summary)
    results.heading |= {"network": arguments.network, "bytes": arguments.bytes} | settings_of(arguments)
    results.heading["bound_seconds"] = once_around(arguments)
    with tempfile.TemporaryDirectory() as work:
        for mpi in mpis(arguments):
            results.add(*measure(mpi, arguments, compile_program(mpi, Path(work))))
    print(results.summarise())


if __name__ == "__main__":
    main()
