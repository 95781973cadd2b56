"""Simulated times of the candidates of a run, and of the algorithms of MPI libraries."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from hocket import _core
from hocket.costs.calibration import read_calibration
from hocket.costs.model import OUTSTANDING, SEGMENT, Costs, costs_for
from hocket.demand.collectives import ALL_TO_ALL, IRREGULAR, library_calls
from hocket.planning import aggregation
from hocket.units import format_bytes, format_time

if TYPE_CHECKING:
    from hocket.network import NetworkDescription

MOST_MESSAGES: Final = 20_000  # of an exchange whose candidates are simulated unasked
_STEPS: Final = 5_000_000  # of each simulation
_SHARE: Final = 0.05  # of a segment's time that its processors may take
_LEAST_SEGMENT, _MOST_SEGMENT = 4096, 1 << 20


@dataclass(frozen=True, slots=True)
class Candidate:
    """Candidate by its name in runs, or the library's algorithm. ``seconds``: None if it cannot be
    simulated."""

    name: str
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a run that follow from measured costs: the segment size in bytes."""

    segment: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """Candidates of a run, the fastest first; the library's own algorithms; and the costs that predictions
    use."""

    costs: Costs
    candidates: tuple[Candidate, ...]
    library: tuple[Candidate, ...]
    settings: Settings | None

    def as_json(self) -> dict[str, Any]:
        """The forecast as an object for JSON reports."""
        return {
            "costs": self.costs.origin,
            "measured": self.costs.measured,
            "candidates": [asdict(one) for one in self.candidates],
            "library": [asdict(one) for one in self.library],
            "settings": None if self.settings is None else asdict(self.settings),
        }

    def lines(self) -> list[str]:
        """The forecast as lines of text for people."""
        lines = [f"costs       {self.costs.origin}", f"candidates  {_told(self.candidates)}"]
        if self.library:
            lines.append(f"library     {_told(self.library)}")
        if (chosen := self.settings) is not None:
            size = chosen.segment
            lines.append(f"run with    segments of {format_bytes(size)}: HOCKET_SEGMENT={size}")
        return lines


def _told(candidates: tuple[Candidate, ...]) -> str:
    return ", ".join(
        one.name if one.seconds is None else f"{one.name} {format_time(one.seconds, 3)}" for one in candidates
    )


def forecast(planned: _core.Plan, costs: Costs) -> Forecast:
    """Simulates all that there are steps for. Nothing of an irregular exchange, whose messages differ."""
    if planned.demand.pattern == IRREGULAR:
        return Forecast(costs, (), (), None)
    found = _fastest_first(_candidates(planned, costs))
    settings = _settings(costs) if costs.measured else None
    return Forecast(costs, found, _fastest_first(_library(planned, costs)), settings)


def _fastest_first(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    return tuple(sorted(candidates, key=lambda one: math.inf if one.seconds is None else one.seconds))


def costs_of(network: _core.Network, path: str | None, description: NetworkDescription) -> Costs:
    """Costs by the calibration in a file, by the one kept for the network, or by an assumed profile. Raises
    HocketError for a file that cannot be used."""
    calibration, source = read_calibration(path, description, network.host_rate)
    if calibration is None and source:
        print(f"hocket: {source}: costs are assumed", file=sys.stderr)
    return costs_for(network, calibration, source)


def forecast_of(planned: _core.Plan, path: str | None, description: NetworkDescription) -> Forecast | None:
    """Forecast by the costs of costs_of(). None if there is nothing to compare, or if there are too many
    messages and the user has named no file. Raises HocketError for a file that cannot be used."""
    costs = costs_of(planned.network, path, description)
    few = len(planned.schedule) <= MOST_MESSAGES
    if planned.demand.pattern == IRREGULAR or not (path is not None or few):
        return None
    found = forecast(planned, costs)
    return found if found.candidates else None


def _candidates(planned: _core.Plan, costs: Costs) -> Iterator[Candidate]:
    """Candidates that default settings offer to a run, without the library's own call, whose algorithm is
    unknown."""
    network, demand = planned.network, planned.demand
    two_level = aggregation.runs_two_level(network, demand)
    usual = _core.run_window(demand)
    for one in _core.choose.offered(demand.bytes, network.ranks, usual, SEGMENT):
        if one.two_level and two_level and not (one.all_lead and not _all_lead(network, demand)):
            # Aggregates that the library carries, or nobody in turn, have no waits to simulate.
            waits = one.window > 0 and not one.free
            seconds = (
                aggregation.seconds_of(network, demand, costs, _STEPS, window=one.window) if waits else None
            )
            yield Candidate(one.name, seconds)
        elif one.window > 0 and not one.two_level:
            yield Candidate(one.name, _seconds_of(planned, costs, one))


def _all_lead(network: _core.Network, demand: _core.Demand) -> bool:
    """Return true if every host has several ranks, each of which can carry some of its aggregated
    messages."""
    return demand.pattern == ALL_TO_ALL and all(len(ranks) > 1 for ranks in _core.groups_of(network).ranks)


def _seconds_of(planned: _core.Plan, costs: Costs, one: _core.choose.Candidate) -> float | None:
    segment = _core.choose.large_segment if one.large else SEGMENT
    parameters = costs.parameters(planned.network, planned.demand.bytes, segmented=True, segment=segment)
    seconds: float | None = _core.choose.simulated_seconds(planned.network, planned.schedule, one, parameters)
    return seconds


def _library(planned: _core.Plan, costs: Costs) -> Iterator[Candidate]:
    network, demand = planned.network, planned.demand
    for call in library_calls(demand):
        parameters = costs.parameters(network, demand.bytes, segmented=False)
        seconds = _core.seconds_within(
            _STEPS, network, call.make(network, demand), None, call.flow, parameters
        )
        if seconds is not None:
            yield Candidate(call.name, seconds)


def _settings(costs: Costs) -> Settings | None:
    """Segments as long as their processors' work asks for, and the bandwidth-delay product."""
    one = costs.calibration
    if one is None:
        return None
    near = one.between_hosts
    rate = 1 / near.per_byte
    far = max(each.latency for each in one.classes)
    wanted = max((near.send.median + near.receive.median) * rate / _SHARE, 2 * far * rate / OUTSTANDING)
    segment = _LEAST_SEGMENT
    while segment < wanted and segment < _MOST_SEGMENT:
        segment *= 2
    return Settings(segment)
