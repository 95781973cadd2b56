"""Scheduled against native all-to-all on the emulated cluster (needs root).

    python bench/lab/run.py [--quick] [--mpi NAME=MPIEXEC ...] [--topology b --topology c] [--sizes ...]

Both candidates alternate inside one job (compare.c). Raw numbers and medians go to
bench/results/lab.json and lab.md.
"""

from __future__ import annotations

import argparse
import datetime
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from hocket import _core
from hocket.lab import Lab, LabOptions
from hocket.mpi import Mpi, find_mpi
from hocket.network import read_network_description
from hocket.runtime import RuntimeOptions, scheduled_environment

ROOT = Path(__file__).resolve().parents[2]
TOPOLOGIES = {
    "b": ROOT / "examples/networks/paper-b.toml",
    "c": ROOT / "examples/networks/paper-c.toml",
}


def compile_program(mpi: Mpi, work: Path) -> Path:
    """bench/lab/compare.c for this MPI."""
    program = work / f"compare-{mpi.family.value}"
    subprocess.run(
        [mpi.mpicc, "-O2", str(Path(__file__).with_name("compare.c")), "-o", str(program)], check=True
    )
    return program


def measure(topology: str, mpi: Mpi, arguments: argparse.Namespace, program: Path) -> list[dict[str, float]]:
    """One lab, one job; a row per repetition with both times and their ratios to the bound."""
    description = read_network_description(str(TOPOLOGIES[topology]))
    rate = arguments.rate * 1e6 / 8
    options = LabOptions(rate, arguments.buffer, arguments.cc, 1500)
    network = description.build()
    load = max(_core.lower_bounds(network, _core.Demand(network.ranks, 1)).load)
    environment = scheduled_environment(mpi.mpicc, network, RuntimeOptions(flow=arguments.flow), None)
    environment |= dict(pair.split("=", 1) for pair in arguments.env)
    with Lab.up(description, options) as lab:
        result = lab.run(
            [str(program), str(arguments.repetitions), *map(str, arguments.sizes)],
            mpi=mpi,
            env=environment,
            timeout=arguments.timeout,
            capture=True,
        )
    if result.exit_code != 0:
        sys.exit(f"{topology} {mpi.family.value}: exit {result.exit_code}\n{result.output}")
    rows = [json.loads(line) for line in result.output.splitlines() if line.startswith("{")]
    for row in rows:
        bound = load * row["bytes"] / rate
        row |= {"topology": topology, "mpi": mpi.family.value, "bound": bound}
        row |= {"scheduled_ratio": row["scheduled"] / bound, "native_ratio": row["native"] / bound}
        row["speedup"] = row["native"] / row["scheduled"]
    return rows


def table(rows: list[dict[str, float]]) -> str:
    """Medians per topology, MPI and size, as Markdown."""
    lines = [
        "| topology | MPI | bytes | scheduled / bound | native / bound | native / scheduled | repetitions |",
        "|---|---|---|---|---|---|---|",
    ]
    for key in dict.fromkeys((r["topology"], r["mpi"], r["bytes"]) for r in rows):
        group = [r for r in rows if (r["topology"], r["mpi"], r["bytes"]) == key]
        cells = [
            f"{statistics.median(r[name] for r in group):.3f} "
            f"({min(r[name] for r in group):.3f}–{max(r[name] for r in group):.3f})"
            for name in ("scheduled_ratio", "native_ratio", "speedup")
        ]
        lines.append(f"| {key[0]} | {key[1]} | {key[2]} | " + " | ".join(cells) + f" | {len(group)} |")
    return "\n".join(lines)


def main() -> None:
    """Measures what the command line asks for and writes the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--topology", action="append", choices=sorted(TOPOLOGIES))
    parser.add_argument("--mpi", action="append", help="mpich, openmpi or the path of an mpiexec")
    parser.add_argument("--sizes", type=int, nargs="+", default=[262144, 65536, 8192, 1024])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--rate", type=float, default=50, help="Mbit/s of every link")
    parser.add_argument("--buffer", type=int, default=60000, help="bytes per port")
    parser.add_argument("--cc", default="cubic")
    parser.add_argument("--flow", default="token")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--timeout", type=float, default=1200)
    parser.add_argument("--output", default="lab", help="name under bench/results/, or - for none")
    arguments = parser.parse_args()

    rows: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as work:
        for name in arguments.mpi or ["mpich"]:
            mpi = find_mpi(name)
            program = compile_program(mpi, Path(work))
            for topology in arguments.topology or sorted(TOPOLOGIES):
                rows += measure(topology, mpi, arguments, program)
                print(table(rows), flush=True)
    if arguments.output == "-":
        return
    settings = {k: v for k, v in vars(arguments).items() if k != "output"}
    settings["date"] = datetime.datetime.now(datetime.UTC).date().isoformat()
    results = ROOT / "bench/results"
    (results / f"{arguments.output}.json").write_text(
        json.dumps({"settings": settings, "rows": rows}, indent=1)
    )
    date = settings["date"]
    head = f"# All-to-all on the emulated cluster\n\n`make bench-lab`, {date}. Settings: `{settings}`\n\n"
    note = "\n\nMedian (minimum–maximum). The bound is load × bytes / rate, without packet headers (5 %).\n"
    (results / f"{arguments.output}.md").write_text(head + table(rows) + note)


if __name__ == "__main__":
    main()
