"""Contents of ``LD_PRELOAD``: libraries that the user or a tool preloads, and Hocket's shim."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from hocket.errors import HocketError

VARIABLE: Final = "LD_PRELOAD"
SHIM: Final = "libhocket_shim.so"
_SEPARATORS: Final = re.compile(r"[:\s]+")  # as ld.so has them: no path in the list can hold one


def others() -> list[str]:
    """Libraries preloaded beside Hocket, in their order."""
    entries = _SEPARATORS.split(os.environ.get(VARIABLE, ""))
    return [entry for entry in entries if entry and Path(entry).name != SHIM]


def can_hold(shim: Path) -> bool:
    """False for a path that ld.so would split."""
    return _SEPARATORS.search(str(shim)) is None


def with_shim(shim: Path) -> str:
    """The value that preloads this shim, once, whatever shim was preloaded before.

    Libraries that the user preloads come first: whichever way they pass calls on, these reach Hocket.
    Raises HocketError for a path that ``LD_PRELOAD`` cannot hold.
    """
    if not can_hold(shim):
        raise HocketError(
            f"{shim} cannot be preloaded: its path holds a blank or a colon",
            remedy="set XDG_CACHE_HOME to a directory without",
        )
    return ":".join([*others(), str(shim)])
