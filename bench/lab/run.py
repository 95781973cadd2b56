"""Scheduled against native collective calls on the emulated cluster (needs root).

    python bench/lab/run.py [all-gather] [--mpi mpich --mpi PATH/mpirun] [--topology b] [--sizes 262144:1]
        [--shuffle 1 --shuffle 2]

Jobs alternate: scheduled, native, native, scheduled, … Not within one job, because what the native call
does to the TCP connections (tens of thousands of retransmissions) would slow the scheduled call that
follows on them. Raw numbers and medians go to bench/results/lab.{csv,md}.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from hocket import _core
from hocket.demand.collectives import COLLECTIVES, GATHER
from hocket.lab import Lab, LabOptions
from hocket.launch.environment import RuntimeOptions, scheduled_environment
from hocket.launch.mpi import Mpi
from hocket.network import NetworkDescription, read_network_description

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpi_jobs import add_mpi, compiled, mpis
from results_file import ROOT, Block, Row, alternating, begin, cells, grouped, provenance, spread

NETWORKS = ROOT / "examples/networks"
TOPOLOGIES = {"b": NETWORKS / "paper-b.toml", "c": NETWORKS / "paper-c.toml"}
PROGRAM = Path(__file__).with_name("collective_times.c")
# Collectives that calls of equal messages use.
CALLS = {name: name for name, entry in COLLECTIVES.items() if not entry.by_matrix} | {"gatherv": GATHER}
SETTINGS = ("pattern", "rate", "buffer", "cc", "flow", "env", "together", "repetitions")


def lab_options(parser: argparse.ArgumentParser, timeout: float) -> None:
    add_mpi(parser)
    parser.add_argument("--rate", type=float, default=50, help="Mbit/s of every link")
    parser.add_argument("--buffer", type=int, default=60000, help="bytes per port")
    parser.add_argument("--cc", default="cubic")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="with schedules")
    parser.add_argument("--timeout", type=float, default=timeout, help="seconds per job")


def lab_up(description: NetworkDescription, arguments: argparse.Namespace) -> AbstractContextManager[Lab]:
    return Lab.up(description, LabOptions(arguments.rate * 1e6 / 8, arguments.buffer, arguments.cc, 1500))


def environments_of(
    arguments: argparse.Namespace, mpi: Mpi, network: _core.Network, flow: str = "token"
) -> dict[str, dict[str, str]]:
    """Scheduled and native."""
    scheduled = scheduled_environment(mpi.mpicc, network, RuntimeOptions(flow_control=flow, choose="off"))
    return {"scheduled": scheduled | dict(pair.split("=", 1) for pair in arguments.env), "native": {}}


def job(
    lab: Lab, mpi: Mpi, command: Sequence[object], arguments: argparse.Namespace, **how: Any
) -> list[tuple[int, float]]:
    """One job of PROGRAM: size and seconds of each repetition. ``how``: as of ``Lab.run``."""
    words = [str(word) for word in command]
    result = lab.run(words, mpi=mpi, timeout=arguments.timeout, capture=True, **how)
    if result.exit_code != 0:
        sys.exit(f"{mpi.family.value}: exit code {result.exit_code}\n{result.output}")
    lines = [line.split() for line in result.output.splitlines()]
    return [(int(words[0]), float(words[1])) for words in lines if len(words) == 2 and words[0].isdigit()]


def measure(
    topology: str, mpi: Mpi, arguments: argparse.Namespace, program: Path, shuffle: int | None
) -> list[Row]:
    """One lab; jobs of both candidates in turn; a row per repetition. ``shuffle``: seed of the placement."""
    description = read_network_description(str(TOPOLOGIES.get(topology, topology)))
    rate = arguments.rate * 1e6 / 8
    network = description.build()
    environments = environments_of(arguments, mpi, network, arguments.flow)
    command = [program, arguments.pattern.replace("-", ""), *arguments.sizes]
    rows: list[Row] = []
    with lab_up(description, arguments) as lab:
        for number in range(arguments.jobs):
            for candidate in alternating(environments, number):
                how = {"env": environments[candidate], "shuffle": shuffle}
                for size, seconds in job(lab, mpi, command, arguments, **how):
                    row = {"topology": topology, "mpi": mpi.family.value, "bytes": size, "job": number}
                    row |= {"placement": "in order" if shuffle is None else f"random, seed {shuffle}"}
                    row |= {"candidate": candidate, "seconds": seconds}
                    rows.append(row | {"bound": bound(network, arguments.pattern, size, rate)})
            where = f"{topology} {mpi.family.value}" + ("" if shuffle is None else f", placement {shuffle}")
            print(f"{where}: {number + 1} of {arguments.jobs} pairs", file=sys.stderr)
    return rows


def bound(network: _core.Network, collective: str, size: int, rate: float) -> float:
    """Seconds, if all links were of this rate."""
    demand = COLLECTIVES[CALLS[collective]].demand(network.ranks, size, 0)
    return float(_core.lower_bounds(network, demand).seconds) * network.host_rate / rate


def settings_of(arguments: argparse.Namespace) -> Row:
    """Settings that are the same for all rows and describe the lab."""
    return {name: value for name, value in vars(arguments).items() if name in SETTINGS}


def emulated(what: str, heading: Row) -> list[Block]:
    """The first blocks of a summary."""
    told = ", ".join(f"{name} {heading[name]}" for name in SETTINGS if heading.get(name) is not None)
    return [f"# {what} on the emulated cluster", f"{provenance(heading)}; {told}."]


def over_bound(rows: list[Row]) -> dict[str, list[float]]:
    """Times over the bound, by candidate."""
    return {
        name: [row["seconds"] / row["bound"] for row in of] for name, of in grouped(rows, "candidate").items()
    }


def summary(heading: Row, rows: list[Row]) -> list[Block]:
    """Medians per topology, MPI and size."""
    told = []
    for key, of in grouped(rows, "topology", "mpi", "placement", "bytes").items():
        ratios = over_bound(of)
        scheduled, native = ratios["scheduled"], ratios["native"]
        faster = statistics.median(native) / statistics.median(scheduled)
        told.append([*key, spread(scheduled), spread(native), f"{faster:.3f}", len(native)])
    columns = ["topology", "MPI", "placement", "bytes", "scheduled / bound", "native / bound"]
    return [
        *emulated(heading["pattern"].capitalize(), heading),
        cells([*columns, "native / scheduled", "repetitions"], told),
        "Median (minimum–maximum) of time / bound; jobs of both candidates alternate. The bound is\n"
        "what the wires must carry / rate, without packet headers (5 %).",
    ]


def main() -> None:
    """Measures what the command line asks for and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern", nargs="?", default="all-to-all", choices=list(CALLS))
    parser.add_argument("--shuffle", action="append", type=int, metavar="SEED", help="random placements")
    parser.add_argument("--in-order", action="store_true", help="besides --shuffle, ranks in order")
    parser.add_argument("--topology", action="append", help="b, c or a network")
    parser.add_argument("--sizes", nargs="+", default=["262144:1", "65536:2", "8192:5", "1024:5"])
    parser.add_argument("--jobs", type=int, default=5, help="pairs of jobs")
    parser.add_argument("--flow", default="token")
    lab_options(parser, timeout=150)
    arguments, results = begin(parser, "lab", summary)
    results.heading |= settings_of(arguments)
    with tempfile.TemporaryDirectory() as work:
        for mpi in mpis(arguments):
            program = compiled(mpi, PROGRAM, Path(work))
            placements: list[int | None] = [*(arguments.shuffle or [])]
            if arguments.in_order or not placements:
                placements.insert(0, None)
            for topology in arguments.topology or sorted(TOPOLOGIES):
                for shuffle in placements:
                    results.add(*measure(topology, mpi, arguments, program, shuffle))
    print(results.summarise())


if __name__ == "__main__":
    main()
