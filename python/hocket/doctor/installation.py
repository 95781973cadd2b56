"""The installation: package, cache, variables of the environment, MPI and compiler."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from hocket import _core
from hocket.doctor.case import Case, Finding, Level, note, ok, problem, problem_of
from hocket.errors import MissingToolError
from hocket.launch.environment import scheduled_variables
from hocket.launch.mpi import Abi, MpiFamily, find_mpi
from hocket.launch.runtime.build import SHIM, native_dir, prepared_runtime
from hocket.launch.runtime.compiling import find_compiler, read_wrapper
from hocket.launch.runtime.ready import find_runtime, ready_runtime
from hocket.system.cache import cache_dir

DISABLED: Final = "HOCKET_DISABLE=1 is set: every call goes to the MPI library, whatever else is set"
ENABLE: Final = "unset HOCKET_DISABLE to have calls scheduled"
ANEW: Final = (
    """prepare it anew: eval "$(hocket env --network NETWORK)"; or undo it: eval "$(hocket env --unset)\""""
)


def check_variables(case: Case) -> Iterator[Finding]:
    findings = [*_preloads(case), *_hocket_variables(case)]
    yield from findings or [ok("nothing that changes what Hocket does")]


def _preloads(case: Case) -> Iterator[Finding]:
    for entry in case.environment.get("LD_PRELOAD", "").replace(":", " ").split():
        ours = Path(entry).name == SHIM
        if "/" in entry and not Path(entry).exists():
            yield problem(
                f"LD_PRELOAD names {entry}, which does not exist", ANEW if ours else "correct LD_PRELOAD"
            )
        elif ours:
            yield from _prepared(case, entry)
        else:
            yield note(f"LD_PRELOAD also loads {entry}; if it catches MPI calls, it sees them first")


def _prepared(case: Case, shim: str) -> Iterator[Finding]:
    """``hocket env`` has prepared this job, wholly or not any more."""
    runtime, plans = prepared_runtime(case.environment), case.environment.get("HOCKET_PLAN", "")
    if runtime is None:
        yield problem(f"LD_PRELOAD names {shim}, but HOCKET_RUNTIME is not set", ANEW)
        return
    missing = [path for path in (str(runtime[1]), *plans.split(":")) if path and not Path(path).exists()]
    for path in missing:
        yield problem(f"the job is prepared with {path}, which does not exist", ANEW)
    if not missing:
        told = {name: case.environment[name] for name in _by_env(case)}
        short = [name if "/" in value or " " in value else f"{name}={value}" for name, value in told.items()]
        yield ok(f"prepared by 'hocket env': LD_PRELOAD, {', '.join(short)}")


def _by_env(case: Case) -> list[str]:
    """Variables that ``hocket env`` sets."""
    prepared = "HOCKET_RUNTIME" in case.environment
    return [name for name in scheduled_variables() if prepared and name in case.environment]


def _hocket_variables(case: Case) -> Iterator[Finding]:
    """Check every ``HOCKET_*`` variable by the runtime's own rules."""
    prepared = _by_env(case)
    for name, value in sorted(case.environment.items()):
        if not name.startswith("HOCKET_"):
            continue
        wrong = _core.Variable.complaints([f"{name}={value}"])
        for complaint in wrong:
            yield problem(complaint, "correct it, or unset it")
        if (name, value) == ("HOCKET_DISABLE", "1"):
            yield note(DISABLED, ENABLE)
        elif not wrong and not name.startswith("HOCKET_TEST") and name not in prepared:
            yield note(f"{name}={value} is set")


_NEEDED_MB = 64  # a runtime, with room for its objects' neighbours and for plans
_AGAIN = "install it again: pip install --force-reinstall hocket"


def check_package(_: Case) -> Iterator[Finding]:
    try:
        package = version("hocket")
    except PackageNotFoundError:
        yield problem("the package is found but not installed", _AGAIN)
        return
    if (extension := getattr(_core, "__version__", "older")) != package:
        yield problem(f"the package is {package}, its extension {extension}", _AGAIN)
        return
    needed = [
        native_dir() / "libhocket_core.a",
        native_dir() / "runtime" / "shim" / "shim.c",
        native_dir() / "sort",
    ]
    if missing := [path for path in needed if not path.exists()]:
        yield problem(f"{missing[0]} is missing, which the runtime is built from", _AGAIN)
        return
    python = ".".join(map(str, sys.version_info[:3]))
    yield ok(f"version {package}, Python {python}")


