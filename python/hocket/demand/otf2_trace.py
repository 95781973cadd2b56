"""Messages of an OTF2 trace (Score-P, TAU, …), by its anchor file ``traces.otf2`` and the library of its project.

What each rank sends to each other by point-to-point calls, all together. Of collective calls OTF2 keeps totals alone,
so they are left out. Format: OTF2's documentation, events ``MpiSend`` and ``MpiIsend``.
"""

from __future__ import annotations

import contextlib
import os
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from hocket.demand.source import Source
from hocket.demand.traffic import Traffic
from hocket.errors import DemandError, MissingToolError

_REMEDY = "is the trace whole? its folder and definitions must lie beside the anchor file"


def begins(data: bytes) -> bool:
    return data[1:6] == b"BOTF2"


def read(source: Source) -> Traffic:
    """Raises DemandError for a trace that cannot be read or has no messages, MissingToolError without the library."""
    try:
        import otf2
    except ImportError:
        raise MissingToolError(
            "traces in OTF2 are read by the package otf2, which is not installed",
            remedy="pip install 'hocket[otf2]'",
        ) from None
    sizes: defaultdict[tuple[int, int], int] = defaultdict(int)
    try:
        with _silent(), otf2.reader.open(source.name) as trace:
            ranks = _ranks(otf2, trace)
            for location, event in trace.events:
                if isinstance(event, otf2.events.MpiSend | otf2.events.MpiIsend):
                    members = getattr(event.communicator, "group", None)
                    if members is None:
                        raise source.error("has messages between groups of ranks (an intercommunicator)")
                    sizes[ranks[location], ranks[members.members[event.receiver]]] += event.msg_length
    except DemandError:
        raise
    except Exception as problem:  # whatever the library makes of a damaged trace
        what = str(problem).split("\n")[0] or type(problem).__name__
        raise source.error(f"cannot be read as a trace in OTF2: {what}", remedy=_REMEDY) from None
    if not sizes:
        raise source.error(
            "holds no messages between two ranks", remedy="collective calls are recorded by 'hocket record'"
        )
    traffic = Traffic(len(ranks), source)
    for (src, dst), size in sorted(sizes.items()):
        traffic.add(src, dst, size)
    return traffic


def _ranks(otf2: Any, trace: Any) -> dict[Any, int]:
    """The rank of each location that has one."""
    for group in trace.definitions.groups:
        if group.group_type == otf2.GroupType.COMM_LOCATIONS and group.paradigm == otf2.Paradigm.MPI:
            return {location: rank for rank, location in enumerate(group.members)}
    raise ValueError("it names no ranks of MPI")


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """The library writes what it finds wrong to standard error, too."""
    kept = os.dup(2)
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)
