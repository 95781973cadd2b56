"""Measured networks that are kept, by the set of their hosts: ``network-<digest>.toml`` in the user's cache."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from hocket.errors import HocketError
from hocket.network.read import read_network_description
from hocket.system.cache import cache_dir
from hocket.system.trust import check_private


def kept_path(hosts: Collection[str]) -> Path:
    """File for what is measured between these hosts."""
    digest = hashlib.sha256("\n".join(sorted(hosts)).encode()).hexdigest()[:16]
    return cache_dir() / f"network-{digest}.toml"


def kept_for(hosts: Collection[str]) -> Path | None:
    """The smallest kept network that has all of these hosts, with or without domains. Damaged files are left alone."""
    kept = sorted(cache_dir().glob("network-*.toml"), key=lambda path: path.stat().st_size)
    return next((path for path in kept if _labels(hosts) <= _labels(_hosts(path))), None)


def _labels(hosts: Iterable[str]) -> set[str]:
    return {host if host[:1].isdigit() else host.partition(".")[0] for host in hosts}  # addresses stay


def _hosts(path: Path) -> Iterator[str]:
    try:
        check_private(path)
        yield from (host.name for host in read_network_description(str(path)).hosts)
    except (HocketError, OSError):
        return
