"""Building and caching the runtime; bad environments get one message."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from hocket.errors import HocketError, UsageError
from hocket.launch.environment import RuntimeOptions
from hocket.launch.mpi import Mpi
from hocket.launch.runtime import build, build_runtime, find_sort
from hocket.launch.runtime.compiling import compile_native
from hocket.network import read_network


def test_built_once_per_mpi(mpi: Mpi) -> None:
    first = build_runtime(mpi.mpicc)
    stamp = first.library.stat().st_mtime_ns
    assert build_runtime(mpi.mpicc) == first
    assert first.library.stat().st_mtime_ns == stamp
    assert first.shim.exists()


def test_built_anew_for_another_header_of_the_core(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its constants are compiled into the runtime, whether or not the core's library changes with them."""
    copied = tmp_path / "native"
    shutil.copytree(build.native_dir(), copied)
    names: list[str] = []

    def note(name: str, *_: object) -> Path:
        names.append(name)
        return tmp_path

    monkeypatch.setattr(build, "native_dir", lambda: copied)
    monkeypatch.setattr(build, "build_once", note)
    build_runtime(mpi.mpicc)
    build_runtime(mpi.mpicc)
    with (copied / "core" / "limits.hpp").open("a") as header:
        header.write("\n// changed\n")
    build_runtime(mpi.mpicc)
    assert names[0] == names[1] != names[2]


def symbols(library: Path) -> list[tuple[str, str]]:
    """Kind and name of what a library shows and takes from others."""
    if shutil.which("nm") is None:
        pytest.skip("no nm here")
    done = subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True, timeout=60)
    return [(line.split()[-2], line.split()[-1]) for line in done.stdout.splitlines()]


def shown(library: Path) -> set[str]:
    """Weak and unique names are of templates of the standard library."""
    return {name for kind, name in symbols(library) if kind not in "UwvWVu"}


def test_names_of_its_own_cxx_library_stay_inside(mpi: Mpi) -> None:
    """Programs that link with hocket.h would otherwise take the runtime's C++ library for theirs."""
    runtime, sort = shown(build_runtime(mpi.mpicc).library), shown(find_sort(mpi.mpicc))
    assert "hocket_schedule" in runtime and "hocket_sort" in sort
    assert not runtime & sort
    assert all(name.startswith("hocket_") for name in runtime | sort), runtime | sort


def test_sorting_takes_c_functions_alone_from_the_runtime(mpi: Mpi) -> None:
    """Each has a C++ library of its own: what one throws the other cannot catch."""
    taken = {name for kind, name in symbols(find_sort(mpi.mpicc)) if kind == "U"}
    assert {name for name in taken if "hocket" in name} <= shown(build_runtime(mpi.mpicc).library)


def test_sorting_is_built_anew_for_another_runtime(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []

    def note(name: str, *_: object) -> Path:
        names.append(name)
        return Path(name)

    monkeypatch.setattr(build, "build_once", note)
    for runtime in ("/a/libhocket_runtime.so", "/b/libhocket_runtime.so"):
        build.build_sort(mpi.mpicc, Path(runtime))
    assert names[0] != names[1]


def test_a_full_disk_is_said_while_compiling(tmp_path: Path) -> None:
    """Compilers and assemblers print this message."""
    compiler = ["sh", "-c", "echo 'as: cannot write x.o: No space left on device' >&2; exit 1"]
    with pytest.raises(
        HocketError, match=rf"No space left on device; free some space in {tmp_path}.*XDG_CACHE"
    ):
        compile_native([*compiler, "-o", str(tmp_path / "x")], {}, tmp_path)


@pytest.mark.parametrize("flow", ["window:0", "window:x", "tokens", "window:"])
def test_unknown_flow_control(flow: str) -> None:
    with pytest.raises(UsageError, match="flow control"):
        RuntimeOptions(flow_control=flow).environment()


def test_flags_that_no_shell_would_split(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOCKET_CXXFLAGS", "-g '-O0")
    with pytest.raises(
        UsageError, match="HOCKET_CXXFLAGS cannot be split into words: No closing quotation; correct"
    ):
        build_runtime(mpi.mpicc)


def test_missing_placement_file() -> None:
    with pytest.raises(UsageError, match="placement file"):
        RuntimeOptions(placement="/nonexistent").where_ranks_are(read_network("star:3"), 3)
