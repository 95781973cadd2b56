"""Resident memory of a program that makes, uses and frees 10,000 communicators, with Hocket and without.

    python bench/runtime/many_comms.py [--mpi mpich --mpi PATH/mpirun] [--communicators 10000]

On each communicator: MPI_Alltoall, MPI_Allgather and MPI_Alltoallv, twice, every element checked; all of
them are scheduled. Resident memory is that of the largest rank. Writes bench/results/communicators.{json,md}.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench" / "irregular"), str(ROOT / "tests")]

from records import keep, measured  # noqa: E402

from hocket.mpi import Mpi, find_mpi, launch_command  # noqa: E402
from hocket.network import read_network  # noqa: E402
from hocket.runtime import RuntimeOptions, scheduled_environment  # noqa: E402
from scheduled_calls import EVERYTHING  # noqa: E402

COMMAND: Final = shlex.join(["python", *sys.argv]).replace(f"{ROOT}/", "")
PROGRAM: Final = ROOT / "tests" / "runtime" / "programs" / "many_comms.c"
NETWORK: Final = "chain:2,1"
COUNT: Final = 8  # ints per message


def resident(mpi: Mpi, program: Path, env: dict[str, str], communicators: int) -> dict[int, int]:
    """KiB, by the number of communicators that are through."""
    command = launch_command(mpi, 3, [], env, [str(program), str(communicators), str(COUNT)])
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    if done.returncode != 0 or " 0 wrong" not in done.stdout:
        sys.exit(
            f"{mpi.family.value}: exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    scheduled = done.stderr.count("all-to-all of 3 ranks")
    if env and scheduled != communicators:
        sys.exit(f"{mpi.family.value}: {scheduled} of {communicators} communicators were scheduled")
    return {int(step): int(kib) for step, kib in re.findall(r"rss (\d+) (\d+)", done.stdout)}


def table(report: dict[str, Any]) -> str:
    steps = [*report["cases"][0]["kib"]]
    lines = [
        "# Communicators that come and go",
        "",
        f"`{report['command']}`, {report['date']}, {report['machine']}.",
        f"{NETWORK}, 3 ranks on this one machine. Each communicator: all-to-all, all-gather and",
        f"irregular all-to-all of {COUNT} ints per message, twice, checked; then it is freed. Under Hocket",
        "all of these are scheduled, on a private communicator each. Resident memory of the largest rank,",
        "KiB, when so many are through.",
        "",
        f"| MPI | | {' | '.join(f'{int(step):,}' for step in steps)} |",
        "|---" * (len(steps) + 2) + "|",
    ]
    for case in report["cases"]:
        kib = " | ".join(f"{case['kib'][step]:,}" for step in steps)
        lines.append(f"| {case['mpi']} | {case['with']} | {kib} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mpi", action="append", help="mpich, openmpi or the path of an mpiexec")
    parser.add_argument("--communicators", type=int, default=10000)
    parser.add_argument("--output", default="communicators", help="name under bench/results/, or - for none")
    options = parser.parse_args()
    report = measured(COMMAND) | {"cases": []}
    with tempfile.TemporaryDirectory() as work:
        for name in options.mpi or ["mpich"]:
            mpi = find_mpi(name)
            program = Path(work) / f"many_comms-{mpi.family.value}"
            subprocess.run([mpi.mpicc, "-O2", str(PROGRAM), "-o", str(program)], check=True)
            chosen = RuntimeOptions(placement="order", log=1)
            hocket = scheduled_environment(mpi.mpicc, read_network(NETWORK), chosen) | EVERYTHING
            for label, env in (("without Hocket", {}), ("with Hocket", hocket)):
                kib = resident(mpi, program, env, options.communicators)
                case = {
                    "mpi": mpi.family.value,
                    "with": label,
                    "kib": {str(step): rss for step, rss in kib.items()},
                }
                report["cases"].append(case)
                if options.output != "-":
                    keep(options.output, report, table)
    print(table(report))


if __name__ == "__main__":
    main()
