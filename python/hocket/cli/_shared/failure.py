"""Every error that a user can cause becomes one line on stderr and exit code 2."""

import errno
import io
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

import click

from hocket.cli._shared.commands import one_line
from hocket.errors import HocketError
from hocket.system.text import Escaped, printable, shortened

_NAMES: Final = ("stdin", "stdout", "stderr")


class _StandardOutput(io.FileIO):
    """Its error says what could not be written, once: Python flushes again when it exits."""

    failed = False
    closed_by_caller = False

    def write(self, data: Any, /) -> int | None:  # type: ignore[override]
        if self.failed:
            return len(data)
        try:
            if self.closed_by_caller:
                raise OSError(errno.EBADF, "Is closed")
            return super().write(data)
        except OSError as error:
            self.failed = True
            error.filename = "standard output"
            raise


class _StandardError(io.FileIO):
    """Standard error that ignores failed writes: there is nowhere to report them."""

    def write(self, data: Any, /) -> int | None:  # type: ignore[override]
        try:
            return super().write(data)
        except OSError:
            return len(data)


def prepare_streams() -> None:
    """Makes the standard streams such that all of them can be used, name themselves in errors, and show what a
    terminal would obey."""
    closed = _open_closed_streams()
    for name, kind in (("stdout", _StandardOutput), ("stderr", _StandardError)):
        stream = getattr(sys, name)
        if stream is getattr(sys, f"__{name}__") and isinstance(stream, io.TextIOWrapper):
            stream.flush()
            raw = kind(stream.fileno(), "w", closefd=False)
            setattr(sys, name, Escaped(stream, raw))
            if isinstance(raw, _StandardOutput):
                raw.closed_by_caller = name in closed


def _open_closed_streams() -> set[str]:
    """Leads streams that are closed to nowhere; returns their names.

    Python has None for such a stream. Its descriptor is free besides, so that the next file opened would get its
    number, and what programs started from here print would go into that file."""
    closed = {name for name in _NAMES if getattr(sys, name) is None}
    for number, name in enumerate(_NAMES):
        if name not in closed:
            continue
        if (opened := os.open(os.devnull, os.O_RDONLY if number == 0 else os.O_WRONLY)) != number:
            os.dup2(opened, number)
            os.close(opened)
        stream = os.fdopen(number, "r" if number == 0 else "w", closefd=False)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    return closed


# Remedies for errors of the operating system that no other place has explained.
_REMEDIES: Final = {
    errno.ENOSPC: "make room or write elsewhere",
    errno.EDQUOT: "make room or write elsewhere",
    errno.EROFS: "write elsewhere",
    errno.EACCES: "check its permissions",
    errno.ENOENT: "check its name",
    errno.ENOTDIR: "check its name",
    errno.EISDIR: "name a file",
    errno.ELOOP: "remove the link, which leads to itself",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EBADF: "lead it to a file, or to /dev/null",
    errno.EIO: "look at the disk",
    errno.ENOMEM: "free some memory",
    errno.EMFILE: "allow more open files: ulimit -n",
    errno.EAGAIN: "allow more processes: ulimit -u",
}


class Failure(click.ClickException):
    """Error of one line: ``hocket: what went wrong``."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        text = printable(shortened(" ".join(map(str.strip, self.message.strip().split("\n")))))
        click.echo(f"hocket: {text}", file=file, err=file is None)


class NobodyReadsError(Exception):
    """Standard output is a pipe whose reader has gone; click would answer with code 1."""


@contextmanager
def failures() -> Iterator[None]:
    """Translates what can go wrong outside of the program itself."""
    try:
        yield
    except click.UsageError as error:
        if _asks_for_help(error):
            raise
        raise Failure(one_line(error)) from error
    except BrokenPipeError as error:
        raise NobodyReadsError from error
    except (HocketError, OSError) as error:
        raise Failure(describe(error)) from error
    except MemoryError as error:
        raise Failure(
            "there is not enough memory for this; plan fewer hosts or one rank's program"
        ) from error
    except RuntimeError as error:
        if "start new thread" not in str(error):
            raise
        raise Failure(f"no thread can be started; {_REMEDIES[errno.EAGAIN]}") from error
    except Exception as error:
        if (core := sys.modules.get("hocket._core")) is not None and isinstance(error, core.InputError):
            raise Failure(str(error.args[0] if error.args else error)) from error
        raise


class Refusing(click.Command):
    """Beginning of a command line: what its commands refuse becomes a :class:`Failure`."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        with failures():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with failures():
            return super().invoke(ctx)


def _asks_for_help(error: click.UsageError) -> bool:
    """'hocket' or 'hocket plan' alone: click 8.2 and later raise this to show the help."""
    kind = getattr(click.exceptions, "NoArgsIsHelpError", None)
    return kind is not None and isinstance(error, kind)


def describe(error: Exception) -> str:
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    if error.errno == errno.ENOENT and not error.filename and _nowhere():
        return "the working directory has been removed; change to one that exists"
    text = f"{os.fsdecode(error.filename)}: {error.strerror}" if error.filename else error.strerror
    return f"{text}; {_REMEDIES.get(error.errno or 0, 'check it')}"


def _nowhere() -> bool:
    try:
        Path.cwd()
    except OSError:
        return True
    return False


def internal(error: Exception) -> str:
    """An error that no place has foreseen, in one line."""
    *_, place = traceback.extract_tb(error.__traceback__)
    return (
        f"a fault of Hocket: {type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno}); "
        "please report it with what it says when PYTHONDEVMODE=1 is set"
    )
