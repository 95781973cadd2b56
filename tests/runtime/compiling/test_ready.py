"""Which MPIs are served by a ready-made runtime; the others get one of their own."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from hocket.errors import HocketError
from hocket.launch.mpi import Mpi
from hocket.launch.runtime import probe, ready
from hocket.launch.runtime.compiling import read_wrapper
from hocket.launch.runtime.ready import ready_runtime

# Functions for which the ready-made runtimes of these tests were built.
FUNCTIONS = {"MPI_Alltoall": True, "PMPI_Alltoall": True, "MPI_Alltoall_c": False}
HAVE = ("MPI_Alltoall", "PMPI_Alltoall")
MPICH, OPEN_MPI, STANDARD = "libmpi.so.12", "libmpi.so.40", "libmpi_abi.so.1"
MPICH_5 = "MPICH Version:      5.0.2\\nMPICH Release date: today"

Installed = Callable[..., Path]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation of Hocket with ready-made runtimes."""
    monkeypatch.delenv("HOCKET_CXXFLAGS", raising=False)
    monkeypatch.setattr(ready, "native_dir", lambda: tmp_path / "native")
    for name in ("mpich", "openmpi", "standard"):
        home = tmp_path / "native/ready" / name
        home.mkdir(parents=True)
        for file in ("libhocket_shim.so", "libhocket_runtime.so", "libhocket_sort.so"):
            (home / file).touch()
        (home / "functions.json").write_text(json.dumps(FUNCTIONS))
    return tmp_path / "native/ready"


def fake_library(
    library: Path, version: str, functions: Sequence[str] = HAVE, abi: int | None = None
) -> Path:
    """A library that says what an MPI library says of itself."""
    library.parent.mkdir(parents=True, exist_ok=True)
    source = (
        "#include <string.h>\n"
        "int MPI_Get_library_version(char* text, int* length) {\n"
        f'  *length = (int)strlen(strcpy(text, "{version}"));\n  return 0;\n}}\n'
    )
    source += "".join(f"int {name}(void) {{ return 0; }}\n" for name in functions)
    if abi is not None:
        source += f"int MPI_Abi_get_version(int* a, int* b) {{ *a = {abi}; *b = 0; return 0; }}\n"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)],
        input=source, text=True, check=True, timeout=60)  # fmt: skip
    return library


@pytest.fixture
def mpi_with(tmp_path: Path) -> Installed:
    """Installs an MPI; returns its ``bin``."""

    def install(library: str, *told: object, lib: str = "lib", **more: object) -> Path:
        fake_library(tmp_path / "mpi" / lib / library, *told, **more)  # type: ignore[arg-type]
        (tmp_path / "mpi/bin").mkdir(exist_ok=True)
        return tmp_path / "mpi/bin"

    return install


@pytest.mark.parametrize(
    ("library", "version", "abi", "name", "speaks"),
    [
        (MPICH, MPICH_5, None, "mpich", "MPICH Version: 5."),
        (MPICH, MPICH_5, -1, "mpich", "MPICH Version: 5."),
        (MPICH, "MPICH Version: 6.1", None, "mpich", "MPICH Version: 6."),
        (OPEN_MPI, "Open MPI v5.0.11, package: x", None, "openmpi", "Open MPI v5."),
        (STANDARD, MPICH_5, 1, "standard", "MPI ABI 1."),
        (STANDARD, "Open MPI v6.0.0", 1, "standard", "MPI ABI 1."),
    ],
)
def test_served(
    made: Path, mpi_with: Installed, library: str, version: str, abi: int | None, name: str, speaks: str
) -> None:
    wrapper = "mpicc_abi" if library == STANDARD else "mpicc"
    found = ready_runtime(str(mpi_with(library, version, abi=abi) / wrapper))  # which is not there
    assert found is not None
    assert (found.shim.parent, found.library.parent) == (made / name, made / name)
    assert found.mpi == speaks


@pytest.mark.parametrize(
    ("library", "version", "functions", "abi"),
    [
        (MPICH, "MPICH Version: 4.2.3", HAVE, None),
        (MPICH, "Intel(R) MPI Library 2021.10", HAVE, None),
        (MPICH, "MPI VERSION: CRAY MPICH version 8.1", HAVE, None),
        (MPICH, MPICH_5, HAVE[:1], None),  # lacks a function that the shim would show
        (MPICH, MPICH_5, [*HAVE, "MPI_Alltoall_c"], None),  # has one that would pass the shim by
        (MPICH, MPICH_5, HAVE, 1),  # the standard ABI under the name of MPICH's
        (OPEN_MPI, "Open MPI v4.1.4", HAVE, None),
        (OPEN_MPI, "Open MPI v6.0.0", HAVE, None),
        (OPEN_MPI, "Open MPI v5.0.11", [], None),
        (STANDARD, MPICH_5, HAVE, 2),
        (STANDARD, MPICH_5, HAVE, None),
        ("libmpi.so.41", "Open MPI v5.0.11", HAVE, None),
    ],
)
def test_not_served(
    made: Path, mpi_with: Installed, library: str, version: str, functions: Sequence[str], abi: int | None
) -> None:
    wrapper = "mpicc_abi" if library == STANDARD else "mpicc"
    assert ready_runtime(str(mpi_with(library, version, functions, abi) / wrapper)) is None


