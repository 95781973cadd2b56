"""Paths that were found in the running network: their age, and whether a sample of them still holds."""

from __future__ import annotations

import datetime
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from hocket import _core
from hocket.doctor.finding import Finding, note, ok, problem
from hocket.errors import MissingToolError
from hocket.network.paths.choose import asked_of
from hocket.network.paths.probe import Probe, answers
from hocket.network.paths.table import Paths, port_of

_SAMPLE: Final = 8  # connections
_A_SECOND: Final = 80  # packets; switches answer 100 and more to a host
_AGAIN: Final = "find them again, a rank on each host: hocket network discover --paths NETWORK -o FILE"


def check_paths(network: _core.Network, paths: Paths, now: datetime.datetime) -> Iterator[Finding]:
    """``network``: without the paths. Asks routers if this is one of the hosts."""
    age = now - datetime.datetime.fromisoformat(paths.found)
    yield ok("paths", f"{len(paths.pairs)} pairs of hosts, found {paths.found}, {_told(age)} ago")
    if paths.spraying:
        yield note("paths", "packets of one connection take several ways: no path can be held")
        return
    own = next((name for name, address in paths.addresses.items() if _is_own(address)), None)
    if own is None:
        yield note(
            "paths", "this is none of their hosts: whether they still hold is not known", "ask on a host"
        )
        return
    expected, probes = [], []
    for to in sorted(to for of, to in paths.pairs if of == own)[:_SAMPLE]:
        index = next((i for i, way in enumerate(paths.pairs[own, to][0]) if way >= 0), None)
        hop, _ = asked_of(network, network.names.index(own), network.names.index(to))
        if index is None or not hop:
            continue
        port = port_of(list(paths.addresses).index(to), paths.ports, index)
        probes.append(Probe(paths.addresses[to], port, paths.listen, hop))
        expected.append((to, paths.ways[paths.pairs[own, to][0][index]]))
    try:
        heard = [paths.routers.get(address or "") for address in answers(probes, _A_SECOND)]
    except MissingToolError as error:
        yield note("paths", error.what, error.remedy)
        return
    answered = sum(by is not None for by in heard)
    changed = [
        f"{own} to {to}: by {by}, was by {way}"
        for (to, way), by in zip(expected, heard, strict=True)
        if by is not None and by != way
    ]
    if not answered:
        yield note("paths", f"no router answered {len(probes)} packets: whether they still hold is not known")
    elif changed:
        yield problem(
            "paths", f"{len(changed)} of {answered} connections asked take another way ({changed[0]})", _AGAIN
        )
    else:
        yield ok("paths", f"{answered} of {len(probes)} connections asked take the way that was found")


def _is_own(address: str) -> bool:
    with (
        suppress(OSError),
        socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as handle,
    ):
        handle.bind((address, 0))
        return True
    return False


def _told(age: datetime.timedelta) -> str:
    hours = int(age.total_seconds() // 3600)
    return f"{hours // 24} days" if hours >= 48 else f"{hours} hours" if hours >= 2 else "minutes"
