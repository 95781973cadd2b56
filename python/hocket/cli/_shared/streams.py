"""The standard streams: some may be closed (``hocket … >&-``, cron, daemons), standard output may be full."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, Final

from hocket.system.terminal import Escaped

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

    Python has None for such a stream. Its descriptor is free besides, so that the next file opened would
    get its number, and what programs started from here print would go into that file.
    """
    closed = {name for name in _NAMES if getattr(sys, name) is None}
    for number, name in enumerate(_NAMES):
        if name not in closed:
            continue
        opened = os.open(os.devnull, os.O_RDONLY if number == 0 else os.O_WRONLY)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)
        stream = os.fdopen(number, "r" if number == 0 else "w", closefd=False)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    return closed
