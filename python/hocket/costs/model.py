"""Costs that predictions use, measured or assumed, and files of kept memory profiles."""

import math
import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hocket import _core
from hocket.costs.calibration import Calibration
from hocket.errors import HocketError
from hocket.system.cache import cache_dir
from hocket.system.files import as_error, read_file


def kept_path() -> Path:
    """This machine's profile in the user's cache, where the runtime finds it (sort/mpi/sort/costs.cpp)."""
    return cache_dir() / f"memory-{platform.node()}.txt"


def read_profile(path: str | os.PathLike[str] | None = None) -> _core.memory.Profile:
    """The profile in a file. Without one: HOCKET_MEMORY's, the machine's own, or the built-in one.

    Raises HocketError for a file that cannot be used."""
    if (chosen := path or os.environ.get("HOCKET_MEMORY") or None) is None:
        kept = kept_path()
        if not kept.exists():
            return _core.memory.Profile.built_in()
        chosen = kept
    with as_error(f"cannot read the memory profile {chosen}", "check its name and permissions"):
        text = read_file(chosen).decode("utf-8", "replace")
    try:
        return _core.memory.Profile.parse(text)
    except _core.InputError as error:
        raise HocketError(f"{chosen}: {error}", remedy="measure again: hocket calibrate memory") from None


SEGMENT: Final = _core.limits.usual_segment  # bytes of an MPI message of a schedule
# Segments of a send that are handed to MPI before one completes.
OUTSTANDING: Final = _core.limits.most_outstanding


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs that predictions use: a calibration, or an assumed profile."""

    calibration: Calibration | None
    profile: _core.CostProfile | None
    source: str  # file of the calibration

    @property
    def measured(self) -> bool:
        return self.calibration is not None

    @property
    def origin(self) -> str:
        """Origin of the costs in a few words, for every place that shows a prediction."""
        if self.calibration is not None:
            return f"measured {self.calibration.date}, {self.calibration.mpi} ({self.source})"
        assert self.profile is not None
        return f"assumed: {self.profile.name}"

    def parameters(
        self, network: _core.Network, bytes: int, *, segmented: bool, segment: int = SEGMENT
    ) -> _core.ModelParameters:
        """Parameters of the model for messages of about ``bytes``; ``segmented``: they are cut into
        ``segment`` bytes, as messages of schedules are."""
        if self.calibration is None:
            assert self.profile is not None
            return self.profile.parameters
        return _measured(self.calibration, network, bytes, segment if segmented else None)

    def of_runs(self, network: _core.Network) -> _core.RunCosts:
        """Costs as the core predicts runs by them; the memory profile is read where ranks share hosts."""

        def of_messages(bytes: int, segment: int) -> _core.ModelParameters:
            return self.parameters(network, bytes, segmented=segment > 0, segment=segment)

        return _core.RunCosts(network, of_messages if self.measured else None, read_profile)


def costs_for(network: _core.Network, calibration: Calibration | None, source: str) -> Costs:
    """Measured if there is a calibration, else assumed."""
    return Costs(calibration, None if calibration is not None else network.cost_profile(), source)


def _measured(
    one: Calibration, network: _core.Network, bytes: int, segment: int | None
) -> _core.ModelParameters:
    segmented = segment is not None
    near = one.between_hosts
    long = near.per_byte
    wire = max(one.per_byte_loaded, long) * network.host_rate
    send, receive = near.send.median, near.receive.median
    token_work = min(send, receive)
    # Bytes that take longer than a token are under way as those were under which it was measured.
    part = min(max(bytes / max(one.token_bytes, 1), bytes * long / max(one.token.median, 1e-12)), 1.0)
    token = one.token.median + part * (one.token_loaded.median - one.token.median)
    apart = bytes if segment is None else min(bytes, segment)  # what one MPI message carries
    beyond = max(near.seconds(apart) - near.seconds(1) - long * apart, 0.0)  # rendezvous, windows of TCP
    # A rank that waits as schedules do notices late, a message as well as a token: half of it each.
    notice = token / 2 if segmented else 0.0
    beyond += notice
    if not segmented:  # all ranks wait in the library, as it waits
        beyond += max(one.sendrecv.median - near.seconds(1), 0.0)
    latencies = _latencies(one)
    same_host = next((c for c in one.classes if c.links == 0), None)
    return _core.ModelParameters(
        alpha=send,
        receive=receive,
        eager=one.eager,
        token=max(token - near.latency - beyond - 2 * token_work, 0.0),
        token_work=token_work,
        overhead=wire,
        memory_rate=math.inf if same_host is None else 1 / same_host.per_byte,
        latencies=[latency + beyond for latency in latencies],
        host_shared=one.flows("host", bytes),
        switch_link_shared=one.flows("switch_link", bytes),
    )


def _latencies(one: Calibration) -> list[float]:
    """Latencies by the number of links of a route, by linear interpolation; below the shortest measured route
    as on it."""
    known = {c.links: c.latency for c in one.classes if c.links is not None}
    if (flat := next((c.latency for c in one.classes if c.links is None), None)) is not None:
        return [known.get(0, flat), flat]
    if not (measured := sorted(links for links in known if links > 0)):
        return [known[0]]

    def latency(links: int) -> float:
        below = max((k for k in measured if k <= links), default=measured[0])
        above = min(k for k in measured if k >= links)
        part = (links - below) / (above - below) if above > below else 0.0
        return known[below] + part * (known[above] - known[below])

    return [known.get(0, latency(1)), *map(latency, range(1, measured[-1] + 1))]
