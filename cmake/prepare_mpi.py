"""Unpacks the MPI of a wheel and writes what a ready-made runtime for it is built from.

Usage: prepare_mpi.py REQUIREMENT LIBRARY COMPILER SOURCES OUT

``OUT/mpi``: include and lib of the MPI. ``OUT/shown.h``: the calls that its library has, for the shim.
``OUT/functions.json``: for each call that the shim knows whether the library has it; the MPI of a user must
agree in all (python/hocket/launch/runtime/ready.py). Both MPIs' wheels write ``include/mpi.h``, so that they cannot
be build requirements: each is unpacked into a folder of its own.
"""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path


def fetch(requirement: str, out: Path) -> Path:
    """The folder with include and lib; downloaded once."""
    home = out / "mpi"
    if home.is_dir():
        return home
    shutil.rmtree(out, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    try:
        subprocess.run(
            [*pip, "--no-deps", "--only-binary=:all:", "--dest", str(out), requirement], check=True
        )
    except subprocess.CalledProcessError:
        sys.exit(
            f"{requirement} cannot be had, and ready-made runtimes are built from it; without them: "
            "pip install -C cmake.define.HOCKET_READY_RUNTIMES=OFF ..."
        )
    (wheel,) = out.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(out / "unpacked")
    (data,) = (out / "unpacked").glob("*.data/data")
    wheel.unlink()
    data.rename(home)
    return home


def names_of_calls(compiler: str, sources: Path) -> list[str]:
    """Both names of every call of runtime/shim/calls.h."""
    listing = (
        '#include "runtime/shim/calls.h"\n#define NAME(mpi_name, runtime_name, n) @mpi_name@\nCALLS(NAME)\n'
    )
    command = [compiler, "-E", "-P", "-x", "c", "-I", str(sources), "-"]
    done = subprocess.run(command, input=listing, capture_output=True, text=True, check=True)
    calls = re.findall(r"@\s*(\w+)\s*@", done.stdout)
    return sorted(f"{prefix}_{call}" for prefix in ("MPI", "PMPI") for call in calls)


def main() -> None:
    requirement, library, compiler, sources, out = sys.argv[1:]
    folder = Path(out)
    home = fetch(requirement, folder)
    probe = Path(__file__).parent.parent / "python/hocket/launch/runtime/probe.py"
    look = runpy.run_path(str(probe))["look"]
    functions = look(str(home / "lib" / library), names_of_calls(compiler, Path(sources)))["functions"]
    (folder / "functions.json").write_text(json.dumps(functions, indent=0) + "\n")
    visible = '__attribute__((visibility("default")))'
    shown = "".join(f"{visible} int {name}();\n" for name, there in functions.items() if there)
    (folder / "shown.h").write_text(shown)


main()
