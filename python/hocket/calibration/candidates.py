"""What each way of carrying out an exchange will take: schedules under several windows, and what libraries do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from hocket import _core, bundling
from hocket.calibration.costs import OUTSTANDING, Costs, costs_for
from hocket.collectives import IRREGULAR, library_calls
from hocket.units import format_bytes, format_time

if TYPE_CHECKING:
    from hocket.network import NetworkDescription

WINDOWS: Final = (1, 2, 4, 8)
MOST_MESSAGES: Final = 20_000  # of an exchange whose candidates are simulated unasked
_STEPS: Final = 5_000_000  # of each simulation
_MARGIN: Final = 0.02  # a gain that is worth another window than the usual one
_SHARE: Final = 0.05  # of a segment's time that its processors may take
_LEAST_SEGMENT, _MOST_SEGMENT = 4096, 1 << 20


@dataclass(frozen=True, slots=True)
class Exchange:
    """What is to be carried out, and the schedule of it."""

    network: _core.Network
    demand: _core.Demand
    schedule: _core.Schedule
    waits: _core.Waits


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way. ``window``: 0 for what a library does, and for bundles."""

    name: str
    seconds: float
    window: int = 0


@dataclass(frozen=True, slots=True)
class Settings:
    """How a run should cut messages, and release the next sender; of measured costs."""

    segment: int
    release_threshold: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """All candidates, the fastest first, and what they rest on."""

    costs: Costs
    candidates: tuple[Candidate, ...]
    settings: Settings | None

    def as_json(self) -> dict[str, Any]:
        """For reports."""
        chosen = None
        if self.settings is not None:
            chosen = {"segment": self.settings.segment, "release_threshold": self.settings.release_threshold}
        return {
            "costs": self.costs.origin,
            "measured": self.costs.measured,
            "candidates": [{"name": one.name, "seconds": one.seconds} for one in self.candidates],
            "settings": chosen,
        }

    def lines(self) -> list[str]:
        """For people."""
        told = ", ".join(f"{one.name} {format_time(one.seconds, 3)}" for one in self.candidates)
        lines = [f"costs       {self.costs.origin}", f"candidates  {told}"]
        if (chosen := self.settings) is not None:
            threshold = chosen.release_threshold
            early = f", the last {format_bytes(threshold)} released early" if threshold else ""
            lines.append(
                f"run with    segments of {format_bytes(chosen.segment)}{early}: "
                f"HOCKET_SEGMENT={chosen.segment} HOCKET_RELEASE_THRESHOLD={threshold}"
            )
        return lines


def best_window(forecast: Forecast, usual: int) -> int:
    """Of a schedule; the usual one unless another is clearly faster."""
    seconds = {one.window: one.seconds for one in forecast.candidates if one.window}
    if not seconds:
        return usual
    best = min(seconds, key=lambda window: seconds[window])
    return usual if usual in seconds and seconds[best] > (1 - _MARGIN) * seconds[usual] else best


def forecast(planned: Exchange, costs: Costs) -> Forecast:
    """Simulates every candidate that there are steps for. Nothing of an irregular exchange, whose messages differ."""
    if planned.demand.pattern == IRREGULAR:
        return Forecast(costs, (), None)
    ways = (*_windows(planned, costs), *_bundles(planned, costs), *_libraries(planned, costs))
    found = sorted(ways, key=lambda one: one.seconds)
    settings = _settings(planned, costs, found) if costs.measured else None
    return Forecast(costs, tuple(found), settings)


def costs_of(network: _core.Network, path: str | None, description: NetworkDescription) -> Costs:
    """By the calibration in a file, the one kept of the network, or an assumed profile. Raises HocketError for a file
    that cannot be used."""
    from hocket.calibration.files import read_calibration

    calibration, source = read_calibration(path, description, network.host_rate)
    if calibration is None and source:
        print(f"hocket: {source}: costs are assumed", file=sys.stderr)
    return costs_for(network, calibration, source)


def forecast_of(planned: Exchange, path: str | None, description: NetworkDescription) -> Forecast | None:
    """By the costs of costs_of(). None where there is nothing to compare, or too much of it unless the user has named
    a file. Raises HocketError for a file that cannot be used."""
    costs = costs_of(planned.network, path, description)
    few = len(planned.schedule) <= MOST_MESSAGES
    if planned.demand.pattern == IRREGULAR or not (path is not None or few):
        return None
    found = forecast(planned, costs)
    return found if found.candidates else None


def _windows(planned: Exchange, costs: Costs) -> Iterator[Candidate]:
    network, schedule = planned.network, planned.schedule
    parameters = costs.parameters(network, planned.demand.bytes, segmented=True)
    for window in WINDOWS:
        waits = (
            planned.waits if window == planned.waits.window else _core.derive_waits(network, schedule, window)
        )
        seconds = _simulated(network, schedule, waits, f"window:{window}", parameters)
        if seconds is not None:
            yield Candidate(f"window-{window}", seconds, window)


def _bundles(planned: Exchange, costs: Costs) -> Iterator[Candidate]:
    for name, seconds in bundling.candidates(planned.network, planned.demand, costs, _STEPS):
        yield Candidate(name, seconds)


def _libraries(planned: Exchange, costs: Costs) -> Iterator[Candidate]:
    network, demand = planned.network, planned.demand
    for call in library_calls(demand):
        parameters = costs.parameters(network, demand.bytes, segmented=False)
        seconds = _simulated(network, call.make(network, demand), None, call.flow, parameters)
        if seconds is not None:
            yield Candidate(f"native:{call.name}", seconds)


def _simulated(
    network: _core.Network,
    schedule: _core.Schedule,
    waits: _core.Waits | None,
    flow: str,
    parameters: _core.ModelParameters,
) -> float | None:
    result = _core.simulate_within(_STEPS, network, schedule, waits, flow, parameters)
    return None if result is None else float(result.seconds)


def _settings(planned: Exchange, costs: Costs, found: list[Candidate]) -> Settings | None:
    """Segments as long as their processors' work asks for, and the bandwidth-delay product; released early by what
    a token's way takes, where the simulator says that it pays."""
    one = costs.calibration
    best = next((each for each in found if each.window), None)
    if one is None or best is None:
        return None
    near = one.between_hosts
    rate = 1 / near.per_byte
    far = max(each.latency for each in one.classes)
    wanted = max((near.send.median + near.receive.median) * rate / _SHARE, 2 * far * rate / OUTSTANDING)
    segment = _LEAST_SEGMENT
    while segment < wanted and segment < _MOST_SEGMENT:
        segment *= 2
    early = -(-int(one.token_loaded.median * rate) // segment) * segment
    longest = int(max(planned.schedule.lengths(), default=0))
    if not 0 < early < longest:
        return Settings(segment, 0)
    network, schedule = planned.network, planned.schedule
    parameters = costs.parameters(network, planned.demand.bytes, segmented=True, early_release=early)
    waits = _core.derive_waits(network, schedule, best.window)
    seconds = _simulated(network, schedule, waits, f"window:{best.window}", parameters)
    gains = seconds is not None and seconds < (1 - _MARGIN) * best.seconds
    return Settings(segment, early if gains else 0)
