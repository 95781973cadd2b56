"""Scheduled against native all-to-all or all-gather on the emulated cluster (needs root).

    python bench/lab/run.py [all-gather] [--mpi mpich --mpi PATH/mpirun] [--topology b] [--sizes 262144:1]
        [--shuffle 1 --shuffle 2]

Jobs alternate: scheduled, native, native, scheduled, … Not within one job, because what the native call
does to the TCP connections (tens of thousands of retransmissions) would slow the scheduled call that
follows on them. Raw numbers and medians go to bench/results/.
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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hocket import _core
from hocket.lab import Lab, LabOptions
from hocket.mpi import Mpi, find_mpi
from hocket.network import read_network_description
from hocket.runtime import RuntimeOptions, scheduled_environment

ROOT = Path(__file__).resolve().parents[2]
NETWORKS = ROOT / "examples/networks"
TOPOLOGIES = {"b": NETWORKS / "paper-b.toml", "c": NETWORKS / "paper-c.toml"}
COMMAND = shlex.join(["python", "bench/lab/run.py", *sys.argv[1:]]).replace(f"{ROOT}/", "")
Row = dict[str, Any]


def compile_program(mpi: Mpi, work: Path, name: str = "collective_times") -> Path:
    """A program of this directory for this MPI."""
    program = work / f"{name}-{mpi.family.value}"
    source = Path(__file__).with_name(f"{name}.c")
    subprocess.run([mpi.mpicc, "-O2", str(source), "-o", str(program)], check=True)
    return program


def job(
    lab: Lab,
    mpi: Mpi,
    program: Path,
    env: Mapping[str, str],
    arguments: argparse.Namespace,
    shuffle: int | None,
) -> list[list[str]]:
    """One job: [size, seconds] per repetition."""
    command = [str(program), arguments.pattern.replace("-", ""), *arguments.sizes]
    result = lab.run(command, mpi=mpi, env=env, timeout=arguments.timeout, capture=True, shuffle=shuffle)
    if result.exit_code != 0:
        sys.exit(f"{mpi.family.value}: exit code {result.exit_code}\n{result.output}")
    lines = [line.split() for line in result.output.splitlines()]
    return [words for words in lines if len(words) == 2 and words[0].isdigit()]


def measure(
    topology: str, mpi: Mpi, arguments: argparse.Namespace, program: Path, shuffle: int | None
) -> list[Row]:
    """One lab; jobs of both candidates in turn; a row per repetition. ``shuffle``: seed of the placement."""
    description = read_network_description(str(TOPOLOGIES[topology]))
    rate = arguments.rate * 1e6 / 8
    network = description.build()
    demand = _core.Demand(network.ranks, 1, arguments.pattern)
    load = max(_core.lower_bounds(network, demand).load)
    environments: dict[str, dict[str, str]] = {
        "scheduled": scheduled_environment(mpi.mpicc, network, RuntimeOptions(flow=arguments.flow)),
        "native": {},
    }
    environments["scheduled"] |= dict(pair.split("=", 1) for pair in arguments.env)
    rows: list[Row] = []
    with Lab.up(description, LabOptions(rate, arguments.buffer, arguments.cc, 1500)) as lab:
        for number in range(arguments.jobs):
            for candidate in sorted(environments, reverse=number % 2 == 0):
                for size, seconds in job(lab, mpi, program, environments[candidate], arguments, shuffle):
                    bound = load * int(size) / rate
                    row = {"topology": topology, "mpi": mpi.family.value, "bytes": int(size), "job": number}
                    row |= {"placement": "in order" if shuffle is None else f"random, seed {shuffle}"}
                    row |= {
                        "candidate": candidate,
                        "seconds": float(seconds),
                        "ratio": float(seconds) / bound,
                    }
                    rows.append(row)
            where = "" if shuffle is None else f", placement {shuffle}"
            print(
                f"{topology} {mpi.family.value}{where}: {number + 1} of {arguments.jobs} pairs",
                file=sys.stderr,
            )
    return rows


def key_of(row: Row) -> tuple[Any, ...]:
    """What the candidates are compared in."""
    return row["topology"], row["mpi"], row["placement"], row["bytes"]


def table(rows: list[Row]) -> str:
    """Medians per topology, MPI and size, as Markdown."""
    lines = [
        "| topology | MPI | placement | bytes | scheduled / bound | native / bound | native / scheduled"
        " | repetitions |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for key in dict.fromkeys(key_of(row) for row in rows):
        cells, medians = [], []
        for candidate in ("scheduled", "native"):
            ratios = [r["ratio"] for r in rows if key_of(r) == key and r["candidate"] == candidate]
            medians.append(statistics.median(ratios))
            cells.append(f"{medians[-1]:.3f} ({min(ratios):.3f}–{max(ratios):.3f})")
        cells.append(f"{medians[1] / medians[0]:.3f}")
        lines.append(f"| {' | '.join(map(str, key))} | {' | '.join(cells)} | {len(ratios)} |")
    return "\n".join(lines)


def main() -> None:
    """Measures what the command line asks for and writes the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pattern", nargs="?", default="all-to-all", choices=["all-to-all", "all-gather"])
    parser.add_argument("--shuffle", action="append", type=int, metavar="SEED", help="random placements")
    parser.add_argument("--in-order", action="store_true", help="besides --shuffle, ranks in order")
    parser.add_argument("--topology", action="append", choices=sorted(TOPOLOGIES))
    parser.add_argument("--mpi", action="append", help="mpich, openmpi or the path of an mpiexec")
    parser.add_argument("--sizes", nargs="+", default=["262144:1", "65536:2", "8192:5", "1024:5"])
    parser.add_argument("--jobs", type=int, default=5, help="pairs of jobs")
    parser.add_argument("--rate", type=float, default=50, help="Mbit/s of every link")
    parser.add_argument("--buffer", type=int, default=60000, help="bytes per port")
    parser.add_argument("--cc", default="cubic")
    parser.add_argument("--flow", default="token")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--timeout", type=float, default=150, help="seconds per job")
    parser.add_argument("--output", default="lab", help="name under bench/results/, or - for none")
    arguments = parser.parse_args()

    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as work:
        for name in arguments.mpi or ["mpich"]:
            mpi = find_mpi(name)
            program = compile_program(mpi, Path(work))
            placements: list[int | None] = [*(arguments.shuffle or [])]
            if arguments.in_order or not placements:
                placements.insert(0, None)
            for topology in arguments.topology or sorted(TOPOLOGIES):
                for shuffle in placements:
                    rows += measure(topology, mpi, arguments, program, shuffle)
                    write(rows, arguments)
    print(table(rows))


def write(rows: list[Row], arguments: argparse.Namespace) -> None:
    """Raw rows as JSON and medians as Markdown, with the settings and the date."""
    if arguments.output == "-":
        return
    settings = {k: v for k, v in vars(arguments).items() if k not in ("output", "mpi")}
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    results = ROOT / "bench/results"
    document = {"date": date, "settings": settings, "rows": rows}
    (results / f"{arguments.output}.json").write_text(json.dumps(document, indent=1) + "\n")
    title = f"# {arguments.pattern.capitalize()} on the emulated cluster, {date}"
    head = f"{title}\n\n`{COMMAND}`; settings: `{settings}`\n\n"
    note = (
        "\n\nMedian (minimum–maximum) of time / bound; jobs of both candidates alternate. The bound is\n"
        "load × bytes / rate, without packet headers (5 %).\n"
    )
    (results / f"{arguments.output}.md").write_text(head + table(rows) + note)


if __name__ == "__main__":
    main()
