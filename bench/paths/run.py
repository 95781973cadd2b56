"""Collective calls on an emulated fabric of routers that hash ports (needs root).

    python bench/paths/run.py [--mpi mpich --mpi PATH/mpirun] [--seeds 1 2 3 4 5] [--patterns all-to-all all-gather]

For each seed of the hash a fabric is built and its paths are found. Four candidates call in turn, a job each: native by
the hash; native on planned paths (HOCKET_PATHS=spread); the schedule by the hash; the schedule on planned paths.
--unpaced adds the last one without pacing. Ranks are in order for all-to-alls, at random for the others. On the first
--whole seeds jobs of --calls calls are timed as users run them, default settings, learning included; with --stated also
where the network states another rate. Raw numbers and medians go to bench/results/paths.{csv,md}; what a run that is
cut off has measured stays there.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from hocket.lab import Lab, LabOptions, RunResult
from hocket.launch.environment import RuntimeOptions, scheduled_environment
from hocket.launch.mpi import Mpi, mpi4py_environment
from hocket.launch.placement import VARIABLE
from hocket.network import read_known_network, read_network_description

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpi_jobs import add_mpi, compiled, mpis
from results_file import ROOT, Block, Results, Row, alternating, begin, cells, grouped, provenance, spread

TIMES = ROOT / "bench/lab/collective_times.c"
TOTAL = ROOT / "bench/choose/total_time.c"
NATIVE, SPREAD, HASHED, HELD = CANDIDATES = (
    "native, by hash", "native, spread", "schedule, by hash", "schedule, held",
)  # fmt: skip
UNPACED = "schedule, held, unpaced"
DEFAULT = "default settings"
CALLS = {"all-to-all": "alltoall", "all-gather": "allgather", "all-reduce": "allreduce"}
SAID = re.compile(
    r"paths: (\d+) connections on ports of the plan; \d+ ports taken, (\d+) connections left as asked,"
    r" \d+ bound before, (\d+) listeners elsewhere"
)
SETTINGS = ("fabric", "buffer", "cc", "repetitions")


@dataclass(frozen=True, slots=True)
class Fabric:
    """A lab that is up, its network without and with paths, and how these were found."""

    lab: Lab
    seed: int
    plain: str
    found: str
    how: Row


def environment(mpi: Mpi, network: str, word: str, choose: str | None) -> dict[str, str]:
    with patch.dict(os.environ, {VARIABLE: word}):  # as the user would set it
        known = read_known_network(network)
        return scheduled_environment(mpi.mpicc, known, RuntimeOptions(choose=choose, log=1))


def discovered(lab: Lab, mpi: Mpi, fabric: str, work: Path) -> tuple[str, Row]:
    """The network with its paths, and what finding them took."""
    path = str(work / "found.toml")
    command = [sys.executable, "-m", "hocket", "network", "discover", "--paths", fabric, "-o", path, "--json"]
    result = lab.run(command, mpi=mpi, env=mpi4py_environment(mpi), timeout=120, capture=True)
    lines = done(result, "discover").splitlines()
    told = json.loads(next(line for line in lines if line.startswith("{")))
    return path, {"found_in": told["seconds"], "packets": told["packets_per_pair"], "silent": told["silent"]}


def stating(rate: str, network: str) -> str:
    """The network in a file that states another rate."""
    path = Path(network).with_name("stated.toml")
    path.write_text(re.sub(r'rate = "[^"]*"', f'rate = "{rate}"', Path(network).read_text()))
    return str(path)


def done(result: RunResult, what: str) -> str:
    if result.exit_code != 0:
        sys.exit(f"{what}: exit code {result.exit_code}\n{result.output}")
    return result.output


def held(output: str) -> Row:
    """Counts of the ranks whose line came through: connections on ports of the plan, those to hosts of the plan that
    were left, and listeners that found their port taken."""
    said = [[int(count) for count in counts] for counts in SAID.findall(output)]
    names = ("held", "left", "listeners_elsewhere")
    return {name: sum(counts[i] for counts in said) for i, name in enumerate(names)} | {"told": len(said)}


def bound(fabric: Fabric, pattern: str, size: int) -> float:
    """Seconds that a host's link takes for what it must carry: at full bisection the spines take no longer."""
    network = read_known_network(fabric.plain).network
    others = network.ranks - 1
    shares = 2 * others / network.ranks if pattern == "all-reduce" else others
    return float(shares * size / network.host_rate)


