"""`make lint` checks again what has changed, and what has not passed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPILER = """#!/bin/sh
case "$1" in --version|-show) echo 1; exit 0; esac
for source; do :; done
echo "$source" >> calls
! grep -q wrong "$source"
"""


RUNTIME, SORT = ["good.cpp", "runtime_together.cpp"], ["other.cpp", "sort_mpi_together.cpp"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("core/part.hpp", "runtime/good.cpp", "sort/mpi/other.cpp", "cmake/check_sources.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "sort/mpi/other.cpp").write_text('#include "core/part.hpp"')
    shutil.copy(ROOT / "cmake/check_sources.py", tmp_path / "cmake")
    (tmp_path / "compiler").write_text(COMPILER)
    (tmp_path / "compiler").chmod(0o755)
    return tmp_path


def check(project: Path) -> tuple[int, list[str]]:
    """Exit status, and what was compiled."""
    (project / "calls").write_text("")
    command = [sys.executable, "cmake/check_sources.py", "syntax", str(project / "compiler"), "passed"]
    status = subprocess.run(command, cwd=project, capture_output=True).returncode
    return status, sorted(Path(line).name for line in (project / "calls").read_text().split())


def test_what_has_passed_is_not_checked_again(project: Path) -> None:
    assert check(project) == (0, sorted(RUNTIME + SORT))
    assert check(project) == (0, [])
    (project / "runtime/good.cpp").write_text("int changed;")
    assert check(project) == (0, RUNTIME)
    (project / "core/part.hpp").write_text("int changed;")
    assert check(project) == (0, SORT)


def test_what_has_failed_is_checked_again(project: Path) -> None:
    (project / "runtime/good.cpp").write_text("wrong")
    assert check(project) == (1, sorted(RUNTIME + SORT))  # this compiler reads no includes
    assert check(project) == (1, ["good.cpp"])
    (project / "compiler").write_text(COMPILER.replace("echo 1;", "echo 2;"))
    assert check(project) == (1, sorted(RUNTIME + SORT))
