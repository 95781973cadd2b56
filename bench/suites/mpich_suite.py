"""MPICH's test suite: Debian's source package, built with the MPI at hand."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from case import Case, Passes

from hocket.launch.mpi import Mpi

NAME = "mpich"
ROOMS = [
    "coll",
    "comm",
    "topo",
    "pt2pt",
    "errors/coll",
    "threads/coll",
    "threads/comm",
    "threads/pt2pt",
    "io",
]
_RESULT = {"TestStatus": Passes.STATUS, "TestErrFatal": Passes.FAILS}


def fetch(work: Path) -> Path:
    """The suite's sources, by way of apt with a source list of its own (no root, no change of the system)."""
    if found := sorted(work.glob("mpich-*/test/mpi/configure")):
        return found[-1].parent
    apt = work / "apt"
    (apt / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    release = re.search(r"^VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text(), re.MULTILINE)
    name = release.group(1) if release else "stable"
    (apt / "sources.list").write_text(f"deb-src http://deb.debian.org/debian {name} main\n")
    options = {
        "Dir::Etc::sourcelist": apt / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": apt / "lists",
        "Dir::Cache": apt,
    }
    command = ["apt-get", *(part for key, value in options.items() for part in ("-o", f"{key}={value}"))]
    subprocess.run([*command, "update"], check=True, timeout=300)
    source = [*command, "source", "--download-only", "--tar-only", NAME]
    subprocess.run(source, cwd=work, check=True, timeout=600)
    subprocess.run(["tar", "xf", *work.glob("mpich_*.orig.tar.*")], cwd=work, check=True, timeout=120)
    return sorted(work.glob("mpich-*/test/mpi/configure"))[-1].parent


def build(work: Path, source: Path, mpi: Mpi, rooms: Sequence[str], jobs: int) -> Path:
    """Configured for this MPI; what does not compile with it (MPICH's own extensions) is left out."""
    built = work / f"mpich-suite-{mpi.family.value}"
    log = work / f"{built.name}.log"
    env = {**os.environ}
    if ccache := shutil.which("ccache"):
        env["PATH"] = f"{Path(ccache).resolve().parent.parent / 'lib' / 'ccache'}:{env['PATH']}"
    with log.open("a") as out:

        def do(command: list[str], where: Path, must: bool) -> None:
            subprocess.run(command, cwd=where, env=env, check=must, stdout=out, stderr=out, timeout=3600)

        if not (built / "Makefile").exists():
            built.mkdir(parents=True, exist_ok=True)
            prefix = str(Path(mpi.mpiexec).parent.parent)
            options = ["--disable-fortran", "--disable-cxx", "--enable-strictmpi"]
            do([str(source / "configure"), f"--with-mpi={prefix}", *options], built, must=True)
        for room in ("dtpools", "util", *rooms):
            do(["make", "-k", f"-j{jobs}", "all"], built / room, must=room in ("dtpools", "util"))
    return built


def cases(source: Path, built: Path, rooms: Sequence[str]) -> tuple[list[Case], list[str]]:
    """Programs that the lists of these rooms name and, beside them, those that could not be built.

    Configuring makes some of the lists; the others stay with the sources.
    """
    found: dict[str, Case] = {}
    missing: list[str] = []
    for room in rooms:
        directory = built / room
        lists = (folder / room / "testlist" for folder in (built, source))
        text = next((path.read_text() for path in lists if path.exists()), "")
        for line in text.splitlines():
            words = shlex.split(line.partition("#")[0])
            if not words:
                continue
            case = _case(room, directory, words)
            if not (directory / words[0]).exists():
                missing.append(case.name)
            found.setdefault(case.name, case)
    return [case for name, case in found.items() if name not in missing], missing


def _case(room: str, directory: Path, words: list[str]) -> Case:
    program, ranks, *pairs = [*words, "2"] if len(words) == 1 else words
    values: dict[str, list[str]] = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        values.setdefault(key, []).append(value)
    env = dict(entry.split("=", 1) for entry in values.get("env", []))
    arguments = values.get("arg", [])
    result = values.get("resultTest", [""])[0]
    name = " ".join([f"{room}/{program}", ranks, *arguments, *(f"{key}={env[key]}" for key in env)])
    passes, seconds = _RESULT.get(result, Passes.SAYS_NO_ERRORS), int(values.get("timeLimit", ["180"])[0])
    return Case(name, directory, (f"./{program}", *arguments), int(ranks), passes, seconds, env)
