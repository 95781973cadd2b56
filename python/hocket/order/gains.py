"""Gains of another order: each native algorithm predicted in both orders; a better order for a job that is there."""

import itertools
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from hocket import _core
from hocket.costs.model import Costs
from hocket.demand.collectives import IRREGULAR
from hocket.order.job import (
    DEFAULT_CALLS,
    JobHosts,
    Ordered,
    Places,
    Wanted,
    gain_of,
    order_job,
    parse_wanted,
)
from hocket.planning.candidates import forecast
from hocket.planning.plan import flow_of, plan_collective, plan_demand, simulation
from hocket.system.text import folded

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
            by_rates = (_by_rates(order, place, one) for place in (order.given, order.place))
            yield Predicted(one.collective, one.name, "link rates", *by_rates)


def _by_rates(order: Ordered, place: Places, one: Wanted) -> Timed:
    seconds, channel = _core.order.seconds(order.job.network, place, one.call)
    return Timed(seconds, str(order.job.network.channel_name(channel)) if seconds > 0 else "", None)


def _of_algorithm(order: Ordered, one: Wanted, costs: Costs, hocket: float | None) -> list[Timed] | None:
    network = order.job.network
    call = next(each for each in _core.LibraryCall.of(one.demand) if each.name == one.name)
    schedule = call.make(network, one.demand)
    parameters = costs.parameters(network, one.demand.bytes, segmented=False)
    times = []
    for place in (order.given, order.place):
        placed = _core.order.placed(schedule, place)
        if (found := _core.simulate(network, placed, None, call.flow, parameters, _STEPS)) is None:
            return None
        times.append(replace(_by_rates(order, place, one), seconds=found.seconds, hocket=hocket))
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
    at_once = _core.Algorithm.find(_AT_ONCE, IRREGULAR).make(network, moved)
    parameters = costs.parameters(network, moved.bytes, segmented=False)
    native = _core.simulate(network, at_once, None, "free", parameters).seconds
    planned = plan_demand(network, moved)
    parameters = costs.parameters(network, moved.bytes, segmented=True)
    scheduled = simulation(
        network, planned.schedule, planned.waits, flow_of(planned.waits), parameters
    ).seconds
    return replace(_by_rates(order, place, one), seconds=float(native), hocket=float(scheduled))


WORTH: Final = 1.2  # times as fast; less is not worth a line
_MOST_RANKS: Final = 1 << 14  # ordered in a tenth of a second


@dataclass(frozen=True, slots=True)
class Better:
    """``gain``: times as fast as in the job's order, the geometric mean of its calls; ``most``: of ``call``, which
    gains most; ``hosts``: in the better order."""

    gain: float
    call: str
    most: float
    hosts: list[str]

    def sentence(self) -> str:
        return (
            f"in another order of its hosts this job's native calls would be {self.gain:.2g} times as fast by link "
            f"rates, {self.call} {self.most:.2g} times"
        )


def better_order(
    network: _core.Network, nodes: Sequence[int], collectives: Sequence[str] = DEFAULT_CALLS
) -> Better | None:
    """A better order of hosts for ranks on these nodes of the network, rank by rank; None if none is worth it."""
    counts = Counter(nodes)
    if len(counts) < 3 or len(nodes) > _MOST_RANKS:
        return None
    part = network.restricted_to([counts.get(node, 0) for node in range(network.nodes)])
    names = network.names
    job = JobHosts(part, list(counts), [names[node] for node in counts])
    wanted = parse_wanted(",".join(collectives), part.ranks, _core.limits.reference_bytes)
    order = order_job(job, wanted, whole_hosts=True)
    now = places_of(part, nodes)
    if (gain := gain_of(part, now, order.place, wanted)) < WORTH:
        return None
    gains = [gain_of(part, now, order.place, [one]) ** (1 / one.call.weight) for one in wanted]
    most, call = max(zip(gains, wanted, strict=True), key=lambda pair: pair[0])
    return Better(gain, f"{call.collective} by {call.name}", most, [name for name, _ in order.blocks])


def places_of(network: _core.Network, nodes: Sequence[int]) -> Places:
    """The place of each rank: the next one of its host."""
    counts = network.ranks_per_node
    ends = itertools.accumulate(counts[node] for node in network.hosts)
    free = {node: end - counts[node] for node, end in zip(network.hosts, ends, strict=True)}
    found = []
    for node in nodes:
        found.append(free[node])
        free[node] += 1
    return np.array(found, np.uint32)


def command_for(
    source: str,
    form: str,
    *,
    hostfile: str | None = None,
    slurm: bool = False,
    hosts: Sequence[str] = (),
    ranks_per_host: int = 1,
) -> str:
    """The command that prints the better order of a hostfile's hosts, of the Slurm job's or of the named ones."""
    words = ["hocket", "order", "--network", source, "--format", form]
    if hostfile is not None:
        words += ["--hosts", f"@{hostfile}"]
    elif slurm:
        words += ["--slurm"]
    elif hosts:
        words += ["--hosts", folded(hosts)]  # whose order does not matter but among equals
    if ranks_per_host > 1:
        words += ["--ranks-per-host", str(ranks_per_host)]
    return shlex.join(words)