def test_each_abi_is_looked_for_under_its_own_name(made: Path, mpi_with: Installed) -> None:
    there = mpi_with(MPICH, MPICH_5)
    assert ready_runtime(str(there / "mpicc_abi")) is None
    mpi_with(STANDARD, MPICH_5, abi=1)
    native, standard = (ready_runtime(str(there / name)) for name in ("mpicc", "mpicc_abi"))
    assert native and standard and (native.mpi, standard.mpi) == ("MPICH Version: 5.", "MPI ABI 1.")


def test_two_families_in_one_place(made: Path, mpi_with: Installed) -> None:
    """Which of them ranks will load is not known, so the wrapper is asked."""
    mpi_with(MPICH, MPICH_5)
    assert ready_runtime(str(mpi_with(OPEN_MPI, "Open MPI v5.0.11") / "mpicc")) is None


def test_lib64_and_links(made: Path, mpi_with: Installed, tmp_path: Path) -> None:
    wrapper = mpi_with(MPICH, MPICH_5, lib="lib64") / "mpicc"
    wrapper.touch()
    (tmp_path / "links").mkdir()
    (tmp_path / "links/mpicc").symlink_to(wrapper)
    assert ready_runtime(str(tmp_path / "links/mpicc"))


def test_a_library_that_does_not_load(made: Path, mpi_with: Installed, tmp_path: Path) -> None:
    there = mpi_with(MPICH, MPICH_5)
    (tmp_path / "mpi/lib" / MPICH).write_text("INPUT(libmpi.so.12)")
    assert ready_runtime(str(there / "mpicc")) is None


def test_what_the_user_preloads_does_not_speak_for_the_mpi(
    made: Path, mpi_with: Installed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = fake_library(tmp_path / "other.so", "Open MPI v4.1.4", [*HAVE, "MPI_Alltoall_c"])
    monkeypatch.setenv("LD_PRELOAD", str(other))
    assert ready_runtime(str(mpi_with(MPICH, MPICH_5) / "mpicc"))


def test_flags_of_the_user_are_for_compiling(
    made: Path, mpi_with: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = mpi_with(MPICH, MPICH_5)
    monkeypatch.setenv("HOCKET_CXXFLAGS", "-g")
    assert ready_runtime(str(there / "mpicc")) is None


def test_an_installation_without_ready_made_ones(
    tmp_path: Path, mpi_with: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ready, "native_dir", lambda: tmp_path / "native")
    assert ready_runtime(str(mpi_with(MPICH, MPICH_5) / "mpicc")) is None


@pytest.mark.parametrize("what", ["", "libhocket_runtime.so", "libhocket_sort.so", "libhocket_shim.so"])
def test_one_that_everybody_can_write_to_is_refused(made: Path, mpi_with: Installed, what: str) -> None:
    there = mpi_with(MPICH, MPICH_5)
    (made / "mpich" / what).chmod(0o777)
    with pytest.raises(HocketError, match=r"can be written by every user.*install Hocket anew"):
        ready_runtime(str(there / "mpicc"))


def test_a_library_has_the_calls_that_its_header_declares(mpi: Mpi) -> None:
    """So a ready-made shim, which shows what the library has, is the one that would be compiled."""
    library = ready._beside(mpi.mpicc, MPICH) or ready._beside(mpi.mpicc, OPEN_MPI)
    if library is None:
        pytest.skip("the MPI's library is not beside its launcher")
    listing = (
        '#include "runtime/shim/calls.h"\n#define NAME(mpi_name, runtime_name, n) @mpi_name@\nCALLS(NAME)\n'
    )
    sources = Path(__file__).parents[3]
    done = subprocess.run(["cc", "-E", "-P", "-I", str(sources), "-"], input=listing, text=True,
                          capture_output=True, check=True, timeout=60)  # fmt: skip
    calls = re.findall(r"@\s*(\w+)\s*@", done.stdout)
    names = {f"{prefix}_{call}" for prefix in ("MPI", "PMPI") for call in calls}
    assert len(names) > 400
    there = probe.look(str(library), sorted(names))["functions"]
    assert {name for name in names if there[name]} == names & read_wrapper(mpi.mpicc).functions
