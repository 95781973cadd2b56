"""Ranks are started in one place: hocket.launch."""

import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "python/hocket"
# Modules that run tools and daemons, which have no ranks.
TOOLS = {
    "cli/discover.py",
    "doctor/installation.py",
    "lab/slurm.py",
    "lab/watchdog.py",
    "system/signals.py",
    "launch/runtime/compiling.py",
    "launch/runtime/ready.py",
}
# Where the type of what has been started is named.
LISTEN = {"lab/cluster.py", "launch/job.py"}
STARTS = r"\bsubprocess\b|\bos\.(?:exec|spawn|posix_spawn|system|popen|fork)|\bmultiprocessing\b"


def files_with(pattern: str) -> set[str]:
    found = (path for path in PACKAGE.rglob("*.py") if re.search(pattern, path.read_text()))
    return {str(path.relative_to(PACKAGE)) for path in found}


def test_only_tools_are_started_elsewhere() -> None:
    assert files_with(STARTS) == TOOLS | LISTEN | {"launch/process.py"}


def test_whoever_writes_a_launchers_command_line_leaves_starting_to_the_launcher() -> None:
    writes = files_with(r"\b(?:launch_command|with_exports)\(") - {"launch/mpi.py"}
    assert writes and writes <= files_with(r"from hocket\.launch import")
    assert not writes & TOOLS
