"""Turning signals into exceptions, so that ``with`` and ``finally`` clean up."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Terminated(SystemExit):
    """SIGTERM or SIGHUP came; the exit code is the shell's 128 + signal."""


def _raise(number: int, _frame: FrameType | None) -> None:
    # Once is enough: a second signal must not cut the cleaning up short.
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    raise Terminated(128 + number)


@contextmanager
def as_exceptions() -> Iterator[None]:
    """Within it SIGTERM and SIGHUP raise :class:`Terminated`; does nothing outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _raise) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)  # None: not Python's


@contextmanager
def held_back() -> Iterator[None]:
    """Within it Ctrl-C and SIGTERM wait: for cleaning up, which takes a moment and must be whole."""
    numbers = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
