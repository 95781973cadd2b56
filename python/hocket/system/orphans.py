"""Processes that end with this one, even if it is killed.

A shell in a session of its own reads from a pipe whose other end closes with this process. Not PR_SET_PDEATHSIG: it
comes when the thread ends that has started a process, reaches neither the launcher behind a script nor its ranks, and
would be set between fork and exec, where Python with threads must not run.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

_GRACE: Final = 20  # seconds between SIGTERM, of which launchers end their ranks, and SIGKILL
# ``read`` fails at the end of the pipe, which this process's end brings.
_WATCH: Final = "\n".join(
    [
        "read group || exit",
        "read over && exit",
        "kill -s TERM -- -$group",
        f"until [ $((tries += 1)) -gt {10 * _GRACE} ]; do kill -s 0 -- -$group || exit; sleep 0.1; done",
        "kill -s KILL -- -$group",
    ]
)


@contextmanager
def ending_with_us() -> Iterator[Callable[[int], None]]:
    """Yield a function that takes a group of processes: if this process ends within the context, so do they."""
    watch = subprocess.Popen(
        ["/bin/sh", "-c", _WATCH],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert watch.stdin is not None
    pipe = watch.stdin

    def say(line: str) -> None:
        with suppress(OSError):  # somebody has killed it
            pipe.write(f"{line}\n".encode())
            pipe.flush()

    try:
        yield lambda group: say(str(group))
    finally:
        say("over\nover")  # the first where no group was told
        with suppress(OSError):
            pipe.close()
        watch.wait()
