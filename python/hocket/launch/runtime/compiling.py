"""Compiling on the user's machine: several files at once, and nothing is left behind when it is cut short."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from hocket.errors import HocketError, MissingToolError
from hocket.system.orphans import ending_with_us
from hocket.system.signals import held_back, postponed
from hocket.system.terminal import console

_SECONDS = 900  # of one command: sanitizers, on a busy machine
_PAUSE_SECONDS = 0.01
_FULL = ("No space left on device", "Disk quota exceeded", "File too large")


def compile_native(command: Sequence[str], environment: Mapping[str, str], work: Path) -> None:
    """Run one command as :func:`compile_all` does."""
    compile_all([command], environment, work)


def compile_all(
    commands: Sequence[Sequence[str]],
    environment: Mapping[str, str],
    work: Path,
    done: Callable[[], object] = lambda: None,
) -> None:
    """Runs the commands, as many at once as there are cores, and calls ``done`` after each.

    What compilers need for the moment lies in ``work``. Each has a process group of its own: where one fails,
    or an exception cuts the waiting short, the rest is killed with all that it has started. Raises
    MissingToolError, with the first thing the compiler complains of, if a command does not compile;
    HocketError if the disk is full.
    """
    waiting = list(reversed(commands))
    running: list[_Compile] = []
    try:
        while waiting or running:
            while waiting and len(running) < (os.cpu_count() or 1):
                with postponed():  # a signal between start and list would leave a compiler to itself
                    running.append(_Compile(waiting.pop(), {**environment, "TMPDIR": str(work)}, work))
            with held_back():  # a signal inside of poll() may leave a lock that wait() waits for
                for each in [each for each in running if each.is_over()]:
                    running.remove(each)
                    each.check()
                    done()
            time.sleep(_PAUSE_SECONDS)
    finally:
        with held_back():
            for each in running:
                each.kill()


class _Compile:
    """A running command."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], work: Path) -> None:
        self._command = command
        self._until = time.monotonic() + _SECONDS
        with contextlib.ExitStack() as stack:
            self._stderr = stack.enter_context(tempfile.TemporaryFile(dir=work))
            ends_with_us = stack.enter_context(ending_with_us())
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=self._stderr,
                    env=environment,
                    process_group=0,
                )
            except OSError as error:
                raise _does_not_run(command, error) from None
            ends_with_us(self._process.pid)
            self._resources = stack.pop_all()

    def is_over(self) -> bool:
        if self._process.poll() is None and time.monotonic() > self._until:
            self.kill()
            raise _does_not_run(self._command, f"it has not ended after {_SECONDS} seconds")
        return self._process.returncode is not None

    def kill(self) -> None:
        with contextlib.suppress(OSError):  # it is over
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._resources.close()

    def check(self) -> None:
        with self._resources:
            self._stderr.seek(0)
            errors = self._stderr.read().decode(errors="replace")
        if self._process.returncode == 0:
            return
        for full in _FULL:
            if full in errors:
                output = Path(self._command[self._command.index("-o") + 1]).parent
                raise HocketError(
                    f"building the runtime failed: {full}",
                    remedy=f"free some space in {output}, or set XDG_CACHE_HOME to where there is more",
                )
        first = next((line for line in errors.splitlines() if "error" in line), errors.strip()[:300])
        raise MissingToolError(
            f"building the runtime failed: {first}", remedy=f"try by hand: {' '.join(self._command)}"
        )


def _does_not_run(command: Sequence[str], why: object) -> MissingToolError:
    return MissingToolError(f"{command[0]} does not run: {why}", remedy="check the compiler")


@contextlib.contextmanager
def progress(what: str, files: int) -> Iterator[Callable[[], object]]:
    """Says that ``what`` is built; what it yields is to be called after each file.

    On a terminal a bar follows them.
    """
    print(f"hocket: building {what} (once, {files} files)", file=sys.stderr, flush=True)
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("files"), TimeElapsedColumn())
    with contextlib.ExitStack() as stack:
        with held_back():  # else the thread that draws the bar takes signals that are held back
            bar = stack.enter_context(Progress(*columns, console=console(), transient=True))
        task = bar.add_task("", total=files)
        yield lambda: bar.advance(task)
