"""Rates of hosts and widths of uplinks that a run has measured in this cluster, kept in the cache.

One file for each wiring, ``switch_links-<digest>.json``, which the runtime writes::

    {"version": 1, "date": "2026-11-23T04:00:00Z", "mpi": "…", "host_rate": bytes/s of a host, "alpha": s a
    message,
     "switch_links": [{"a": "leaf0", "b": "spine", "pairs": 8, "rate": bytes/s of all, "width": of one host}]}

A file without ``alpha`` is of a time when only uplinks were measured; there are no ``switch_links`` where only rates
were. ``pairs`` pairs of hosts sent across the uplink at once, so a width cannot show more than that."""

import contextlib
import hashlib
import json
import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from hocket import _core
from hocket.errors import HocketError
from hocket.network.description import NetworkDescription
from hocket.network.parts import MAX_LATENCY
from hocket.system.cache import cache_dir, check_private
from hocket.system.records import Limits, record

VERSION: Final = 1
MAX_BYTES: Final = 16 * 2**20
MAX_PAIRS: Final = 1_000_000
_DATE: Final = re.compile(r"(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Width:
    """Capacity of an uplink, in host links. ``at_least``: it carried all that was sent, so it may be wider."""

    value: float
    pairs: int
    at_least: bool


@dataclass(frozen=True, slots=True)
class Measured:
    """Widths of uplinks by their two ends, and the day (``2026-11-23``) on which they were measured.

    ``host_rate``: what a host sends, bytes/s; ``alpha``: seconds of a message without bytes, 0 where not known."""

    date: str
    host_rate: float
    alpha: float
    widths: dict[frozenset[str], Width]


def kept_path(description: NetworkDescription) -> Path:
    """File of what was measured of this network. Raises HocketError if there is no safe cache."""
    return cache_dir() / f"switch_links-{wiring_digest(description)}.json"


def wiring_digest(description: NetworkDescription) -> str:
    """Digest of the wiring, in 16 digits: names, which nodes are hosts, links; without rates and order."""
    if description.wiring is not None:  # still not made: nobody has asked for links
        spec = description.wiring.make()
        names = spec.names  # a list made anew at each reading
        nodes = sorted([name, ranks > 0] for name, ranks in zip(names, spec.ranks, strict=True))
        links = sorted(sorted((names[a], names[b])) for a, b, _, _ in spec.links)
    else:
        nodes = sorted([node.name, node.is_host] for node in description.nodes)
        links = sorted(sorted((link.a, link.b)) for link in description.links)
    grid = description.grid
    more = [] if grid is None else [[grid.kind, grid.sides, grid.names]]
    return hashlib.sha256(json.dumps([nodes, links, *more]).encode()).hexdigest()[:16]


def read_measured(description: NetworkDescription) -> tuple[Measured | None, str]:
    """Measurements kept for this network, or None; and why an existing file was not used.

    Nothing in the file is trusted: whatever is wrong with it, it is left alone."""
    path = None
    with contextlib.suppress(HocketError, OSError):
        if any(cache_dir().glob("switch_links-*.json")):  # digests of a million hosts are not made in vain
            path = kept_path(description)
    if path is None or not os.path.lexists(path):
        return None, ""
    try:
        return _checked(_load(path), description), ""
    except (HocketError, OSError, ValueError, RecursionError) as problem:
        what = str(problem) if isinstance(problem, HocketError) else f"{path} is damaged ({problem})"
        return None, f"{what}: what was measured is ignored; remove the file to measure again"


def _load(path: Path) -> Any:
    check_private(path)
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"larger than {MAX_BYTES // 2**20} MiB")
    return json.loads(data.decode())


@dataclass(frozen=True, slots=True)
class _SwitchLink:
    a: str
    b: str
    pairs: Annotated[int, Limits(1, MAX_PAIRS)]
    width: Annotated[float, Limits(math.ulp(0.0), 1e18)]


@dataclass(frozen=True, slots=True)
class _Kept:
    """Contents of a file; the limits of rates are the core's."""

    date: str
    host_rate: Annotated[float, Limits(1e3, 1e13)]
    alpha: Annotated[float, Limits(0, MAX_LATENCY)]
    switch_links: list[_SwitchLink]


def _checked(found: Any, description: NetworkDescription) -> Measured:
    if not isinstance(found, dict) or found.get("version") != VERSION:
        raise ValueError("of another version")
    kept = record(_Kept, {"alpha": 0, **found})
    if (date := _DATE.fullmatch(kept.date)) is None:
        raise ValueError("the date is none")
    switches = {node.name for node in description.nodes if not node.is_host}
    wired = {frozenset((link.a, link.b)) for link in description.links if {link.a, link.b} <= switches}
    widths: dict[frozenset[str], Width] = {}
    for link in kept.switch_links:
        if (ends := frozenset((link.a, link.b))) not in wired or ends in widths:
            raise ValueError(f"{' - '.join(sorted(ends))} is not an uplink of this network, or stands twice")
        widths[ends] = settle(link.width, link.pairs)
    return Measured(date[1], kept.host_rate, kept.alpha, widths)


def settle(width: float, pairs: int) -> Width:
    """The width that a measurement stands for, by the core's rule."""
    value = _core.SwitchLink.settled_width(width, pairs)
    return Width(value, pairs, at_least=value >= pairs)
