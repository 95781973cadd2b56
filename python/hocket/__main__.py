"""Beginning of the command ``hocket`` and of ``python -m hocket``.

Ctrl-C ends it quietly, also while parts are imported and when it is over.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Final, NoReturn

_INTERRUPTED: Final = 128 + signal.SIGINT


def main() -> int:
    """The command line with the arguments of this process; its exit code."""
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # jobs in the background ignore it
    if heeded:
        signal.signal(signal.SIGINT, _leave)
    from hocket.cli import main as command_line

    try:
        if heeded:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return command_line()
    except KeyboardInterrupt:
        return _INTERRUPTED
    finally:
        if heeded:
            signal.signal(signal.SIGINT, _leave)


def _leave(_number: int, _frame: FrameType | None) -> NoReturn:
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
