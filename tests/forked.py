"""Hocket's command line in processes that are forked: what Python takes to start and to import it is half of what a
launch of a few ranks costs. Tests of the start itself begin ``python -m hocket``."""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import importlib
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

START = [sys.executable, "-m", "hocket"]
MODULES = (
    "hocket.__main__",
    "hocket.cli.run",
    "hocket.launch.environment",
    "hocket.launch.runtime.ready",
    "hocket.network.chosen",
    "hocket.system.cache",
)


def popen(command: Sequence[str], env: Mapping[str, str] | None, **options: Any) -> subprocess.Popen[str]:
    """``subprocess.Popen`` of a command with its output as text. Where it is ``python -m hocket ...`` there is no other
    program: it goes on from here, with an environment, standard streams and exit code of its own."""
    if list(command[:3]) != START:
        return subprocess.Popen(command, env=env, text=True, errors="replace", **options)
    for module in MODULES:
        importlib.import_module(module)
    given = dict(os.environ if env is None else env)
    go_on = lambda: _go_on(command[3:], given)  # noqa: E731
    return subprocess.Popen(command, preexec_fn=go_on, text=True, errors="replace", **options)


def _go_on(arguments: Sequence[str], env: Mapping[str, str]) -> None:
    """The child between fork and exec; does not return. What the parent waits for is an end of the pipe by which
    ``Popen`` learns that a program has begun."""
    code: Any = 1
    try:
        faulthandler.disable()
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        atexit._clear()
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        os.environ.clear()
        os.environ.update(env)
        sys.stdin, sys.stdout = open(0), open(1, "w")  # noqa: SIM115
        sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115
        sys.argv = ["hocket", *arguments]
        sys.unraisablehook = sys.__unraisablehook__
        code = sys.modules["hocket.__main__"].main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)
