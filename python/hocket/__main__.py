"""Beginning of the commands ``hocket`` (``python -m hocket``) and ``hocket-sort``.

Ctrl-C ends them quietly, also while parts are imported and when they are over."""

import importlib
import os
import signal
import sys
from types import FrameType
from typing import Final, NoReturn

_INTERRUPTED: Final = 128 + signal.SIGINT


def main() -> int:
    """The command line ``hocket`` with the arguments of this process; its exit code."""
    return _begin("hocket.cli")


def sort() -> int:
    """The command line ``hocket-sort`` with the arguments of this process; its exit code."""
    return _begin("hocket.cli.sort")


def _begin(module: str) -> int:
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # jobs in the background ignore it
    if heeded:
        signal.signal(signal.SIGINT, _leave)
    command_line = importlib.import_module(module).main

    try:
        if heeded:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return int(command_line())
    except KeyboardInterrupt:
        return _INTERRUPTED
    finally:
        if heeded:
            signal.signal(signal.SIGINT, _leave)


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
