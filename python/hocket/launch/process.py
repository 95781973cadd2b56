"""Launchers of ranks as child processes: signals reach the job, and no rank outlives us.

A launcher that is asked to end (SIGINT, SIGTERM, SIGHUP) ends its ranks and removes what it has made, such as Open
MPI's files in /dev/shm; one that is killed leaves both. So it hears of a signal once, gets time, and only then is
killed. So it is where we are killed."""

import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import IO, Any, Final

from hocket.errors import MissingToolError
from hocket.system.files import as_error
from hocket.system.signals import (
    Terminated,
    as_exceptions,
    ending_with_us,
    held_back,
    number_of,
    passed_on,
    postponed,
)

_GRACE: Final = 20.0  # seconds that a launcher gets to end its ranks
_GRACE_BEHIND: Final = 3.0  # and one behind a script that has ended; what it runs beside may ignore signals
_PAUSE, _LOOK = 0.02, 0.2  # seconds

Done = subprocess.CompletedProcess[str]  # what a launcher or a tool has printed, and its exit code


class TimedOutError(Exception):
    """The launcher was not done in the time that it was given, and was ended. ``output``: what was captured."""

    def __init__(self, output: str = "") -> None:
        super().__init__("not done in time")
        self.output = output


@contextmanager
def started(
    command: Sequence[str],
    *,
    stdin: int | None = subprocess.DEVNULL,
    stdout: int | IO[bytes] | None = subprocess.PIPE,
    stderr: int | IO[bytes] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[str]]:
    """A launcher in a session of its own: Ctrl-C comes to us alone.

    Within the context SIGINT, SIGTERM, SIGHUP and SIGQUIT raise; whatever ends it before the launcher has ended (which
    ``ended`` waits for) ends the launcher: by the same signal, or by SIGTERM; so does SIGKILL. SIGUSR1 and SIGUSR2 are
    passed on. Raises MissingToolError if it does not start."""
    with as_exceptions(), ExitStack() as stack:
        with postponed():
            ends_with_us = stack.enter_context(ending_with_us())
            remedy = "check the MPI installation, and its name and permissions"
            with as_error(f"{command[0]} does not start", remedy, MissingToolError):
                process = subprocess.Popen(
                    command, stdin=stdin, stdout=stdout, stderr=stderr, env=environment, text=True, errors="replace",
                    start_new_session=True,
                )  # fmt: skip

            ends_with_us(process.pid)

            def leave(
                kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
            ) -> None:
                end(process, number_of(error))
                process.__exit__(None, None, None)  # closes the pipes

            stack.push(leave)
            stack.enter_context(passed_on((signal.SIGUSR1, signal.SIGUSR2), process.pid))
        yield process


def attached(
    command: Sequence[str], environment: Mapping[str, str] | None = None, seconds: float | None = None
) -> int:
    """Runs a launcher with our standard streams. Its exit code, 128 + N where signal N ended it.

    A signal that comes to us raises, as in ``started``. Raises TimedOutError after ``seconds``."""
    with (
        _standard_input() as stdin,
        started(command, stdin=stdin, stdout=None, environment=environment) as process,
    ):
        if not ended(process, seconds):
            raise TimedOutError
        return _code(process)


def exit_code(
    command: Sequence[str], environment: Mapping[str, str] | None = None, seconds: float | None = None
) -> int:
    """Run as ``attached``, but return 128 + N if signal N arrived: for callers with work left after the job."""
    try:
        return attached(command, environment, seconds)
    except (KeyboardInterrupt, Terminated) as error:
        return 128 + number_of(error)


def captured(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    seconds: float | None = None,
    *,
    together: bool = False,
) -> Done:
    """Runs a launcher and returns its exit code, as of ``attached``, and what it has printed on both outputs, or
    ``together`` on one. A signal raises, as in ``started``. Raises TimedOutError after ``seconds``."""
    with ExitStack() as stack:
        said, complained = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(2))
        stderr = subprocess.STDOUT if together else complained
        process = stack.enter_context(started(command, stdout=said, stderr=stderr, environment=environment))
        in_time = ended(process, seconds)
        end(process)
        texts = []
        for file in (said, complained):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    if not in_time:
        raise TimedOutError(texts[0])
    return subprocess.CompletedProcess(command, _code(process), *texts)


def answer_of(command: Sequence[str], seconds: float, given: str | None = None) -> Done | None:
    """Output of a tool, given some input; None if it does not start, or does not end in time."""
    try:
        return subprocess.run(
            command, input=given, capture_output=True, text=True, errors="replace", timeout=seconds, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None


def ended(process: subprocess.Popen[Any], seconds: float | None = None) -> bool:
    """Waits until it has ended, at most so long; whether it has. Its ``returncode`` is known then.

    Not ``Popen.wait()``, which after Ctrl-C goes on waiting for a moment."""
    until = None if seconds is None else time.monotonic() + seconds
    options = os.WEXITED | os.WNOWAIT | (0 if until is None else os.WNOHANG)
    while process.returncode is None:
        if os.waitid(os.P_PID, process.pid, options) is not None:
            process.wait()
        elif until is not None and time.monotonic() > until:
            return False
        else:
            time.sleep(_PAUSE)
    return True


def end(process: subprocess.Popen[Any], number: int = signal.SIGTERM) -> None:
    """Passes a signal on to a launcher's group, waits for as long as it cleans up, and kills what is left.

    Not SIGHUP and SIGQUIT, of which Hydra dies at once and leaves its ranks: it gets SIGTERM."""
    if process.returncode is not None:
        return
    if number != signal.SIGINT:
        number = signal.SIGTERM
    with held_back():
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        over = os.WEXITED | os.WNOWAIT | os.WNOHANG
        _wait(lambda: os.waitid(os.P_PID, process.pid, over) is None, _GRACE)
        _wait(lambda: _has_members(process.pid), _GRACE_BEHIND)
        with suppress(ProcessLookupError):  # its number is not free before it is waited for
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait(while_true: Callable[[], bool], seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until and while_true():
        time.sleep(_PAUSE)


def _has_members(group: int) -> bool:
    """Return true if a process of the group lives. Zombies do not count: maybe nobody waits for them."""
    import psutil

    for pid in psutil.pids():
        with suppress(ProcessLookupError, PermissionError, psutil.Error):
            if os.getpgid(pid) == group and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                return True
    return False


def _code(process: subprocess.Popen[Any]) -> int:
    code: int = process.returncode
    return code if code >= 0 else 128 - code


@contextmanager
def _standard_input() -> Iterator[int | None]:
    """Ours. A terminal does not let other sessions read: what is typed is handed on, to those in the foreground."""
    if sys.stdin is None or not os.isatty(0):
        yield None
        return
    try:
        foreground = os.tcgetpgrp(0) == os.getpgrp()
    except OSError:  # not ours to control, and so of no session that could be kept from it
        yield None
        return
    if not foreground:
        yield subprocess.DEVNULL
        return
    reader, writer = os.pipe()
    over = threading.Event()

    def hand_on() -> None:
        with suppress(OSError), os.fdopen(writer, "wb", buffering=0) as job:
            while not over.is_set():
                if select.select([0], [], [], _LOOK)[0]:
                    if not (typed := os.read(0, 4096)):
                        return
                    job.write(typed)

    try:
        threading.Thread(target=hand_on, daemon=True).start()
        yield reader
    finally:
        over.set()
        os.close(reader)
