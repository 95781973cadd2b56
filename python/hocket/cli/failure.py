"""Every error that a user can cause becomes one line on stderr and exit code 2."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from hocket.errors import HocketError


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


def describe(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)
