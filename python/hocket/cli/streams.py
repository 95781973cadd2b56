"""The standard streams: some may be closed (``hocket … >&-``, cron, daemons), standard output may be full."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, Final

_NAMES: Final = ("stdin", "stdout", "stderr")


class _StandardOutput(io.FileIO):
    """Its error says what could not be written, once: Python flushes again when it exits."""

    _failed = False

    def write(self, data: Any, /) -> int | None:  # type: ignore[override]
        if self._failed:
            return len(data)
        try:
            return super().write(data)
        except OSError as error:
            self._failed = True
            error.filename = "standard output"
            raise


def prepare_streams() -> None:
    """Makes the standard streams such that all of them can be used, and name themselves in errors."""
    _open_closed_streams()
    output = sys.stdout
    if output is sys.__stdout__ and isinstance(output, io.TextIOWrapper):
        output.flush()
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(_StandardOutput(output.fileno(), "w", closefd=False)),
            encoding=output.encoding,
            errors=output.errors,
            line_buffering=output.line_buffering,
        )


def _open_closed_streams() -> None:
    """Leads streams that are closed to nowhere.

    Python has None for such a stream. Its descriptor is free besides, so that the next file opened would
    get its number, and what programs started from here print would go into that file.
    """
    for number, name in enumerate(_NAMES):
        if getattr(sys, name) is not None:
            continue
        opened = os.open(os.devnull, os.O_RDONLY if number == 0 else os.O_WRONLY)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
        setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))
