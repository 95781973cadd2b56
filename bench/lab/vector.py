"""MPI_Alltoallv on the emulated cluster: candidates in turn (needs root).

    python bench/lab/vector.py --demand partners:28 --demand airfoil [--mpi mpich --mpi PATH/mpirun]
        [--candidate scheduled --candidate native --candidate RS_NL]

Candidates: ``native``; ``scheduled`` (what `hocket run` does); the name of a scheduler, which then serves
every call, with tokens, or with ``NAME/free`` in the order of the phases and nothing else. Jobs alternate;
what a native call does to the TCP connections would slow whatever follows in the same job.
Raw numbers and medians go to bench/results/ as they come.
"""

from __future__ import annotations

import argparse
import datetime
import json
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from demands import build
from run import COMMAND, NETWORKS, ROOT, compile_program

from hocket import _core
from hocket.lab import Lab, LabOptions
from hocket.mpi import Mpi, find_mpi
from hocket.network import read_network_description
from hocket.runtime import RuntimeOptions, scheduled_environment

Row = dict[str, Any]


def environment(candidate: str, mpi: Mpi, network: _core.Network) -> dict[str, str]:
    """What makes the ranks behave as the candidate says."""
    if candidate == "native":
        return {}
    name, _, flow = candidate.partition("/")
    variables = scheduled_environment(mpi.mpicc, network, RuntimeOptions(flow=flow or "token"))
    if name != "scheduled":
        variables |= {"HOCKET_SCHEDULER": name, "HOCKET_MIN_VECTOR_BYTES": "1", "HOCKET_MIN_FLOWS": "1"}
    return variables


def bound_of(network: _core.Network, matrix: np.ndarray) -> float:
    """Seconds that no exchange can beat, without packet headers."""
    src, dst = np.nonzero(matrix)
    demand = _core.Demand.irregular(len(matrix), src.tolist(), dst.tolist(), matrix[src, dst].tolist())
    return float(_core.lower_bounds(network, demand).seconds)


def measure(mpi: Mpi, arguments: argparse.Namespace, work: Path, rows: list[Row]) -> None:
    """One lab; the candidates' jobs in turn; a row per repetition."""
    description = read_network_description(str(NETWORKS / f"paper-{arguments.topology}.toml"))
    network = description.build()
    rate = arguments.rate * 1e6 / 8
    program = compile_program(mpi, work, "vector_times")
    files, bounds = {}, {}
    for number, demand in enumerate(arguments.demand):
        matrix = build(demand, network.ranks)
        files[f"{work}/{number}.txt"] = demand
        bounds[demand] = bound_of(network, matrix) * network.host_rate / rate
        np.savetxt(work / f"{number}.txt", matrix, fmt="%d")
    environments = {name: environment(name, mpi, network) for name in arguments.candidate}
    environments = {
        name: variables | (dict(pair.split("=", 1) for pair in arguments.env) if variables else {})
        for name, variables in environments.items()
    }
    calls = [f"{file}:{arguments.repetitions}" for file in files]
    jobs = [calls] if arguments.together else [[call] for call in calls]
    with Lab.up(description, LabOptions(rate, arguments.buffer, arguments.cc, 1500)) as lab:
        for number in range(arguments.jobs):
            for candidate in sorted(environments, reverse=number % 2 == 0):
                for job in jobs:
                    result = lab.run(
                        [str(program), *job],
                        mpi=mpi,
                        env=environments[candidate],
                        timeout=arguments.timeout,
                        capture=True,
                    )
                    if result.exit_code != 0:
                        said = f"exit code {result.exit_code}\n{result.output[-2000:]}"
                        print(f"{candidate}: {said}", file=sys.stderr)
                        continue
                    common = {"mpi": mpi.family.value, "candidate": candidate, "job": number}
                    rows += [common | row for row in rows_of(result.output, files, bounds)]
            write(rows, arguments)
            print(f"{mpi.family.value}: {number + 1} of {arguments.jobs} rounds", file=sys.stderr)


