"""Whole programs in the lab, with Hocket by its defaults and without: wall time from the launcher's start to its end.

    python bench/programs/run.py PROGRAM… [--mpi mpich] [--python PYTHON] [--shuffle 1] [--pairs 1] [--append]

PROGRAM: pencils, gradients and sort need a PYTHON with mpi4py, mpi4py-fft and scipy; integers needs is.A.32 of NASA's
parallel benchmarks, compiled for the MPI; salt needs LAMMPS (lmp), silicon Quantum ESPRESSO (pw.x), of Debian's
packages lammps and quantum-espresso for example (with --mpi
/usr/bin/mpirun.openmpi). Jobs with and without take turns; nothing is known from before. Needs root. Writes
bench/results/programs.{csv,md}.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from mpi_jobs import add_mpi, mpis
from results_file import Block, Row, begin, cells, grouped, provenance

HERE = Path(__file__).parent
NETWORK = "chain:8,8,8,8"
PROGRAMS = {  # command, and what it does
    "pencils": (
        "{python} {here}/applications.py pencils 128 6",
        "mpi4py-fft, 128³ complex, six transforms there and back",
    ),
    "gradients": (
        "{python} {here}/applications.py gradients 8000 40",
        "sparse 256,000² without a pattern, 40 steps",
    ),
    "sort": ("{python} {here}/applications.py sort 60000 15", "sample sort of 1.9 million keys, 15 times"),
    "salt": ("lmp -in {here}/salt.in -log none", "LAMMPS, 8,000 ions, PPPM on 64³, 12 steps"),
    "integers": ("is.A.32", "NAS IS, class A: 2²³ keys ranked ten times"),
    "silicon": ("pw.x -in {here}/silicon.in", "Quantum ESPRESSO, 8 atoms of silicon, grid of 54³"),
}


def summary(heading: Row, rows: list[Row]) -> list[Block]:
    def line(case: tuple[str, ...], of_case: list[Row]) -> list[str]:
        ratios = [float(row["with"]) / float(row["without"]) for row in of_case]
        seconds = (sum(float(row[way]) for row in of_case) / len(of_case) for way in ("without", "with"))
        spread = f" ({min(ratios):.2f}–{max(ratios):.2f})" if len(ratios) > 1 else ""
        return [*case, PROGRAMS[case[0]][1], *(f"{s:.1f}" for s in seconds),
                f"{sorted(ratios)[len(ratios) // 2]:.2f}{spread}"]  # fmt: skip

    return [
        "# Whole programs",
        f"{provenance(heading)}.\n"
        f"{NETWORK} in the lab, 50 Mbit/s, a rank a host, two cores for all. Wall seconds of whole jobs.\n"
        "With Hocket by its defaults; nothing is known from before. Start-up is counted. Below 1 is a gain.",
        cells(["program", "MPI", "ranks", "what", "without, s", "with, s", "with / without"],
              (line(case, of_case) for case, of_case in grouped(rows, "program", "mpi", "order").items())),
    ]  # fmt: skip


def seconds(lab: list[str], command: str, folder: Path, native: bool) -> float:
    words = [*lab, *(["--native"] if native else []), "--", *command.split()]
    begun = time.monotonic()
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False,
                          env=os.environ | {"HOCKET_CHOICES": ""})  # fmt: skip
    if done.returncode:
        sys.exit(
            f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-3000:]}"
        )
    taken = time.monotonic() - begun
    print(command.split("/")[-1], "without" if native else "with", f"{taken:.1f} s", flush=True)
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="+", choices=list(PROGRAMS))
    add_mpi(parser)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--shuffle", default="")
    parser.add_argument("--pairs", type=int, default=1)
    options, results = begin(parser, "programs", summary)
    for mpi in mpis(options):
        lab = [sys.executable, "-m", "hocket", "lab", "run", "--network", NETWORK, "--rate", "50Mbit"]
        lab += ["--mpi", mpi.mpiexec, *(["--shuffle", options.shuffle] if options.shuffle else [])]
        for program in options.programs:
            command = PROGRAMS[program][0].format(python=options.python, here=HERE)
            for pair in range(options.pairs):
                with tempfile.TemporaryDirectory() as folder:
                    taken = {way: seconds(lab, command, Path(folder), way == "without")
                             for way in (("without", "with") if pair % 2 == 0 else ("with", "without"))}  # fmt: skip
                order = "at random" if options.shuffle else "in order"
                results.add({"program": program, "mpi": mpi.family.value, "order": order} | taken)
    print(results.summarise())


if __name__ == "__main__":
    main()
