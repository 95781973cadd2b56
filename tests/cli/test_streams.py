"""Standard streams that are closed, full or not for writing: no traceback, and nothing lands in other files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CLOSED = ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"]


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    hocket = f"'{sys.executable}' -m hocket.cli"
    return subprocess.run(
        ["sh", "-c", line.replace("hocket", hocket, 1)],
        cwd=folder, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("schedulers", 0),
        ("--help", 0),
        ("--version", 0),
        ("network show star:4", 0),
        ("plan all-to-all --network star:4 -o p.hkt", 0),
        ("plan all-to-all --network star:0", 2),
        ("plan all-gather --network star:4", 0),
        ("help plan", 0),
        ("completion bash", 0),
        ("fly", 2),
    ],
)
def test_closed_streams_are_quiet(tmp_path: Path, closed: str, command: str, code: int) -> None:
    done = shell(f"hocket {command} {closed}", tmp_path)
    assert done.returncode == code
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr
    assert (done.stdout == "") == (">&- " in f"{closed} ".replace("2>&-", "") or code == 2)
    plan = tmp_path / "p.hkt"
    assert plan.exists() == ("-o" in command)
    if plan.exists():
        assert shell(f"hocket verify {plan} --network star:4", tmp_path).returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize(
    "command",
    [
        "schedulers",
        "schedulers tree",
        "--help",
        "network show star:4",
        "lab status",
        "plan all-to-all --network star:4",
        "plan all-gather --network star:4 --json",
        "help",
        "help plan",
        "completion zsh",
    ],
)
def test_full_standard_output_is_named_with_a_remedy(tmp_path: Path, command: str) -> None:
    done = shell(f"hocket {command} > /dev/full", tmp_path)
    assert done.returncode == 2
    assert done.stderr == "hocket: standard output: No space left on device; make room or write elsewhere\n"


def test_standard_output_that_is_for_reading(tmp_path: Path) -> None:
    done = shell("hocket schedulers 1</dev/null", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("hocket: standard output: ") and done.stderr.count("\n") == 1
