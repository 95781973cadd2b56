"""Sorts and permutations of elements on the emulated cluster, with and without schedules (needs root).

    python bench/lab/elements.py [--mpi mpich --mpi PATH/mpirun] [--network chain:4,4,4,4] [--rounds 3]

Jobs of all candidates take turns; each is a program of its own, because what a native call does to the TCP
connections would slow whatever follows. Raw numbers and medians go to bench/results/.
"""

from __future__ import annotations

import argparse
import datetime
import json
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from run import ROOT

from hocket import _core
from hocket.lab import Lab, LabOptions
from hocket.mpi import Mpi, find_mpi
from hocket.network import read_network_description
from hocket.runtime import RuntimeOptions, build_runtime, scheduled_environment
from hocket.runtime.build import include_dir

Row = dict[str, Any]
COMMAND: Final = shlex.join(["python", "bench/lab/elements.py", *sys.argv[1:]])

# Operation, method, bytes of an element.
OPERATIONS: Final = (
    ("sort", "radix", 4), ("sort", "sample", 4), ("permute", "packed", 8), ("permute", "chained", 8)
)  # fmt: skip


def compile_program(mpi: Mpi, work: Path) -> Path:
    """element_times for this MPI, with the runtime as a library."""
    program = work / f"element_times-{mpi.family.value}"
    library = build_runtime(mpi.mpicc).library
    flags = [f"-I{include_dir()}", f"-L{library.parent}", "-lhocket_runtime", f"-Wl,-rpath,{library.parent}"]
    source = str(Path(__file__).with_name("element_times.c"))
    subprocess.run([mpi.mpicc, "-O2", source, *flags, "-o", str(program)], check=True)
    return program


def measure(mpi: Mpi, arguments: argparse.Namespace, program: Path) -> list[Row]:
    """One lab; the candidates' jobs in turn; a row per repetition."""
    description = read_network_description(arguments.network)
    network = description.build()
    rate = arguments.rate * 1e6 / 8
    environments = {"scheduled": scheduled_environment(mpi.mpicc, network, RuntimeOptions()), "native": {}}
    rows: list[Row] = []
    with Lab.up(description, LabOptions(rate, arguments.buffer, arguments.cc, 1500)) as lab:
        for number in range(arguments.rounds):
            for operation, method, width in OPERATIONS:
                elements = arguments.bytes // width
                command = [str(program), operation, method, str(elements), str(arguments.repetitions)]
                for candidate in sorted(environments, reverse=number % 2 == 0):
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


def table(rows: list[Row]) -> str:
    """Medians, as Markdown."""
    lines = [
        "| operation | MPI | scheduled, s | native, s | native / scheduled | repetitions |",
        "|---|---|---|---|---|---|",
    ]
    for key in dict.fromkeys((row["operation"], row["method"], row["mpi"]) for row in rows):
        cells, medians, count = [], [], 0
        for candidate in ("scheduled", "native"):
            times = [
                row["seconds"]
                for row in rows
                if (row["operation"], row["method"], row["mpi"], row["candidate"]) == (*key, candidate)
            ]
            count = max(count, len(times))
            cells.append("failed")
            if times:
                medians.append(statistics.median(times))
                cells[-1] = f"{medians[-1]:.2f} ({min(times):.2f}–{max(times):.2f})"
        ratio = f"{medians[1] / medians[0]:.2f}" if len(medians) == 2 else ""
        lines.append(f"| {key[0]}, {key[1]} | {key[2]} | {' | '.join(cells)} | {ratio} | {count} |")
    return "\n".join(lines)


def write(rows: list[Row], arguments: argparse.Namespace, bound: float) -> None:
    """Raw rows as JSON and medians as Markdown, with the settings and the date."""
    if arguments.output == "-":
        return
    settings = {name: value for name, value in vars(arguments).items() if name not in ("output", "mpi")}
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    results = ROOT / "bench/results"
    document = {"date": date, "settings": settings, "bound_seconds": bound, "rows": rows}
    (results / f"{arguments.output}.json").write_text(json.dumps(document, indent=1) + "\n")
    (results / f"{arguments.output}.md").write_text(
        f"# Sorts and permutations of elements on the emulated cluster, {date}\n\n"
        f"`{COMMAND}`; settings: `{settings}`\n\n{table(rows)}\n\n"
        "Median (minimum–maximum) of the seconds of the slowest rank; jobs take turns. Random 32-bit keys,\n"
        "a random permutation of elements of 8 bytes. To move every element to a random rank once takes\n"
        f"{bound:.2f} s at least, without packet headers (5 %); the radix sort does so once per digit.\n"
    )


def main() -> None:
    """Measures what the command line asks for and writes the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mpi", action="append", help="mpich, openmpi or the path of an mpiexec")
    parser.add_argument("--network", default="chain:4,4,4,4")
    parser.add_argument("--bytes", type=int, default=2**20, help="of each rank's elements")
    parser.add_argument("--rounds", type=int, default=3, help="jobs of each candidate")
    parser.add_argument("--repetitions", type=int, default=1, help="in a job")
    parser.add_argument("--rate", type=float, default=50, help="Mbit/s of every link")
    parser.add_argument("--buffer", type=int, default=60000, help="bytes per port")
    parser.add_argument("--cc", default="cubic")
    parser.add_argument("--timeout", type=float, default=60, help="seconds per job")
    parser.add_argument("--output", default="lab-elements", help="name under bench/results/, or - for none")
    arguments = parser.parse_args()
    bound = once_around(arguments)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as work:
        for name in arguments.mpi or ["mpich"]:
            mpi = find_mpi(name)
            rows += measure(mpi, arguments, compile_program(mpi, Path(work)))
            write(rows, arguments, bound)
    print(table(rows))


if __name__ == "__main__":
    main()
