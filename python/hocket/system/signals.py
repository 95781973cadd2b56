"""Turning signals into exceptions, so that ``with`` and ``finally`` clean up."""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
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
def _handled(numbers: Sequence[int], handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
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
    KeyboardInterrupt for SIGINT; after the first, all of them are ignored. Does nothing outside the main thread."""
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
    """Hold back Ctrl-C and SIGTERM in this context: for cleaning up, which takes a moment and must be whole."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ALL)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
