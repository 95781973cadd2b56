"""The first scheduled start after the wheel is installed, without a compiler, beside the launcher alone.

    python bench/packaging/first_start.py WHEEL [--mpi mpich --mpi PATH/mpirun] [--runs 5]

Each run installs the wheel into a new environment and has an empty cache. Then a program of four ranks
starts by `hocket run`, by the launcher alone and by `hocket run` again; what it sends is checked. MPICH is
tried with its own ABI and with the standard one. Writes bench/results/first-start.{csv,md}; exits with 1 if
a median is above the target.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench" / "irregular"), str(ROOT / "tests")]

from records import RESULTS, measured  # noqa: E402

from hocket.mpi import Abi, Mpi, MpiFamily, find_mpi, launch_command  # noqa: E402
from wheel_place import bare_environment, install_wheel  # noqa: E402

COMMAND: Final = "python bench/packaging/first_start.py WHEEL"
PROGRAM: Final = ROOT / "tests/runtime/programs/alltoall_check.c"
TARGET_SECONDS: Final = 2.0
RANKS: Final = 4
COLUMNS: Final = ("mpi", "abi", "run", "first", "second", "native")


def seconds(command: list[str], environment: dict[str, str], scheduled: bool) -> float:
    """Wall time; ends this program if a byte is wrong, or if something was compiled."""
    begin = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    taken = time.perf_counter() - begin
    said = done.stdout + done.stderr
    right = done.returncode == 0 and " 0 wrong" in said and "building" not in said
    if not right or ("hocket: all-to-all of 4 ranks" in said) != scheduled:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{said[-3000:]}")
    return taken


def measure(wheel: str, mpi: Mpi, run: int, folder: Path) -> dict[str, object]:
    program = folder / "alltoall_check"
    subprocess.run([mpi.mpicc, "-O1", "-pthread", str(PROGRAM), "-o", str(program)], check=True, timeout=120)
    python = install_wheel(wheel, folder / "venv") / "python"
    environment = bare_environment(folder)
    where = ["--mpi", mpi.mpiexec, "--network", "chain:2,2", "-n", str(RANKS), "--placement", "order", "-v"]
    hocket = [str(python), "-m", "hocket.cli", "run", *where, "--", str(program), "1"]
    native = launch_command(mpi, RANKS, [], {}, [str(program), "1"])
    first = seconds(hocket, environment, True)
    alone = seconds(native, environment, False)
    second = seconds(hocket, environment, True)
    values = (mpi.family.value, mpi.abi.value, run, *(f"{value:.3f}" for value in (first, second, alone)))
    return dict(zip(COLUMNS, values, strict=True))


def table(rows: list[dict[str, object]]) -> str:
    stamp = measured(COMMAND)
    lines = [
        "# First start after the wheel is installed",
        "",
        f"`{stamp['command']}`, {stamp['date']}, {stamp['machine']}, shared with other work; load "
        f"{os.getloadavg()[0]:.0f} at the end. No compiler on PATH,",
        "an empty cache, a new environment each time. Seconds from `hocket run` to the end of a checked,",
        f"scheduled all-to-all program of {RANKS} ranks; medians (least to most). Target for what Hocket",
        f"adds at the first start: {TARGET_SECONDS:g} s.",
        "",
        "| MPI | ABI | runs | first start | second | launcher alone | first − launcher alone |",
        "|---|---|---|---|---|---|---|",
    ]
    for mpi, abi in dict.fromkeys((row["mpi"], row["abi"]) for row in rows):
        those = [row for row in rows if (row["mpi"], row["abi"]) == (mpi, abi)]
        columns = [[float(str(row[name])) for row in those] for name in ("first", "second", "native")]
        columns.append([first - native for first, native in zip(columns[0], columns[2], strict=True)])
        shown = [f"{median(values):.2f} ({min(values):.2f}–{max(values):.2f})" for values in columns]
        lines.append(f"| {mpi} | {abi} | {len(those)} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("wheel")
    parser.add_argument("--mpi", action="append", default=[])
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    mpis = [find_mpi(name) for name in arguments.mpi or ["mpich"]]
    mpis += [replace(mpi, abi=Abi.STANDARD) for mpi in mpis if mpi.family is MpiFamily.MPICH]
    rows = []
    for run in range(arguments.runs):
        for mpi in mpis:
            with tempfile.TemporaryDirectory(prefix="hocket-first-") as folder:
                rows.append(measure(str(Path(arguments.wheel).resolve()), mpi, run, Path(folder)))
                print(rows[-1], flush=True)
    with (RESULTS / "first-start.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (RESULTS / "first-start.md").write_text(table(rows), encoding="utf-8")
    for mpi in mpis:
        of_this = [row for row in rows if (row["mpi"], row["abi"]) == (mpi.family.value, mpi.abi.value)]
        if median(float(str(row["first"])) - float(str(row["native"])) for row in of_this) > TARGET_SECONDS:
            sys.exit(1)


main()
