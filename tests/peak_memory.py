"""Peak memory of a piece of work, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

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
    with tempfile.TemporaryDirectory() as cache:  # what other tests keep would be read, too
        env = {**os.environ, "XDG_CACHE_HOME": cache}
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1])
