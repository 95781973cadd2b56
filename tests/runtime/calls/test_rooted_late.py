"""Calls in which a rank need not wait: by default it never waits where the library alone would not."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path


def test_ranks_that_may_go_on_do(
    launch: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """Long enough for two looks at calls of each kind, and all ranks wait for each other now and then."""
    done = launch(
        "rooted_late 200 30", "chain:2,2", 4, "--choose", "learn", env={"HOCKET_CHOICES": str(tmp_path)}
    )
    assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr
