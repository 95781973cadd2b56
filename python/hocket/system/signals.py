"""Turning signals into exceptions, so that ``with`` and ``finally`` clean up."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

_ENDING: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_ALL: Final = (signal.SIGINT, *_ENDING)


class Terminated(SystemExit):
    """A signal that ends programs came; the exit code is the shell's 128 + signal."""


def number_of(error: BaseException | None) -> int:
    """The signal that an exception stands for; SIGTERM where it stands for none."""
    if isinstance(error, KeyboardInterrupt):
        return signal.SIGINT
    return int(error.code or 0) - 128 if isinstance(error, Terminated) else signal.SIGTERM


def _raise(number: int, _frame: FrameType | None) -> None:
    # Once is enough: a second signal must not cut the cleaning up short.
    for each in _ALL:
        signal.signal(each, signal.SIG_IGN)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise Terminated(128 + number)


@contextmanager
def _handled(numbers: Sequence[int], handler: signal._HANDLER) -> Iterator[None]:
    """But for those that are ignored (nohup, jobs in the background). Does nothing outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        number: signal.signal(number, handler)
        for number in numbers
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, signal.SIG_DFL if old is None else old)  # None: not Python's


@contextmanager
def as_exceptions() -> Iterator[None]:
    """Raise exceptions for signals in this context: :class:`Terminated` for SIGTERM, SIGHUP and SIGQUIT,
    KeyboardInterrupt for SIGINT; after the first, all of them are ignored. Does nothing outside the main
    thread."""
    with _handled(_ALL, _raise):
        yield


@contextmanager
def passed_on(numbers: Sequence[int], group: int) -> Iterator[None]:
    """Pass these signals on to a group of processes in this context."""

    def hand_on(number: int, _frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.killpg(group, number)

    with _handled(numbers, hand_on):
        yield


@contextmanager
def postponed() -> Iterator[None]:
    """Postpone handled signals in this context, as :func:`held_back` does, but processes started in it do not
    inherit that."""
    came: list[tuple[int, FrameType | None]] = []
    with _handled(_ALL, lambda number, frame: came.append((number, frame))):
        yield
    for number, frame in came[:1]:
        handler = signal.getsignal(number)
        if callable(handler):
            handler(number, frame)


@contextmanager
def held_back() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM in this context: for cleaning up, which takes a moment and must be
    whole."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ALL)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
