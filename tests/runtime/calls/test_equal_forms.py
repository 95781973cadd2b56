"""Blocking, nonblocking and persistent calls with counts of either size, every byte checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Launch = Callable[..., CompletedProcess[str]]

ROUNDS = 2
BLOCKING, PERSISTENT, NONBLOCKING = ROUNDS, ROUNDS, ROUNDS


@pytest.mark.parametrize("threads", ["", " threads"])
def test_every_form_is_scheduled(launch: Launch, tmp_path: Path, threads: str) -> None:
    """All-gathers that go on beside the program only where all ranks have MPI_THREAD_MULTIPLE."""
    trace = tmp_path / "trace"
    env = {"HOCKET_TRACE": str(trace)}
    done = launch(f"equal_forms_check{threads}", "chain:2,2", 4, env=env)
    assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr
    widths = 2 if "large counts: 1" in done.stdout else 1
    gathers = 2 * (BLOCKING + (NONBLOCKING + PERSISTENT if threads else 0))
    for rank in range(4):
        lines = trace.with_name(f"trace.{rank}").read_text().splitlines()
        events = Counter(line.split()[0] for line in lines)
        assert events["all-to-all"] == 1 + widths * (BLOCKING + NONBLOCKING + PERSISTENT)
        assert events["all-gather"] == widths * gathers
