"""MPI_Alltoallv on the emulated cluster: candidates in turn (needs root).

    python bench/lab/vector.py --demand partners:28 --demand airfoil [--mpi mpich --mpi PATH/mpirun]
        [--candidate scheduled --candidate native --candidate RS_NL]

Candidates: ``native``; ``scheduled`` (what `hocket run` does); the name of an algorithm, which then serves
every call, with tokens, or with ``NAME/free`` in the order of the phases and nothing else. Jobs alternate;
what a native call does to the TCP connections would slow whatever follows in the same job.
Raw numbers and medians go to bench/results/lab-vector.{csv,md} as they come.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from demands import build
from run import NETWORKS, emulated, lab_options, lab_up, over_bound, settings_of

from hocket import _core
from hocket.launch.environment import RuntimeOptions, scheduled_environment
from hocket.launch.mpi import Mpi
from hocket.network import read_network_description

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpi_jobs import compiled, mpis
from results_file import Results, Row, alternating, begin, cells, grouped, spread


def environment(candidate: str, mpi: Mpi, network: _core.Network) -> dict[str, str]:
    """Environment that makes the ranks use the candidate."""
    if candidate == "native":
        return {}
    name, _, flow = candidate.partition("/")
    variables = scheduled_environment(
        mpi.mpicc, network, RuntimeOptions(flow_control=flow or "token", choose="off")
    )
    if name != "scheduled":
        variables |= {"HOCKET_ALGORITHM": name, "HOCKET_MIN_VECTOR_BYTES": "1"}
    return variables


def bound_of(network: _core.Network, matrix: np.ndarray) -> float:
    """Seconds that no exchange can beat, without packet headers."""
    src, dst = np.nonzero(matrix)
    demand = _core.Demand.irregular(len(matrix), src.tolist(), dst.tolist(), matrix[src, dst].tolist())
    return float(_core.lower_bounds(network, demand).seconds)


def measure(mpi: Mpi, arguments: argparse.Namespace, work: Path, results: Results) -> None:
    """One lab; the candidates' jobs in turn; a row per repetition."""
    description = read_network_description(str(NETWORKS / f"paper-{arguments.topology}.toml"))
    network = description.build()
    rate = arguments.rate * 1e6 / 8
    program = compiled(mpi, Path(__file__).with_name("vector_times.c"), work)
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
    with lab_up(description, arguments) as lab:
        for number in range(arguments.jobs):
            for candidate in alternating(environments, number):
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
                    results.add(*(common | row for row in rows_of(result.output, files, bounds)))
            print(f"{mpi.family.value}: {number + 1} of {arguments.jobs} rounds", file=sys.stderr)


def rows_of(output: str, files: dict[str, str], bounds: dict[str, float]) -> Iterator[Row]:
    """Rows of one job's output, one per repetition."""
    uses: Counter[str] = Counter()
    for words in map(str.split, output.splitlines()):
        if len(words) == 2 and words[0] in files:
            demand = files[words[0]]
            uses[demand] += 1
            yield {"demand": demand, "use": uses[demand], "seconds": float(words[1]), "bound": bounds[demand]}


def summary(heading: Row, rows: list[Row]) -> list[str]:
    """Medians per demand and MPI."""
    candidates = [*grouped(rows, "candidate")]
    told = []
    for key, of in grouped(rows, "demand", "mpi").items():
        ratios = over_bound(of)
        shown = [spread(ratios[name]) if name in ratios else "failed" for name in candidates]
        fastest = min(ratios, key=lambda name: statistics.median(ratios[name]))
        told.append([*key, *shown, fastest, max(map(len, ratios.values()))])
    columns = ["demand", "MPI", *(f"{name} / bound" for name in candidates), "fastest", "repetitions"]
    return [
        *emulated("Irregular exchange (MPI_Alltoallv)", heading),
        *cells(columns, told),
        "",
        "Median (minimum–maximum) of time / bound over all repetitions, the first use of the",
        "counts (there the exchange is planned) included; jobs of the candidates alternate. The bound is",
        "without packet headers (5 %). What the demands are: bench/lab/demands.py.",
    ]


def main() -> None:
    """Measures what the command line asks for and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--demand", action="append", required=True)
    parser.add_argument("--candidate", action="append")
    parser.add_argument("--together", action="store_true", help="all demands in one job, not a job each")
    parser.add_argument("--topology", choices=["b", "c"], default="c")
    parser.add_argument("--jobs", type=int, default=5, help="rounds of jobs")
    parser.add_argument("--repetitions", type=int, default=1, help="calls of each demand in a job")
    lab_options(parser, timeout=250)
    arguments, results = begin(parser, "lab-vector", summary)
    arguments.candidate = arguments.candidate or ["scheduled", "native"]
    results.heading |= {"topology": arguments.topology} | settings_of(arguments)
    with tempfile.TemporaryDirectory() as work:
        for mpi in mpis(arguments):
            measure(mpi, arguments, Path(work), results)
    print(results.summarise())


if __name__ == "__main__":
    main()
