"""Simulated times of the candidates of a run, and of the algorithms of MPI libraries."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hocket import _core
from hocket.costs.calibration import read_calibration
from hocket.costs.model import OUTSTANDING, Costs, costs_for
from hocket.demand.collectives import IRREGULAR
from hocket.units import format_bytes, format_time

if TYPE_CHECKING:
    from hocket.network import NetworkDescription

MOST_MESSAGES: Final = 20_000  # of an exchange whose candidates are simulated unasked
_STEPS: Final = 5_000_000  # of each simulation
_SHARE: Final = 0.05  # of a segment's time that its processors may take
_LEAST_SEGMENT, _MOST_SEGMENT = 4096, 1 << 20


class Candidate(NamedTuple):
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
            "candidates": [one._asdict() for one in self.candidates],
            "library": [one._asdict() for one in self.library],
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


def forecast(planned: _core.Plan, costs: Costs, most: int = sys.maxsize) -> Forecast:
    """The plan's forecast, or one of a plan that has none, by these costs: simulates all that there are steps for of a
    plan of at most ``most`` messages. Nothing of an irregular exchange, whose messages differ."""
    candidates, library = planned.forecast or planned.predict(costs.of_runs(planned.network), most)
    found = tuple(Candidate(*one) for one in candidates)
    settings = _settings(costs) if costs.measured and found else None
    return Forecast(costs, found, tuple(Candidate(*one) for one in library), settings)


def costs_of(network: _core.Network, path: str | None, description: NetworkDescription) -> Costs:
    """Costs by the calibration in a file, by the one kept for the network, or by an assumed profile. Raises
    HocketError for a file that cannot be used."""
    calibration, source = read_calibration(path, description, network.host_rate)
    if calibration is None and source:
        print(f"hocket: {source}: costs are assumed", file=sys.stderr)
    return costs_for(network, calibration, source)


def most_compared(path: str | None) -> int:
    """Messages of a plan whose candidates are simulated: of any plan if the user has named a file of costs."""
    return MOST_MESSAGES if path is None else sys.maxsize


def forecast_of(planned: _core.Plan, path: str | None, description: NetworkDescription) -> Forecast | None:
    """Forecast of a plan by the costs of costs_of(). None if there is nothing to compare. Raises HocketError for a file
    that cannot be used."""
    costs = costs_of(planned.network, path, description)
    if planned.demand.pattern == IRREGULAR or len(planned.schedule) > most_compared(path):
        return None
    found = forecast(planned, costs)
    return found if found.candidates else None


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
