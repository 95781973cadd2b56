"""``hocket info --pkg-config`` and ``--cmake``: what they print builds programs."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from hocket import __version__
from hocket.cli import cli
from hocket.errors import HocketError
from hocket.export.packages import cmake_file, cmake_version_file, compile_flags, link_flags, pkg_config_file
from hocket.launch.mpi import Mpi
from mpi_programs import compile_with_hocket, hocket, mpiexec

pytestmark = pytest.mark.by_turns

EXAMPLES = Path(__file__).parents[2] / "examples"
EXAMPLE, SORTS = EXAMPLES / "exchange" / "exchange.c", EXAMPLES / "sort" / "sort.c"
PLACES = ["/opt/hocket", "/home/a b/it's #1"]
PROJECT = """\
cmake_minimum_required(VERSION 3.22)
project(program C)
find_package(Hocket REQUIRED)
add_executable(program "{source}")
target_link_libraries(program Hocket::{target})
"""
# CMake looks at no compiler, which takes a second.
WANTED = """\
cmake_minimum_required(VERSION 3.22)
project(program LANGUAGES NONE)
find_package(Hocket {wanted} REQUIRED)
"""


def run(command: Sequence[str], **more: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **more)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


def of_pkg_config(folder: Path, *options: str) -> list[str]:
    """Output of pkg-config for the hocket.pc in a folder; skips the test without pkg-config."""
    tool = shutil.which("pkg-config")
    if tool is None:
        pytest.skip("no pkg-config")
    return shlex.split(run([tool, *options, "hocket"], env={"PKG_CONFIG_PATH": str(folder)}))


def configure(folder: Path, project: str) -> subprocess.CompletedProcess[str]:
    """CMake on a project that wants the HocketConfig.cmake in its folder."""
    tool = shutil.which("cmake")
    if tool is None:
        pytest.skip("no cmake")
    (folder / "CMakeLists.txt").write_text(project)
    command = [tool, "-S", str(folder), "-B", str(folder / "build"), f"-DHocket_DIR={folder}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("place", PLACES)
def test_pkg_config_reads_the_flags(place: str, tmp_path: Path) -> None:
    includes, library = [Path(place) / "include"], Path(place) / "lib" / "libhocket_runtime.so"
    (tmp_path / "hocket.pc").write_text(pkg_config_file("1.2.3", includes, [library]))
    assert of_pkg_config(tmp_path, "--cflags") == compile_flags(includes)
    assert of_pkg_config(tmp_path, "--libs") == link_flags([library])
    assert of_pkg_config(tmp_path, "--modversion") == ["1.2.3"]


@pytest.mark.parametrize("more", [[], ["--sort"]])
def test_the_command_prints_the_same_flags_for_pkg_config(mpi: Mpi, more: list[str], tmp_path: Path) -> None:
    (tmp_path / "hocket.pc").write_text(hocket("info", "--pkg-config", *more, "--mpi", mpi.mpiexec))
    flags = shlex.split(hocket("info", "--cflags", "--libs", *more, "--mpi", mpi.mpiexec))
    assert ("-lhocket_sort" in flags) == bool(more) and "-lhocket_runtime" in flags
    assert of_pkg_config(tmp_path, "--cflags", "--libs") == flags
    assert of_pkg_config(tmp_path, "--modversion") == [__version__]


@pytest.mark.parametrize(
    ("source", "target", "more", "begins"),
    [(EXAMPLE, "hocket", [], "rank 0 of 3"), (SORTS, "sort", ["--sort"], "rank 0: ")],
)
def test_cmake_builds_a_program_that_runs(
    mpi: Mpi, tmp_path: Path, source: Path, target: str, more: list[str], begins: str
) -> None:
    (tmp_path / "HocketConfig.cmake").write_text(hocket("info", "--cmake", *more, "--mpi", mpi.mpiexec))
    configured = configure(tmp_path, PROJECT.format(source=source, target=target))
    assert configured.returncode == 0, configured.stdout + configured.stderr
    run(["cmake", "--build", str(tmp_path / "build")])
    by_flags = compile_with_hocket(mpi, source, *more)
    said = [mpiexec(mpi, 3, [str(program)], {}) for program in (tmp_path / "build" / "program", by_flags)]
    by_cmake, by_hand = (sorted(text.splitlines()) for text in said)
    assert any(line.startswith(begins) for line in by_cmake) and by_cmake == by_hand


def test_cmake_says_that_the_library_is_gone(mpi: Mpi, tmp_path: Path) -> None:
    gone = tmp_path / "gone" / "libhocket_runtime.so"
    (tmp_path / "HocketConfig.cmake").write_text(cmake_file("1.2.3", [tmp_path], [gone], mpi.mpicc))
    configured = configure(tmp_path, PROJECT.format(source=EXAMPLE, target="hocket"))
    assert configured.returncode != 0
    assert "its library is gone: print this file again" in " ".join(configured.stderr.split())


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        ("", True),
        ("1", True),
        ("1.2.3", True),
        ("1.2.3 EXACT", True),
        ("1.1", True),
        ("1.1 EXACT", False),
        ("1.2.4", False),
        ("0.9", False),
        ("2", False),
        ("0.9...2", True),
        ("0.9...<1.2.3", False),
        ("0.9...1.2.3", True),
        ("1.3...2", False),
    ],
)
def test_cmake_finds_the_versions_that_fit(wanted: str, fits: bool, tmp_path: Path) -> None:
    (tmp_path / "HocketConfig.cmake").touch()
    (tmp_path / "HocketConfigVersion.cmake").write_text(cmake_version_file("1.2.3"))
    configured = configure(tmp_path, WANTED.format(wanted=wanted))
    assert (configured.returncode == 0) == fits, configured.stdout + configured.stderr
    assert fits or "HocketConfig.cmake, version: 1.2.3" in configured.stderr


def test_the_command_prints_the_version_for_cmake() -> None:
    assert hocket("info", "--cmake-version") == cmake_version_file(__version__)


@pytest.mark.parametrize("place", ["/a;b", "/a]=]b"])
def test_paths_that_cmake_cannot_read_are_refused(place: str) -> None:
    with pytest.raises(HocketError, match="CMake cannot read"):
        cmake_file("1.2.3", [Path(place)], [Path(place) / "l.so"], "mpicc")


def test_paths_that_pkg_config_cannot_read_are_refused() -> None:
    with pytest.raises(HocketError, match="pkg-config cannot read"):
        pkg_config_file("1.2.3", [Path("/a$b")], [Path("/a/l.so")])


@pytest.mark.parametrize(
    "options",
    [
        ["--cflags", "--cmake"],
        ["--libs", "--pkg-config"],
        ["--cmake", "--pkg-config"],
        ["--cmake", "--cmake-version"],
    ],
)
def test_one_kind_at_a_time(options: list[str]) -> None:
    result = CliRunner().invoke(cli, ["info", *options], prog_name="hocket")
    assert result.exit_code == 2 and result.stdout == ""
    assert "exclude each other" in result.stderr
