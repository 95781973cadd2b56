"""Files of kept memory profiles."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from hocket import _core
from hocket.errors import HocketError
from hocket.system.cache import cache_dir
from hocket.system.files import read_file


def kept_path() -> Path:
    """This machine's profile in the user's cache, where the runtime finds it (sort/mpi/costs/costs.cpp)."""
    return cache_dir() / f"memory-{platform.node()}.txt"


def read_profile(path: str | os.PathLike[str] | None = None) -> _core.memory.Profile:
    """The profile in a file. Without one: HOCKET_MEMORY's, the machine's own, or the built-in one.

    Raises HocketError for a file that cannot be used.
    """
    chosen = path or os.environ.get("HOCKET_MEMORY") or None
    if chosen is None:
        kept = kept_path()
        if not kept.exists():
            return _core.memory.Profile.built_in()
        chosen = kept
    try:
        return _core.memory.Profile.parse(read_file(chosen).decode("utf-8", "replace"))
    except OSError as error:
        raise HocketError(
            f"cannot read the memory profile {chosen}: {error.strerror or error}",
            remedy="check its name and permissions",
        ) from None
    except _core.InputError as error:
        raise HocketError(f"{chosen}: {error}", remedy="measure again: hocket calibrate memory") from None