def row_of(
    fabric: Fabric, mpi: Mpi, pattern: str, size: int, calls: int, candidate: str, seconds: str
) -> Row:
    row = {"mpi": mpi.family.value, "seed": fabric.seed, "pattern": pattern, "bytes": size, "calls": calls}
    limit = calls * bound(fabric, pattern, size)
    return row | {"candidate": candidate, "seconds": float(seconds), "bound": limit}


def calls(fabric: Fabric, mpi: Mpi, pattern: str, arguments: argparse.Namespace, work: Path) -> Iterator[Row]:
    """A row for each call, a job for each candidate."""
    program = compiled(mpi, TIMES, work)
    environments: dict[str, dict[str, str]] = {
        NATIVE: {},
        SPREAD: environment(mpi, fabric.found, "spread", "off"),
        HASHED: environment(mpi, fabric.plain, "off", "off"),
        HELD: environment(mpi, fabric.found, "hold", "off"),
    }
    if arguments.unpaced:  # by a table of paths that says no rate
        table, unpaced = Path(environments[HELD][VARIABLE].partition(":")[2]), work / "unpaced.txt"
        unpaced.write_text(re.sub(r"^pace .*\n", "", table.read_text(), flags=re.MULTILINE))
        environments[UNPACED] = environments[HELD] | {VARIABLE: f"hold:{unpaced}"}
    size = arguments.bytes * (fabric.lab.ranks if pattern == "all-reduce" else 1)
    command = [str(program), CALLS[pattern], f"{size}:{arguments.repetitions}"]
    shuffle = None if pattern == "all-to-all" else fabric.seed
    for candidate, env in alternating(environments.items(), fabric.seed):
        result = fabric.lab.run(command, mpi=mpi, env=env, timeout=150, capture=True, shuffle=shuffle)
        output = done(result, f"{mpi.family.value}, {pattern}, {candidate}")
        for seconds in re.findall(rf"^{size} ([\d.]+)$", output, re.MULTILINE):
            yield row_of(fabric, mpi, pattern, size, 1, candidate, seconds) | held(output) | fabric.how


def whole(fabric: Fabric, mpi: Mpi, pattern: str, arguments: argparse.Namespace, work: Path) -> Iterator[Row]:
    """A row for a job of many calls: natively, and with Hocket as users start it."""
    program = compiled(mpi, TOTAL, work)
    command = [str(program), CALLS[pattern], str(arguments.bytes), str(arguments.calls)]
    environments = {NATIVE: {}, DEFAULT: environment(mpi, fabric.found, "hold", None)}
    for rate in arguments.stated:
        wrong = stating(rate, fabric.found)
        environments[f"{DEFAULT}; {rate} stated"] = environment(mpi, wrong, "hold", None)
    for candidate, env in alternating(environments.items(), fabric.seed):
        with tempfile.TemporaryDirectory() as kept:  # nothing is known from earlier jobs
            choices = {"HOCKET_CHOICES": kept} if env else {}
            result = fabric.lab.run(command, mpi=mpi, env=env | choices, timeout=300, capture=True)
        output = done(result, f"{mpi.family.value}, {arguments.calls} calls, {candidate}")
        total = re.search(r"^total ([\d.]+) right$", output, re.MULTILINE)
        if total is None:
            sys.exit(f"{mpi.family.value}, {candidate}: wrong data\n{output}")
        row = row_of(fabric, mpi, pattern, arguments.bytes, arguments.calls, candidate, total[1])
        yield row | held(output) | fabric.how


def measure(seed: int, arguments: argparse.Namespace, results: Results, work: Path) -> None:
    description = read_network_description(arguments.fabric)
    options = LabOptions(None, arguments.buffer, arguments.cc, 1500, ecmp=True, ecmp_seed=seed)
    with Lab.up(description, options) as lab:
        for mpi in mpis(arguments):
            fabric = Fabric(lab, seed, arguments.fabric, *discovered(lab, mpi, arguments.fabric, work))
            for pattern in arguments.patterns:
                results.add(*calls(fabric, mpi, pattern, arguments, work))
                print(f"seed {seed}, {mpi.family.value}: {pattern}", file=sys.stderr)
            if seed in arguments.seeds[: arguments.whole]:
                results.add(*whole(fabric, mpi, "all-to-all", arguments, work))
                print(f"seed {seed}, {mpi.family.value}: {arguments.calls} calls", file=sys.stderr)


