"""Connections to hosts of the plan keep the pace of their host's link during a scheduled call, and no others."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from free_ports import free_ports

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("pacing") / "pacing"
    sources = [ROOT / "runtime/paths/pacing.cpp", ROOT / "runtime/paths/ask_routers.cpp"]
    flags = ["-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-I", str(ROOT)]
    subprocess.run(
        ["c++", *flags, Path(__file__).with_name("pacing.cpp"), *sources, "-o", built, "-pthread"], check=True
    )
    return built


def table_with(port: int, pace: str, path: Path) -> Path:
    lines = f"127.0.0.1 127.0.0.1 {port} 1234\nway 127.0.0.1 127.0.0.1 2 0 1 5\n"
    path.write_text(f"found 2026-11-28T09:00:00Z\n{pace}{lines}")
    return path


def test_connections_of_the_plan_are_paced_while_a_schedule_runs(program: Path, tmp_path: Path) -> None:
    port, other = free_ports(2)
    table = table_with(port, "pace 500000\n", tmp_path / "table")
    done = subprocess.run([program, str(port), str(other), table], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "before: -1 -1 -1 -1",
        "paced: 1000000 1000000 -1 -1",
        "of two calls: 1000000 1000000 -1 -1",
        "after: -1 -1 -1 -1",
        "exchanged: -1 -1 -1 -1",
    ]


def test_no_table_or_no_rate_in_it_no_pacing(program: Path, tmp_path: Path) -> None:
    port, other = free_ports(2)
    tables = [
        table_with(port, pace, tmp_path / f"table{len(pace)}") for pace in ("", "pace 0\n", "pace none\n")
    ]
    for table in (*tables, tmp_path / "none", ""):
        done = subprocess.run(
            [program, str(port), str(other), table], capture_output=True, text=True, check=True
        )
        lines = done.stdout.splitlines()
        assert len(lines) == 5 and all(line.endswith(": -1 -1 -1 -1") for line in lines)
