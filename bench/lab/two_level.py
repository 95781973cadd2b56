"""Hosts with several ranks on the emulated cluster: native calls, each rank for itself, and aggregates (needs root).

    python bench/lab/two_level.py [--mpi mpich --mpi PATH/mpirun] [--network "8 x 4"] [--jobs 3]

Jobs of all candidates alternate. Short calls are timed in a row. Besides the library's own call: Open MPI's with HAN
switched on, and an all-to-all that a program makes of gather, exchange and scatter. Raw numbers and medians go to
bench/results/lab-two-level.{csv,md}.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from run import PROGRAM, bound, emulated, lab_options, lab_up, settings_of

from hocket.lab import Lab
from hocket.launch.environment import RuntimeOptions, scheduled_environment
from hocket.launch.mpi import Mpi, MpiFamily
from hocket.network import read_network_description

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpi_jobs import compiled, mpis
from results_file import Row, alternating, begin, cells, grouped, spread

NETWORKS = {"8 x 4": "chain:2,2,2,2*4", "4 x 8": "chain:2,2*8"}
TWO_LEVEL = ("two-level-1", "two-level-2", "two-level-order", "two-level-native", "two-level-leaders")
# Collective, the call of collective_times, distribution of ranks, sizes, and the candidate of each rank for itself;
# none: irregular calls are planned for their sizes. Those are of up to twice the average, or of SIZE between 10 % of
# pairs.
CASES = (
    ("all-to-all", "alltoall", "block", ("8:3:40", "64:3:40", "1024:3:5", "8192:2", "65536:1"), "window-1"),
    ("all-to-all", "alltoall", "cyclic", ("8:3:40", "1024:3:5"), "window-1"),
    ("all-gather", "allgather", "block", ("1024:3:10", "65536:2"), "window-2"),
    ("all-gather", "allgather", "cyclic", ("1024:3:10", "65536:2"), "window-2"),
    ("all-reduce", "allreduce", "block", ("1048576:2",), "window-2"),
    ("Alltoallv, all pairs", "alltoallv", "block", ("16:3:20", "2048:3:3", "16384:2"), ""),
    ("Alltoallv, all pairs", "alltoallv", "cyclic", ("16:3:20",), ""),
    ("Alltoallv, 10 % of pairs", "alltoallvsparse", "block", ("8:3:20", "1024:3:5"), ""),
)
# Mean message size as a share of SIZE, over all pairs.
IRREGULAR = {"Alltoallv, all pairs": 0.5, "Alltoallv, 10 % of pairs": 0.1}


@dataclass(frozen=True, slots=True)
class Candidate:
    call: str
    env: dict[str, str]


def candidates(collective: str, call: str, candidate: str, mpi: Mpi, network: object) -> dict[str, Candidate]:
    scheduled = scheduled_environment(mpi.mpicc, network, RuntimeOptions(choose="off"))  # type: ignore[arg-type]
    found = {"native": Candidate(call, {})}
    if mpi.family is MpiFamily.OPENMPI:
        found["native, HAN"] = Candidate(call, {"OMPI_MCA_coll_han_priority": "100"})
    if collective == "all-to-all":
        found["by hand"] = Candidate("alltoallbyhosts", {})
    for name in (candidate, *TWO_LEVEL) if candidate else TWO_LEVEL:
        found[name] = Candidate(call, scheduled | {"HOCKET_CANDIDATE": name})
    return found


def job(
    lab: Lab,
    mpi: Mpi,
    program: Path,
    candidate: Candidate,
    sizes: tuple[str, ...],
    distribution: str,
    timeout: float,
) -> list[tuple[int, float]]:
    """Size and seconds of each repetition; what does not end in time has none."""
    command = [str(program), candidate.call, *sizes]
    done = lab.run(
        command, mpi=mpi, env=candidate.env, timeout=timeout, capture=True, cyclic=distribution == "cyclic"
    )
    if done.exit_code not in (0, 124):
        sys.exit(f"{mpi.family.value}, {command}: exit code {done.exit_code}\n{done.output}")
    lines = [line.split() for line in done.output.splitlines()]
    return [(int(words[0]), float(words[1])) for words in lines if len(words) == 2 and words[0].isdigit()]


def measure(name: str, mpi: Mpi, arguments: argparse.Namespace, program: Path) -> list[Row]:
    description = read_network_description(NETWORKS[name])
    network, rate = description.build(), arguments.rate * 1e6 / 8
    rows: list[Row] = []
    with lab_up(description, arguments) as lab:
        for collective, call, distribution, sizes, candidate in CASES:
            if arguments.collective and collective not in arguments.collective:
                continue
            found = candidates(collective, call, candidate, mpi, network)
            for number in range(arguments.jobs):
                for candidate in alternating(found, number):
                    what = found[candidate]
                    for size, seconds in job(lab, mpi, program, what, sizes, distribution, arguments.timeout):
                        row = {"hosts x ranks": name, "mpi": mpi.family.value, "collective": collective}
                        row |= {"distribution": distribution, "bytes": size, "job": number}
                        row |= {"candidate": candidate, "seconds": seconds}
                        share = IRREGULAR.get(collective, 1.0)
                        regular = "all-to-all" if collective in IRREGULAR else collective
                        rows.append(row | {"bound": share * bound(network, regular, size, rate)})
            print(f"{name} {mpi.family.value}: {collective}, {distribution}", file=sys.stderr)
    return rows


def summary(heading: Row, rows: list[Row]) -> list[str]:
    """Medians of each case, the candidates beside each other."""
    told = []
    for key, of in grouped(rows, "hosts x ranks", "mpi", "collective", "distribution", "bytes").items():
        seconds = {name: [row["seconds"] for row in some] for name, some in grouped(of, "candidate").items()}
        native = min(
            (statistics.median(seconds[name]) for name in seconds if name.startswith("native")), default=None
        )
        best = min(
            (name for name in seconds if name.startswith("two-level")),
            key=lambda name: statistics.median(seconds[name]),
        )
        gain = f"{native / statistics.median(seconds[best]):.2f}" if native else "—"
        others = [
            f"{name} {1e3 * statistics.median(some):.1f}"
            for name, some in seconds.items()
            if name not in ("native", best)
        ]
        ours, theirs = (
            spread([1e3 * s for s in seconds[name]], 1) if name in seconds else "—"
            for name in (best, "native")
        )
        limit = f"{1e3 * of[0]['bound']:.1f}"
        told.append([*key, limit, theirs, f"{best} {ours}", gain, ", ".join(others)])
    columns = ["hosts × ranks", "MPI", "collective", "distribution", "bytes", "bound", "native"]
    return [
        *emulated("Several ranks a host", heading),
        *cells([*columns, "best aggregate", "gain", "others"], told),
        "",
        "Milliseconds a call, median (minimum–maximum); jobs of all candidates alternate. Gain: the library's own",
        "call, with HAN where that is faster, over the best aggregate. The bound is what the wires must carry / rate,",
        "without packet headers (5 %). 32 ranks share two cores here: short calls show how often processes are woken.",
        f"—, or not among the others: a job of it took more than {heading.get('timeout', 60):g} s.",
    ]


def main() -> None:
    """Measures what the command line asks for and writes the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", action="append", choices=sorted(NETWORKS))
    parser.add_argument("--collective", action="append", choices=sorted({case[0] for case in CASES}))
    parser.add_argument("--jobs", type=int, default=3, help="jobs of each candidate")
    lab_options(parser, timeout=60)
    arguments, results = begin(parser, "lab-two-level", summary)
    results.heading |= settings_of(arguments) | {"timeout": arguments.timeout}
    with tempfile.TemporaryDirectory() as work:
        for name in arguments.network or NETWORKS:
            for mpi in mpis(arguments):
                results.add(*measure(name, mpi, arguments, compiled(mpi, PROGRAM, Path(work))))
    print(results.summarise())


if __name__ == "__main__":
    main()