def over_bound(rows: list[Row]) -> dict[str, list[float]]:
    """Medians of the calls of a job over the bound, by candidate, one for each seed."""
    return {
        candidate: [
            statistics.median(row["seconds"] / row["bound"] for row in of_seed)
            for of_seed in grouped(of, "seed").values()
        ]
        for candidate, of in grouped(rows, "candidate").items()
    }


def table(rows: list[Row], ours: str) -> list[str]:
    """Times over the bound of all candidates that were measured, and how many times as fast ours is as native."""
    every = [*CANDIDATES, UNPACED, DEFAULT]
    measured = {row["candidate"] for row in rows}
    names = sorted(measured, key=lambda name: (every.index(name.split(";")[0]), name))
    told: list[list[object]] = []
    for key, of in grouped(rows, "mpi", "pattern", "bytes", "calls").items():
        by = over_bound(of)
        gain = f"{statistics.median(by[NATIVE]) / statistics.median(by[ours]):.2f}"
        whole = key if ours == DEFAULT else key[:3]
        told.append([*whole, *(spread(by[name], 2) for name in names), gain, len(by[NATIVE])])
    head = ["MPI", "pattern", "bytes", "calls"] if ours == DEFAULT else ["MPI", "pattern", "bytes"]
    return cells([*head, *names, f"native / {ours.split(', ')[-1].split()[0]}", "seeds"], told)


def summary(heading: Row, rows: list[Row]) -> list[Block]:
    """Medians over the seeds."""
    calls = [row for row in rows if row["calls"] == 1]
    jobs = [row for row in rows if row["calls"] > 1]
    found = sorted({(row["found_in"], row["packets"], row["silent"]) for row in rows})
    connections = {
        name: (sum(row["held"] for row in of), sum(row["held"] + row["left"] for row in of))
        for name, of in grouped(rows, "candidate").items()
        if name in (SPREAD, HELD, DEFAULT)
    }
    settings = ", ".join(f"{name} {heading[name]}" for name in SETTINGS)
    blocks: list[Block] = [
        "# Ethernet with many paths, on the emulated cluster",
        f"{provenance(heading)}; {settings}, load average {heading['load']} at the start.",
        table(calls, HELD),
        "Time over the bound of full bisection: median (minimum–maximum) over seeds of the hash, of each the "
        "median of\nthe calls of a job. Ranks are in order for all-to-alls, at random for the others. Every byte was "
        "compared.\nPacket headers take 5 % of the wires, which the bound leaves out.",
    ]
    if jobs:
        blocks += [table(jobs, DEFAULT), "Whole jobs as users start them, learning included."]
    return [
        *blocks,
        f"Finding paths took {found[0][0]:.1f} to {found[-1][0]:.1f} s and at most {max(f[1] for f in found)} packets\n"
        f"a pair; at most {max(f[2] for f in found)} ports were without an answer. Of the connections to hosts of the\n"
        "plan, as far as ranks told of them, these were on its ports: "
        + ", ".join(f"{name} {on} of {all_of}" for name, (on, all_of) in connections.items())
        + ".",
    ]


def main() -> None:
    """Measures what the command line asks for and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_mpi(parser)
    parser.add_argument("--fabric", default="fat-tree:4x4x4@50Mbit", help="leaves and spines")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--patterns", nargs="+", default=list(CALLS), choices=list(CALLS))
    parser.add_argument("--bytes", type=int, default=262144, help="of a message; all-reduces: for each rank")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--whole", type=int, default=2, metavar="SEEDS", help="with jobs of many calls")
    parser.add_argument("--unpaced", action="store_true", help="also the schedule on held paths, unpaced")
    parser.add_argument(
        "--stated", action="append", default=[], metavar="RATE", help="wrongly, in whole jobs"
    )
    parser.add_argument("--calls", type=int, default=24, help="of such a job")
    parser.add_argument("--buffer", type=int, default=60000, help="bytes per port")
    parser.add_argument("--cc", default="cubic")
    arguments, results = begin(parser, "paths", summary)
    results.heading |= {name: getattr(arguments, name) for name in SETTINGS}
    results.heading["load"] = f"{os.getloadavg()[0]:.1f}"
    with tempfile.TemporaryDirectory() as work:
        for seed in arguments.seeds:
            measure(seed, arguments, results, Path(work))
    print(results.summarise())


if __name__ == "__main__":
    main()
