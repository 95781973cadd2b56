"""Ctrl-C from the first import on: quiet, exit code 130."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

# In place of a module that is imported early, or late: tells that it is being imported, and takes its time.
SLOW = """
import sys, time
print("importing", flush=True)
time.sleep(100)
"""


@pytest.mark.parametrize("module", ["click", "hocket_late"])
def test_an_interrupt_while_importing(tmp_path: Path, module: str) -> None:
    (tmp_path / f"{module}.py").write_text(SLOW)
    late = "from hocket import cli; cli.COMMANDS['info'] = cli.Entry('hocket_late:x', '');"
    start = "from hocket.__main__ import main; sys.exit(main())"
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import sys; {late if module == 'hocket_late' else ''} {start}",
            "info",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None and process.stdout.readline() == "importing\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err.strip()) == (130, "")


def test_the_command_begins_there() -> None:
    """And so does ``python -m hocket``."""
    from importlib.metadata import entry_points

    (command,) = entry_points(group="console_scripts", name="hocket")
    assert command.value == "hocket.__main__:main"
    done = subprocess.run(
        [sys.executable, "-m", "hocket", "--version"], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.startswith("hocket ") and done.returncode == 0
