"""Runs the tests of what differs from origin/main, and says which it has left out.

check_changed.py [FILE...]: as if these files had changed.

A quick answer, not the last word: with MPICH only, the runtime compiled without optimisation, and no test begun when
the time is over (CHECK_SECONDS; 0: no limit). `make test` runs everything.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE_SECONDS, SECONDS, LEAST_SECONDS = 20, 60, 8  # in all; of tests, however long compiling has taken

# Rooms and packages whose tests have another name, or which only those of others test.
CORE = {
    "": ("core_network", "schedule"),
    "demand": ("schedule",),
    "gossip": ("papers/juurlink-sibeyn-rao/test_execute.py",),
    "network": ("core_network", "schedule"),
    "progress": ("schedule",),
}
PACKAGES = {
    "": ("structure/test_imports.py", "cli/test_usage.py"),
    "costs": ("measure/calibration", "model/test_costs.py"),
    "doctor": ("cli/test_doctor.py",),
    "errors": ("structure/test_remedies.py", "cli/test_usage.py"),
    "system": ("launch", "cli/test_streams.py"),
    "units": ("network/test_units.py",),
}
OTHERS = {
    "bench": ("docs",),
    "bindings": ("planning", "schedule"),
    "cmake": ("structure",),
    "docs": ("docs",),
    "examples": ("network/test_examples.py", "programs"),
}


def tests_of(path: str) -> tuple[str, ...]:
    """Below tests/; files or folders."""
    tree, _, inner = path.partition("/")
    room = inner.split("/")[0] if "/" in inner else ""
    if path.endswith(".md"):
        return ("docs", "structure") if inner == "README.md" else ("docs",)
    if tree == "core":
        return CORE.get(room, (room,))
    if tree == "runtime":
        return (_existing(f"runtime/{room}", "runtime/exchange"),)
    if tree == "sort":
        part = inner.split("/")
        return (_existing(f"sort/{part[1]}" if len(part) > 2 else "", "sort/sort"),)
    if tree == "python":
        return _of_package(inner.removeprefix("hocket/"))
    if tree == "papers":
        return (_existing(f"papers/{room}", "papers"),)
    if tree == "tests":
        return tuple(_of_tests(inner))
    return OTHERS.get(tree, ("structure",))


def _of_package(inner: str) -> tuple[str, ...]:
    if inner.startswith("launch/runtime/"):
        return ("runtime/compiling",)
    package = inner.split("/")[0].removesuffix(".py")
    return PACKAGES.get(package) or ((package,) if _exists(package) else PACKAGES[""])


def _of_tests(inner: str) -> Iterator[str]:
    """A test itself; of what tests use: the tests beside it, or those that import it."""
    if Path(inner).name.startswith("test_"):
        yield inner
    elif "/" in inner:
        yield str(Path(inner).parent).removesuffix("/programs")
    else:
        imports = re.compile(rf"^\s*(?:import|from) {Path(inner).stem}\b", re.MULTILINE)
        for test in sorted((ROOT / "tests").rglob("test_*.py")):
            if imports.search(test.read_text()):
                yield test.relative_to(ROOT / "tests").as_posix()


def _exists(name: str) -> bool:
    return bool(name) and (ROOT / "tests" / name).exists()


def _existing(name: str, otherwise: str) -> str:
    return name if _exists(name) else otherwise


def chosen(paths: Iterable[str]) -> list[str]:
    """What pytest is given: tests named as a changed file first."""
    paths = list(paths)
    stems = {Path(path).stem for path in paths}
    found = {name for path in paths for name in tests_of(path) if _exists(name)}
    whole = {
        name for name in found if not any(name != other and name.startswith(f"{other}/") for other in found)
    }
    near = {
        test.relative_to(ROOT / "tests").as_posix()
        for name in whole
        for test in (ROOT / "tests" / name).rglob("test_*.py")
        if test.stem.removeprefix("test_") in stems
    }
    return [f"tests/{name}" for name in [*sorted(near), *sorted(whole - near)]]


def changed() -> list[str]:
    """Files that differ from where the branch left origin/main, or, without it, from the last commit."""
    base = _git("merge-base", "origin/main", "HEAD") or ["HEAD"]
    return sorted(
        {*_git("diff", "--name-only", base[0]), *_git("ls-files", "--others", "--exclude-standard")}
    )


def _git(*arguments: str) -> list[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()


def install() -> None:
    """As `make setup`, where only sources have changed, without pip."""
    stamps = [ROOT / ".venv/.hocket-installed", ROOT / ".venv/.hocket-setup"]
    built = next(ROOT.glob("build/cp3*/CMakeCache.txt"), None)
    described = [ROOT / "CMakeLists.txt", ROOT / "pyproject.toml"]
    if built is None or any(file.stat().st_mtime > stamps[0].stat().st_mtime for file in described):
        subprocess.run(["make", "--no-print-directory", "setup"], cwd=ROOT, check=True)
        return
    site = Path(sysconfig.get_path("platlib"))
    native = site / "hocket/native"
    _run("cmake", "--build", str(built.parent))
    subprocess.run(["rm", "-rf", native], check=True)  # what has gone from the sources goes here, too
    _run("cmake", "--install", str(built.parent), "--prefix", str(site))
    for stamp in stamps:
        stamp.touch()


def _run(*command: str) -> None:
    """Shows what it prints only where it fails."""
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit("\n".join(line for line in done.stdout.splitlines() if not line.startswith("-- ")))


def main(paths: list[str]) -> int:
    begun = time.time()
    paths = paths or changed()
    tests = chosen(paths)
    if not tests:
        print("nothing differs from origin/main")
        return 0
    core_only = all(path.startswith(("core/", "docs/")) for path in paths)
    seconds = float(os.environ.get("CHECK_SECONDS", CORE_SECONDS if core_only else SECONDS))
    install()
    environment = {**os.environ, "HOCKET_CXXFLAGS": "-O0"}
    if any(test.startswith(("tests/runtime", "tests/sort/")) for test in tests):
        library = ["--sort"] if any(test.startswith("tests/sort/") for test in tests) else ["--libs"]
        config = [
            sys.executable,
            "-m",
            "hocket",
            "info",
            *library,
            "--mpi",
            str(ROOT / ".venv/bin/mpiexec"),
        ]
        subprocess.run(config, env=environment, check=True, stdout=subprocess.DEVNULL)
    built = time.time()
    if seconds:
        environment["HOCKET_TEST_UNTIL"] = str(max(begun + seconds, built + LEAST_SECONDS))
    print(f"{built - begun:.0f} s to build; {' '.join(tests)}", flush=True)
    jobs = str(min(4, os.cpu_count() or 2))
    pytest = ["-m", "pytest", "-n", jobs, "--dist", "worksteal", "-m", "not slow", "-rs", *tests]
    status = subprocess.run([sys.executable, *pytest], cwd=ROOT, env=environment).returncode
    print(f"{time.time() - begun:.0f} s in all")
    return 0 if status == 5 else status  # 5: every test there is slow


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