def check_cache(case: Case) -> Iterator[Finding]:
    cache = cache_dir()
    if (free := shutil.disk_usage(cache).free >> 20) < _NEEDED_MB:
        yield problem(f"{cache}: {free} MB are free, a built runtime and plans need {_NEEDED_MB}",
                      "free some space there, or set XDG_CACHE_HOME to a directory with more")  # fmt: skip
        return
    yield ok(f"{cache}, writable by you only")
    if case.hostfile:
        yield note(f"all hosts of {case.hostfile} must see {cache}",
                   "if they do not, set XDG_CACHE_HOME to a shared directory")  # fmt: skip


def check_runtime(case: Case) -> Iterator[Finding]:
    """Ready-made, built, or built now."""
    if case.mpi is None:
        return
    case.runtime = find_runtime(case.mpi.mpicc)
    prepared = prepared_runtime(case.environment)
    if prepared is not None and prepared[0] != case.runtime.mpi:
        yield problem(f"the job is prepared for {prepared[0]} and {case.mpi.mpiexec} is of {case.runtime.mpi}",
                      f"{ANEW}; --mpi chooses another MPI")  # fmt: skip
    yield ok(f"{case.runtime.library.parent}{', ready-made' if case.ready else ''}")


def check_mpi(case: Case) -> Iterator[Finding]:
    mpi = replace(find_mpi(case.mpi_name), abi=case.abi)
    ready = case.ready = ready_runtime(mpi.mpicc)
    try:
        wrapper = read_wrapper(mpi.mpicc)
    except MissingToolError:
        if ready is None:
            raise
        case.mpi = mpi
        yield ok(f"{mpi.mpiexec}: {ready.mpi_name}")
        return
    family = MpiFamily.OPENMPI if wrapper.version.startswith("Open MPI") else MpiFamily.MPICH
    if not (speaks_standard := wrapper.mpi.startswith("MPI ABI")) and family is not mpi.family:
        yield problem(
            f"{mpi.mpiexec} belongs to {mpi.family.value}, but {wrapper.path} to {wrapper.version}",
            "give the path of an mpiexec with its own mpicc beside it: --mpi /path/to/mpiexec",
        )
        return
    if case.abi is Abi.STANDARD and not speaks_standard:
        yield problem(f"{wrapper.path} compiles for {wrapper.version}, not for the standard ABI",
            "use an MPI with libmpi_abi (MPICH 4.3 or later), or leave --abi standard out",
        )  # fmt: skip
        return
    case.mpi, case.wrapper = mpi, wrapper
    yield ok(f"{mpi.mpiexec}, {wrapper.path}: {wrapper.version}")


_PROGRAM = "#include <concepts>\n#include <span>\nstatic_assert(__cplusplus >= 202002L);\n"


def check_compiler(case: Case) -> Iterator[Finding]:
    try:
        found = list(_tried(case))
    except MissingToolError as error:
        found = [problem_of(error)]
    if case.ready is None or found[0].level is Level.OK:
        yield from found
    else:
        yield note(f"{found[0].text}; none is needed: the ready-made runtime serves")


def _tried(case: Case) -> Iterator[Finding]:
    compiler = find_compiler()
    new = "install GCC 12 or Clang 15, or later, and set CXX if it is not c++"
    try:
        told, tried = (
            subprocess.run(
                [compiler, *options], input=_PROGRAM, capture_output=True, text=True, errors="replace",
                timeout=case.seconds, check=False,
            )
            for options in (["--version"], ["-std=c++20", "-fsyntax-only", "-x", "c++", "-"])
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        yield problem(f"{compiler} does not run: {error}", new)
        return
    if tried.returncode != 0:
        complaint = (tried.stderr.strip() or "it failed").splitlines()[0]
        yield problem(f"{compiler} does not compile C++20: {complaint}", new)
        return
    yield ok(f"{compiler}: {(told.stdout.splitlines() or ['C++20'])[0]}")
