"""The first scheduled start after the wheel is installed, without a compiler, beside the launcher alone.

    python bench/packaging/first_start.py WHEEL [--mpi mpich --mpi PATH/mpirun] [--runs 5]

Each run installs the wheel into a new environment and has an empty cache. Then a program of four ranks
starts by `hocket run`, by the launcher alone and by `hocket run` again; what it sends is checked. MPICH is
tried with its own ABI and with the standard one. Writes bench/results/first-start.{csv,md}; exits with 1 if
a median is above the target.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Final

from hocket.launch.mpi import Abi, Mpi, MpiFamily, find_mpi, launch_command

sys.path.extend([str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "tests")])
from results_file import ROOT, Row, begin, cells, grouped, provenance, spread
from wheel_place import bare_environment, install_wheel

PROGRAM: Final = ROOT / "tests/runtime/programs/call_grid.c"
TARGET_SECONDS: Final = 2.0
RANKS: Final = 4


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


def measure(wheel: str, mpi: Mpi, run: int, folder: Path) -> Row:
    program = folder / "call_grid"
    subprocess.run([mpi.mpicc, "-O1", "-pthread", str(PROGRAM), "-o", str(program)], check=True, timeout=120)
    python = install_wheel(wheel, folder / "venv") / "python"
    environment = bare_environment(folder)
    where = ["--mpi", mpi.mpiexec, "--network", "chain:2,2", "-n", str(RANKS), "--placement", "order", "-v"]
    hocket = [str(python), "-m", "hocket", "run", *where, "--", str(program)]
    native = launch_command(mpi, RANKS, [], {}, [str(program)])
    first = seconds(hocket, environment, True)
    alone = seconds(native, environment, False)
    second = seconds(hocket, environment, True)
    times = {"first": first, "second": second, "native": alone}
    where = {"mpi": mpi.family.value, "abi": mpi.abi.value, "run": run}
    return where | {name: round(taken, 3) for name, taken in times.items()}


def added(rows: list[Row]) -> list[float]:
    """Seconds at the first start, by run."""
    return [row["first"] - row["native"] for row in rows]


def line(key: tuple[str, str], rows: list[Row]) -> list[object]:
    columns = [[row[name] for row in rows] for name in ("first", "second", "native")]
    return [*key, len(rows), *(spread(column, 2) for column in (*columns, added(rows)))]


def summary(heading: Row, rows: list[Row]) -> list[str]:
    return [
        "# First start after the wheel is installed",
        "",
        f"{provenance(heading)}, shared with other work; load "
        f"{heading['load']:.0f} at the end. No compiler on PATH,",
        "an empty cache, a new environment each time. Seconds from `hocket run` to the end of a checked,",
        f"scheduled all-to-all program of {RANKS} ranks; medians (least to most). Target for what Hocket",
        f"adds at the first start: {TARGET_SECONDS:g} s.",
        "",
        *cells(
            ("MPI", "ABI", "runs", "first start", "second", "launcher alone", "first − launcher alone"),
            (line(*item) for item in grouped(rows, "mpi", "abi").items()),
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel")
    parser.add_argument("--mpi", action="append", default=[])
    parser.add_argument("--runs", type=int, default=5)
    options, results = begin(parser, "first-start", summary)
    mpis = [find_mpi(name) for name in options.mpi or ["mpich"]]
    mpis += [replace(mpi, abi=Abi.STANDARD) for mpi in mpis if mpi.family is MpiFamily.MPICH]
    for run in range(options.runs):
        for mpi in mpis:
            with tempfile.TemporaryDirectory(prefix="hocket-first-") as folder:
                row = measure(str(Path(options.wheel).resolve()), mpi, run, Path(folder))
            results.heading["load"] = round(os.getloadavg()[0], 1)
            results.add(row)
            print(row, flush=True)
    if any(median(added(rows)) > TARGET_SECONDS for rows in grouped(results.rows, "mpi", "abi").values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
