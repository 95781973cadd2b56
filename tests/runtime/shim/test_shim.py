"""The table of intercepted calls against the MPI at hand, and what of it the shim shows."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hocket.launch.mpi import Mpi
from hocket.launch.runtime import build_runtime
from hocket.launch.runtime.build import build_sort, native_dir


def table() -> list[tuple[str, str, int]]:
    """Names in MPI and in the runtime, number of arguments; what the preprocessor makes of the table."""
    done = subprocess.run(
        ["c++", "-E", "-P", "-I", str(native_dir()), "-x", "c", "-"],
        input='#include "runtime/shim/calls.h"\n#define ROW(mpi, runtime, n) <mpi runtime n>\nCALLS(ROW)\n',
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return [(mpi, runtime, int(n)) for mpi, runtime, n in re.findall(r"<(\w+) (\w+) (\d+)>", done.stdout)]


ROWS = table()
OLDER = {"Alltoall", "Wait", "Send", "Bcast", "File_open", "Win_fence"}  # in every MPI


@pytest.fixture(scope="module")
def declared(mpi: Mpi) -> set[str]:
    """The functions of mpi.h, without MPI_."""
    done = subprocess.run(
        [mpi.mpicc, "-E", "-x", "c", "-"],
        input="#include <mpi.h>\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return set(re.findall(r"\bMPI_(\w+)\s*\(", done.stdout))


def exported(library: Path) -> set[str]:
    done = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, timeout=60, check=True
    )
    return {line.split()[-1] for line in done.stdout.splitlines()}


def test_no_call_stands_twice_in_the_table() -> None:
    names = [name for name, _, _ in ROWS]
    assert len(names) == len(set(names)) and set(names) >= OLDER


def test_the_table_agrees_with_mpi_h(mpi: Mpi, declared: set[str], tmp_path: Path) -> None:
    """Names and numbers of arguments, as the compiler sees them."""
    rows = [(name, arguments) for name, _, arguments in ROWS if name in declared]
    assert {name for name, _ in rows} >= OLDER
    source = tmp_path / "rows.cpp"
    source.write_text(
        "#include <mpi.h>\n"
        "template <class... A> constexpr int arguments(int (*)(A...)) { return sizeof...(A); }\n"
        + "".join(f'static_assert(arguments(PMPI_{name}) == {n}, "{name}");\n' for name, n in rows)
    )
    command = [mpi.mpicc, "-x", "c++", "-std=c++20", "-fsyntax-only", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[:2000]


def test_every_call_has_its_function_in_the_runtime(mpi: Mpi) -> None:
    functions = exported(build_runtime(mpi.mpicc).library)
    assert not {f"hocket_{function}" for _, function, _ in ROWS} - functions
    assert not {name for name in functions if name.startswith(("MPI_", "PMPI_"))}


def test_the_shim_shows_both_names_of_what_this_mpi_has(mpi: Mpi, declared: set[str]) -> None:
    """A program that looks for a function must not find one that its MPI lacks. Besides these the shim has only what
    holds connections on paths."""
    names = [name for name, _, _ in ROWS if name in declared]
    assert exported(build_runtime(mpi.mpicc).shim) == {
        f"{prefix}_{name}" for prefix in ("MPI", "PMPI") for name in names
    } | {"bind", "connect"}


def test_nothing_is_destroyed_when_the_process_ends(mpi: Mpi) -> None:
    """Exit handlers and destructors of the program make calls. Functions that run at the end: the compiler's own, and
    those that tell something."""
    runtime = build_runtime(mpi.mpicc)
    told = {runtime.library: 1, runtime.shim: 1, build_sort(mpi.mpicc, runtime.library): 0}
    for library, telling in told.items():
        read = ["readelf", "-W", "--dyn-syms", "-S", str(library)]
        done = subprocess.run(read, capture_output=True, text=True, timeout=60, check=True)
        assert not re.findall(r"\b\w*(?:atexit|quick_exit|on_exit)\w*", done.stdout), library
        size = re.search(r"\.fini_array +FINI_ARRAY +\w+ \w+ (\w+)", done.stdout)
        assert size and int(size[1], 16) <= (1 + telling) * 8, library


@pytest.mark.parametrize("start", ["init", "thread"])
def test_the_runtime_is_loaded_when_mpi_begins(launch: Callable[..., Any], start: str) -> None:
    """Not in the first collective call, which would take longer for it."""
    done = launch(f"loaded {start}", "chain:2,2", 4)
    assert done.stdout.split() == ["before", "0", "after", "1"], done.stdout + done.stderr


def test_a_rank_that_waits_elsewhere_lets_the_exchange_go_on(
    check: Callable[..., str], tmp_path: Path
) -> None:
    """In files, windows, communicators, large counts, where all wait for one that waits for the exchange."""
    assert "hocket: all-to-all of 4 ranks" in check(
        f"persistent_elsewhere {tmp_path / 'data'}", "chain:2,2", 4
    )
