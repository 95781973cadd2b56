"""The Python package and its extension."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from hocket import _core
from hocket.doctor.case import Case
from hocket.doctor.finding import Finding, ok, problem
from hocket.launch.runtime.build import native_dir

_AGAIN = "install it again: pip install --force-reinstall hocket"


def check_package(_: Case) -> Iterator[Finding]:
    try:
        package = version("hocket")
    except PackageNotFoundError:
        yield problem("hocket", "the package is found but not installed", _AGAIN)
        return
    extension = getattr(_core, "__version__", "older")
    if extension != package:
        yield problem("hocket", f"the package is {package}, its extension {extension}", _AGAIN)
        return
    needed = [
        native_dir() / "libhocket_core.a",
        native_dir() / "runtime" / "shim" / "shim.c",
        native_dir() / "sort",
    ]
    missing = [path for path in needed if not path.exists()]
    if missing:
        yield problem("hocket", f"{missing[0]} is missing, which the runtime is built from", _AGAIN)
        return
    python = ".".join(map(str, sys.version_info[:3]))
    yield ok("hocket", f"version {package}, Python {python}")