def rows_of(output: str, files: dict[str, str], bounds: dict[str, float]) -> Iterator[Row]:
    """What one job printed: a row per repetition."""
    uses: Counter[str] = Counter()
    for words in map(str.split, output.splitlines()):
        if len(words) == 2 and words[0] in files:
            demand = files[words[0]]
            uses[demand] += 1
            yield {"demand": demand, "use": uses[demand], "seconds": float(words[1]), "bound": bounds[demand]}


def ratios(rows: list[Row], demand: str, mpi: str, candidate: str) -> list[float]:
    """Time over bound of every repetition."""
    return [
        row["seconds"] / row["bound"]
        for row in rows
        if (row["demand"], row["mpi"], row["candidate"]) == (demand, mpi, candidate)
    ]


def table(rows: list[Row], candidates: list[str]) -> str:
    """Medians per demand and MPI, as Markdown."""
    lines = [
        f"| demand | MPI | {' | '.join(f'{name} / bound' for name in candidates)} | fastest | repetitions |",
        f"|---|---|{'---|' * (len(candidates) + 2)}",
    ]
    for demand, mpi in dict.fromkeys((row["demand"], row["mpi"]) for row in rows):
        cells, medians, count = [], {}, 0
        for candidate in candidates:
            values = ratios(rows, demand, mpi, candidate)
            count = max(count, len(values))
            if values:
                medians[candidate] = statistics.median(values)
                cells.append(f"{medians[candidate]:.3f} ({min(values):.3f}–{max(values):.3f})")
            else:
                cells.append("failed")
        fastest = min(medians, key=lambda name: medians[name]) if medians else ""
        lines.append(f"| {demand} | {mpi} | {' | '.join(cells)} | {fastest} | {count} |")
    return "\n".join(lines)


def write(rows: list[Row], arguments: argparse.Namespace) -> None:
    """Raw rows as JSON and medians as Markdown, with the settings and the date."""
    if arguments.output == "-":
        return
    settings = {k: v for k, v in vars(arguments).items() if k not in ("output", "mpi", "demand", "candidate")}
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    results = ROOT / "bench/results"
    document = {"date": date, "settings": settings, "rows": rows}
    (results / f"{arguments.output}.json").write_text(json.dumps(document, indent=1) + "\n")
    title = f"# Irregular exchange (MPI_Alltoallv) on the emulated cluster, {date}"
    note = (
        "\n\nMedian (minimum–maximum) of time / bound over all repetitions, the first use of the\n"
        "counts (there the exchange is planned) included; jobs of the candidates alternate. The bound is\n"
        "without packet headers (5 %). What the demands are: bench/lab/demands.py.\n"
    )
    text = f"{title}\n\n`{COMMAND}`; settings: `{settings}`\n\n{table(rows, arguments.candidate)}{note}"
    (results / f"{arguments.output}.md").write_text(text)


def main() -> None:
    """Measures what the command line asks for and writes the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--demand", action="append", required=True)
    parser.add_argument("--candidate", action="append")
    parser.add_argument("--together", action="store_true", help="all demands in one job, not a job each")
    parser.add_argument("--topology", choices=["b", "c"], default="c")
    parser.add_argument("--mpi", action="append", help="mpich, openmpi or the path of an mpiexec")
    parser.add_argument("--jobs", type=int, default=5, help="rounds of jobs")
    parser.add_argument("--repetitions", type=int, default=1, help="calls of each demand in a job")
    parser.add_argument("--rate", type=float, default=50, help="Mbit/s of every link")
    parser.add_argument("--buffer", type=int, default=60000, help="bytes per port")
    parser.add_argument("--cc", default="cubic")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--timeout", type=float, default=250, help="seconds per job")
    parser.add_argument("--output", default="lab-vector", help="name under bench/results/, or - for none")
    arguments = parser.parse_args()
    arguments.candidate = arguments.candidate or ["scheduled", "native"]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as work:
        for name in arguments.mpi or ["mpich"]:
            measure(find_mpi(name), arguments, Path(work), rows)
    print(table(rows, arguments.candidate))


if __name__ == "__main__":
    main()
