"""Removes a lab whose owner dies without doing so, be it by SIGKILL.

Started by the owner with a pipe as standard input: the end of the pipe is the owner's end."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from hocket.errors import UsageError
from hocket.lab import state


def start(lab_id: str) -> subprocess.Popen[bytes]:
    """Watch over ``lab_id`` until this process ends or closes the returned process's ``stdin``."""
    package_root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [package_root, os.environ.get("PYTHONPATH", "")]))
    return subprocess.Popen(
        [sys.executable, "-m", "hocket.lab.watchdog", lab_id],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
        start_new_session=True,  # Ctrl-C must not reach it
    )


def main() -> None:
    """Wait for the end of standard input, then remove the lab named on the command line."""
    while os.read(0, 1):
        pass
    with suppress(UsageError):  # the owner has cleaned up
        state.take_down(state.load(sys.argv[1]))


if __name__ == "__main__":
    main()
