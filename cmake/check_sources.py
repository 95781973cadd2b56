"""Checks the sources that have changed since they last passed: check_sources.py (tidy BUILD | syntax COMPILER) CACHE.

``tidy``: clang-tidy on the folders of core, papers, runtime and sort, by BUILD/compile_commands.json. ``syntax``:
whether each source of runtime and sort/mpi compiles by itself, and all of a tree together (names without linkage
differ), with an MPI's wrapper. What has passed is kept in CACHE by a digest of all that can change the answer: the
source, what it includes, the MPI's headers, the command, the tool and its settings.
"""

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = (ROOT, ROOT / "runtime/include", ROOT / "sort/include")
TIDIED = re.compile(r"hocket_(core|papers|sort_core|(runtime|sort)_(mpich|openmpi))")


class Check(NamedTuple):
    command: list[str]
    source: Path
    uses: bytes
    """What the answer depends on besides the project's own files."""


def folder_of_sources(unit: Path) -> list[Path]:
    """What a unit is made of that CMake has put together from a folder."""
    return [Path(name) for name in re.findall(r'^#include "(/[^"]+)"', unit.read_text(), re.MULTILINE)] or [
        unit
    ]


def mpi_headers(command: list[str]) -> bytes:
    folders = [part.removeprefix("-I") for part in command if part.startswith(("-I", "/"))]
    found = [Path(folder) / name for folder in folders for name in ("mpi.h", "mpi_proto.h")]
    return b"".join(path.read_bytes() for path in found if path.is_file())


def tidy(build: Path) -> Iterator[Check]:
    settings = (ROOT / ".clang-tidy").read_bytes() + version("clang-tidy")
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if TIDIED.search(entry["file"]):
            compiling = shlex.split(entry["command"])
            uses = settings + mpi_headers(compiling) + entry["command"].replace(str(ROOT), "").encode()
            yield Check(["clang-tidy", "-quiet", "-p", str(build), entry["file"]], Path(entry["file"]), uses)


def syntax(compiler: str) -> Iterator[Check]:
    command = [
        compiler,
        "-x",
        "c++",
        "-std=c++20",
        "-fsyntax-only",
        "-I.",
        "-Iruntime/include",
        "-Isort/include",
    ]
    shown = subprocess.run([compiler, "-show"], capture_output=True, text=True, check=True).stdout
    uses = version(compiler) + mpi_headers(shlex.split(shown))
    uses += " ".join(command[1:]).encode()
    (ROOT / "build").mkdir(exist_ok=True)
    for tree in ("runtime", "sort/mpi"):
        sources = sorted((ROOT / tree).rglob("*.cpp"))
        together = ROOT / "build" / f"{tree.replace('/', '_')}_together.cpp"
        together.write_text("".join(f'#include "{source}"\n' for source in sources))
        for source in [*sources, together]:
            yield Check([*command, str(source)], source, uses + (b" together" if source is together else b""))


def version(tool: str) -> bytes:
    return subprocess.run([tool, "--version"], capture_output=True, check=True).stdout


@cache
def included(path: Path) -> tuple[Path, ...]:
    """The project's files that a file names."""
    names = re.findall(r'^\s*#\s*include "([^"]+)"', path.read_text(), re.MULTILINE)
    found = (folder / name for name in names for folder in (path.parent, *FOLDERS))
    return tuple(file.resolve() for file in found if file.is_file())


def read_by(sources: list[Path]) -> list[Path]:
    """The project's files that are read when these are compiled."""
    found, left = set(sources), list(sources)
    while left:
        new = set(included(left.pop())) - found
        found |= new
        left += new
    return sorted(found)


def digest(check: Check) -> str:
    whole = hashlib.sha256(check.uses)
    for path in read_by(folder_of_sources(check.source)):
        whole.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return whole.hexdigest()


def main() -> int:
    what, argument, passed = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    passed.mkdir(parents=True, exist_ok=True)
    checks = {digest(check): check for check in {"tidy": tidy, "syntax": syntax}[what](Path(argument))}
    due = {key: check for key, check in checks.items() if not (passed / key).exists()}
    print(f"{what}: {len(due)} of {len(checks)} to check", flush=True)

    def run(key: str) -> bool:
        done = subprocess.run(due[key].command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            print(done.stdout + done.stderr, file=sys.stderr, flush=True)
        else:
            (passed / key).touch()
        return done.returncode == 0

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return 0 if all(list(pool.map(run, due))) else 1


if __name__ == "__main__":
    sys.exit(main())
