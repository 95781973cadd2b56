"""Check the folder of built code and plans."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from hocket.doctor.case import Case
from hocket.doctor.finding import Finding, note, ok, problem
from hocket.system.cache import cache_dir

_NEEDED_MB = 64  # a runtime, with room for its objects' neighbours and for plans


def check_cache(case: Case) -> Iterator[Finding]:
    cache = cache_dir()
    free = shutil.disk_usage(cache).free >> 20
    if free < _NEEDED_MB:
        yield problem("cache", f"{cache}: {free} MB are free, a built runtime and plans need {_NEEDED_MB}",
                      "free some space there, or set XDG_CACHE_HOME to a directory with more")  # fmt: skip
        return
    yield ok("cache", f"{cache}, writable by you only")
    if case.hostfile:
        yield note("cache", f"all hosts of {case.hostfile} must see {cache}",
                   "if they do not, set XDG_CACHE_HOME to a shared directory")  # fmt: skip
