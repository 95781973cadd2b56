"""Every error that a user can cause becomes one line on stderr and exit code 2."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Final

import click

from hocket.cli.usage import one_line
from hocket.errors import HocketError

# What can be done about an error of the system that no other place has explained.
_REMEDIES: Final = {
    errno.ENOSPC: "make room or write elsewhere",
    errno.EDQUOT: "make room or write elsewhere",
    errno.EROFS: "write elsewhere",
    errno.EACCES: "check its permissions",
    errno.ENOENT: "check its name",
    errno.EMFILE: "allow more open files: ulimit -n",
    errno.EAGAIN: "allow more processes: ulimit -u",
}


class Failure(click.ClickException):
    """One line: ``hocket: what went wrong``."""

    exit_code = 2

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo("hocket: " + " ".join(self.message.split()), file=file, err=file is None)


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
        raise Failure("there is not enough memory for this; plan fewer hosts or one rank's row") from error
    except Exception as error:
        core = sys.modules.get("hocket._core")
        if core is not None and isinstance(error, core.InputError):
            raise Failure(str(error.args[0] if error.args else error)) from error
        raise


def _asks_for_help(error: click.UsageError) -> bool:
    """'hocket' or 'hocket plan' alone: click 8.2 and later raise this to show the help."""
    kind = getattr(click.exceptions, "NoArgsIsHelpError", None)
    return kind is not None and isinstance(error, kind)


def describe(error: Exception) -> str:
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    remedy = _REMEDIES.get(error.errno or 0)
    return f"{text}; {remedy}" if remedy else text
