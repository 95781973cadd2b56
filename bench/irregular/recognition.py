"""What recognising a repeated MPI_Alltoallv adds to a call, in 8-byte allreduces.

    python bench/irregular/recognition.py [--mpi mpich --mpi PATH/mpirun] [--bytes 1024] [--rounds 100]

Under the preload library, in turn within one job: calls that are recognised; the same exchange as a
persistent request, which nobody has to recognise; two kinds of reductions. For a machine that does nothing
else; at least three ranks, best of all a core for each. Writes bench/results/recognition.{json,md}.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

from records import keep, measured

from hocket import _core
from hocket.mpi import Mpi, find_mpi, launch_command
from hocket.network import read_network_description
from hocket.runtime import RuntimeOptions, scheduled_environment

ROOT: Final = Path(__file__).resolve().parents[2]
COMMAND: Final = shlex.join(["python", *sys.argv]).replace(f"{ROOT}/", "")
KINDS: Final = ("recognised", "persistent", "allreduce", "yielding")  # columns of recognition.c
REFERENCES: Final = KINDS[2:]
COLUMNS: Final = (
    *("MPI", "ranks", "bytes", *KINDS, "added"),
    *(f"added / {reference}" for reference in REFERENCES),
)
PLANNED: Final = 2  # exchanges that a job plans: for the calls, for the request

Seconds = dict[str, Sequence[float]]  # per call, by kind and round


def compiled(mpi: Mpi, work: Path) -> Path:
    program = work / f"recognition-{mpi.family.value}"
    subprocess.run([mpi.mpicc, "-O2", str(Path(__file__).with_suffix(".c")), "-o", str(program)], check=True)
    return program


def job(mpi: Mpi, program: Path, network: _core.Network, size: int, options: argparse.Namespace) -> Seconds:
    chosen = RuntimeOptions(placement="order", min_vector_bytes=1, log=1)
    env = scheduled_environment(mpi.mpicc, network, chosen)
    env |= {"HOCKET_MIN_FLOWS": "1"} | dict(pair.split("=", 1) for pair in options.env)
    command = [str(program), *map(str, (size, options.rounds, options.calls))]
    done = subprocess.run(
        launch_command(mpi, network.ranks, [], env, command),
        capture_output=True,
        text=True,
        timeout=options.timeout,
        check=False,
    )
    what = f"{mpi.family.value}, {size} bytes"
    if done.returncode != 0:
        sys.exit(f"{what}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    if done.stderr.count("irregular exchange of") != PLANNED:
        sys.exit(f"{what}: not scheduled, there is nothing to recognise\n{done.stderr}")
    rounds = [map(float, line.split()) for line in done.stdout.splitlines()]
    return dict(zip(KINDS, zip(*rounds, strict=True), strict=True))


def added(seconds: Seconds) -> list[float]:
    """Per round."""
    return [a - b for a, b in zip(seconds["recognised"], seconds["persistent"], strict=True)]


def ratio(seconds: Seconds, reference: str) -> str:
    ratios = [a / b for a, b in zip(added(seconds), seconds[reference], strict=True)]
    low, middle, high = quantiles(ratios, n=4)
    return f"{middle:.2f} ({low:.2f}–{high:.2f})"


def table(report: dict[str, Any]) -> str:
    lines = [
        "# What recognising a repeated MPI_Alltoallv costs",
        "",
        f"`{report['command']}`, {report['date']}, {report['machine']}, Python {report['python']}.",
        f"{report['network']}, ranks in order on this one machine, preload library, `HOCKET_MIN_FLOWS=1`,",
        f"`HOCKET_MIN_VECTOR_BYTES=1`. In one job, in turn: blocks of {report['calls']} calls of",
        "`MPI_Alltoallv` with counts used before (recognised); start and wait of",
        "`MPI_Alltoallv_init` with the same arguments (persistent); `MPI_Allreduce` of 8 bytes; that",
        "reduction as `MPI_Iallreduce`, with `sched_yield` between tests (yielding). Median µs per call,",
        "on the slowest rank. Added: recognised − persistent of the same round. Ratios: median",
        f"(quartiles) over {report['rounds']} rounds. Where ranks outnumber cores, an MPI that polls in",
        "`MPI_Allreduce` takes the processor from the ranks it waits for; there the last column is the",
        "stricter comparison.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        "|---" * len(COLUMNS) + "|",
    ]
    for case in report["cases"]:
        seconds = case["seconds"]
        columns = [*(seconds[kind] for kind in KINDS), added(seconds)]
        medians = [f"{1e6 * median(column):.1f}" for column in columns]
        cells = [case["mpi"], case["ranks"], f"{case['bytes']:,}", *medians]
        cells += [ratio(seconds, reference) for reference in REFERENCES]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mpi", action="append", help="mpich, openmpi or the path of an mpiexec")
    parser.add_argument("--network", default="chain:2,2", help="with a place for each rank")
    parser.add_argument(
        "--bytes", type=int, nargs="+", default=[64, 1024, 16384], help="of the smallest message"
    )
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--calls", type=int, default=20, help="in a row, of each kind in each round")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="for the ranks")
    parser.add_argument("--timeout", type=float, default=300, help="seconds per job")
    parser.add_argument("--output", default="recognition", help="name under bench/results/, or - for none")
    options = parser.parse_args()
    network = read_network_description(options.network).build()
    report = measured(COMMAND)
    report |= {name: getattr(options, name) for name in ("network", "rounds", "calls")} | {"cases": []}
    with tempfile.TemporaryDirectory() as work:
        for name in options.mpi or ["mpich"]:
            mpi = find_mpi(name)
            program = compiled(mpi, Path(work))
            for size in options.bytes:
                seconds = job(mpi, program, network, size, options)
                case = {"mpi": mpi.family.value, "ranks": network.ranks, "bytes": size, "seconds": seconds}
                report["cases"].append(case)
                if options.output != "-":
                    keep(options.output, report, table)
                print(f"{mpi.family.value}, {size} bytes: done", file=sys.stderr)
    print(table(report))


if __name__ == "__main__":
    main()
