"""Long work on the command line: its bar, and how it is stopped."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from hocket import _core
from hocket.cli._shared import work
from hocket.network import read_network
from hocket.network.parts import Defaults
from hocket.system.signals import Terminated

PATIENCE = 120.0  # seconds before a test gives up


def stop_this(number: int) -> None:
    os.kill(os.getpid(), number)


def until_cancelled() -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        _core.Progress.check()
    raise TimeoutError


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated)]
)
def test_a_signal_ends_the_work_first(number: int, error: type[BaseException]) -> None:
    ended: list[str] = []

    def never_done() -> None:
        try:
            stop_this(number)
            until_cancelled()
        except _core.Cancelled:
            ended.append("cancelled")

    with pytest.raises(error) as raised:
        work.with_spinner("working", never_done)
    assert ended == ["cancelled"]
    if isinstance(raised.value, Terminated):
        assert raised.value.code == 128 + number


def test_a_stopped_write_leaves_nothing(tmp_path: Path) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"first"
        stop_this(signal.SIGINT)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            yield b"more"

    with pytest.raises(KeyboardInterrupt):
        work.with_spinner("writing", lambda: work.write_atomically(str(tmp_path / "file"), chunks()))
    assert list(tmp_path.iterdir()) == []


def test_work_that_is_done_leaves_no_trace() -> None:
    assert work.with_spinner("working", lambda: threading.get_ident()) != threading.get_ident()
    _core.Progress.check()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("quiet", [False, True])
def test_the_bar_names_the_step(monkeypatch: pytest.MonkeyPatch, quiet: bool) -> None:
    """Only on a terminal, and not where an object is printed."""
    network = read_network("torus:8x8", Defaults())
    demand = _core.Demand(network.ranks, 1)
    schedule = _core.plan_exchange(network, demand).schedule
    terminal = Terminal()
    monkeypatch.setattr(work, "PATIENCE", 0.0)
    monkeypatch.setattr(work, "wants_json", lambda: quiet)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    end = time.monotonic() + (1.0 if quiet else PATIENCE)

    def again_and_again() -> None:
        while time.monotonic() < end and "deriving waits" not in terminal.getvalue():
            _core.Waits.derive(network, schedule)

    work.with_spinner("planning 64 ranks", again_and_again)
    shown = terminal.getvalue()
    assert shown == "" if quiet else "planning 64 ranks: deriving waits" in shown


def test_ctrl_c_at_a_terminal(tmp_path: Path) -> None:
    """No traceback, no object, 130; in a simulation that would take hours."""
    sizes = np.random.default_rng(1).integers(1000, 100_000, (192, 192))
    np.save(tmp_path / "sizes.npy", sizes)
    mine, its = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "hocket", "simulate", "--pattern", "irregular", "--algorithm", "AC",
         "--demand", tmp_path / "sizes.npy", "--network", "torus:8x3x8"],
        stdout=subprocess.PIPE, stderr=its, env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    ) as process:  # fmt: skip
        os.close(its)
        shown, end = b"", time.monotonic() + PATIENCE
        try:
            while not re.search(rb"messages: simulating.*%.*:", shown) and time.monotonic() < end:
                if select.select([mine], [], [], 1.0)[0]:
                    shown += os.read(mine, 65536)
            process.send_signal(signal.SIGINT)
            code = process.wait(PATIENCE)
        finally:
            process.kill()
        while select.select([mine], [], [], 0)[0]:
            try:
                shown += os.read(mine, 65536)
            except OSError:  # the other side is closed
                break
        os.close(mine)
        assert process.stdout is not None
        assert (code, process.stdout.read()) == (130, b""), shown[-2000:]
    assert b"simulating" in shown and b"Traceback" not in shown
