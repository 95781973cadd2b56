"""Predictions of each native algorithm in both orders, and what Hocket's schedules would add."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from hocket import _core
from hocket.costs.model import Costs
from hocket.demand.collectives import IRREGULAR, library_calls
from hocket.order.job import Ordered, Places
from hocket.order.wanted import Wanted
from hocket.planning.candidates import forecast
from hocket.planning.plan import flow_of, plan_collective, plan_demand, simulation

MOST_MESSAGES: Final = (
    20_000  # of a call that is simulated, and planned for comparison: all-to-alls of 141 ranks
)
_STEPS: Final = 5_000_000  # of each simulation
_AT_ONCE: Final = "AC"  # the algorithm that posts all messages of an irregular exchange


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds in an order, the channel that is busy the longest (empty: no wire is used), and the seconds of Hocket's
    schedule (None: not planned)."""

    seconds: float
    busiest: str
    hocket: float | None


@dataclass(frozen=True, slots=True)
class Predicted:
    """``by``: ``simulation`` with the costs of messages, or ``link rates``: the busiest channel, step after step."""

    collective: str
    name: str
    by: str
    before: Timed
    after: Timed

    @property
    def gain(self) -> float | None:
        """Times as fast after; None where no wire is used."""
        return self.before.seconds / self.after.seconds if self.after.seconds > 0 else None

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "gain": self.gain}


def predictions(order: Ordered, wanted: Sequence[Wanted], costs: Costs) -> Iterator[Predicted]:
    """One of each call, simulated where it has few enough messages."""
    hocket: dict[str, float | None] = {}
    for one in wanted:
        times = None
        if one.demand.messages <= MOST_MESSAGES and order.job.network.ranks > 1:
            if one.demand.pattern == IRREGULAR:
                times = [_of_messages(order, place, one, costs) for place in (order.given, order.place)]
            else:
                if one.collective not in hocket:
                    hocket[one.collective] = _hocket_seconds(order.job.network, one, costs)
                times = _of_algorithm(order, one, costs, hocket[one.collective])
        if times is not None:
            yield Predicted(one.collective, one.name, "simulation", *times)
        else:
            by_rates = [
                Timed(
                    _core.order.seconds(order.job.network, place, one.call)[0],
                    _busiest(order, place, one),
                    None,
                )
                for place in (order.given, order.place)
            ]
            yield Predicted(one.collective, one.name, "link rates", *by_rates)


def _busiest(order: Ordered, place: Places, one: Wanted) -> str:
    seconds, channel = _core.order.seconds(order.job.network, place, one.call)
    return str(order.job.network.channel_name(channel)) if seconds > 0 else ""


def _of_algorithm(order: Ordered, one: Wanted, costs: Costs, hocket: float | None) -> list[Timed] | None:
    network = order.job.network
    call = next(each for each in library_calls(one.demand) if each.name == one.name)
    schedule = call.make(network, one.demand)
    parameters = costs.parameters(network, one.demand.bytes, segmented=False)
    times = []
    for place in (order.given, order.place):
        placed = _core.order.placed(schedule, place)
        seconds = _core.seconds_within(_STEPS, network, placed, None, call.flow, parameters)
        if seconds is None:
            return None
        times.append(Timed(float(seconds), _busiest(order, place, one), hocket))
    return times


def _hocket_seconds(network: _core.Network, one: Wanted, costs: Costs) -> float | None:
    """Seconds of the fastest candidate of a run. Schedules are made for the hosts that ranks are on: the order does not
    matter to them."""
    if network.ranks < 3 or len(network.hosts) < 2:
        return None
    found = forecast(plan_collective(one.collective, network, one.bytes), costs).candidates
    return min((each.seconds for each in found if each.seconds is not None), default=None)


def _of_messages(order: Ordered, place: Places, one: Wanted, costs: Costs) -> Timed:
    """All messages at once, and by the schedule that is planned for their places."""
    network = order.job.network
    src, dst, sizes = zip(*one.demand.list(), strict=True) if one.demand.messages else ((), (), ())
    moved = _core.Demand.irregular(
        network.ranks, [int(place[r]) for r in src], [int(place[r]) for r in dst], list(sizes)
    )
    at_once = _core.find_algorithm(_AT_ONCE, IRREGULAR).make(network, moved)
    parameters = costs.parameters(network, moved.bytes, segmented=False)
    native = _core.simulate(network, at_once, None, "free", parameters).seconds
    planned = plan_demand(network, moved)
    parameters = costs.parameters(network, moved.bytes, segmented=True)
    scheduled = simulation(
        network, planned.schedule, planned.waits, flow_of(planned.waits), parameters
    ).seconds
    return Timed(float(native), _busiest(order, place, one), float(scheduled))
