"""Peak memory of a piece of work, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import pytest

_PEAK = (
    "import faulthandler\n"
    "faulthandler.dump_traceback_later(60, exit=True)\n"
    "def peak():\n"
    "    with open('/proc/self/status') as status:\n"
    "        return next(int(line.split()[1]) for line in status if line.startswith('VmHWM'))\n"
)


def growth(prepare: str, work: str) -> int:
    """Growth in KiB of the peak resident memory while the lines ``work`` run, after the lines ``prepare``.

    ``ru_maxrss`` would count what the process that starts the new one has had.
    """
    if "libasan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("AddressSanitizer keeps what is freed")
    script = f"{_PEAK}{prepare}\nbefore = peak()\n{work}\nprint(peak() - before)\n"
    # A process of 0.3 s once stood still for two minutes. What is measured is memory, so one more try is fair; where
    # it stood is told.
    for attempt in range(2):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
        if done.returncode == 0:
            return int(done.stdout.split()[-1])
        if attempt == 1 or "Timeout (" not in done.stderr:
            break
        warnings.warn(f"a process that measures memory stood still:\n{done.stderr}", stacklevel=2)
    raise AssertionError(done.stderr)
