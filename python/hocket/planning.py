"""Planning an exchange: schedule, waits, bounds, proof and prediction in one object.

No algorithm lives here; the core schedules, verifies and simulates.
"""

from __future__ import annotations

import resource
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hocket import _core
from hocket.errors import PlanError

AUTO: Final = "auto"
# The simulator follows single messages. Beyond this many, a contention-free schedule on equal links is
# predicted from its phases, so that planning a thousand hosts stays a matter of seconds.
MOST_SIMULATED: Final = 300_000


@dataclass(slots=True)
class PlannedExchange:
    """A schedule with everything that is known about it."""

    network: _core.Network
    demand: _core.Demand
    scheduler: str
    schedule: _core.Schedule
    waits: _core.Waits
    bounds: _core.Bounds
    certificate: _core.Certificate
    plan_seconds: float  # schedule and waits
    verify_seconds: float  # schedule and waits, again
    predicted_seconds: float

    @property
    def ratio(self) -> float:
        """Phases over the least possible; 1.0 is optimal."""
        return ratio(self.schedule.phases, self.bounds.phases)

    def plan(self) -> _core.Plan:
        """What ``encode()`` turns into a plan file."""
        return _core.Plan(
            self.network,
            self.schedule,
            self.waits,
            self.demand,
            self.scheduler,
            self.bounds.phases,
            self.bounds.seconds,
            self.predicted_seconds,
        )

    def report(self) -> dict[str, Any]:
        """The object that ``hocket plan --json`` prints."""
        return {
            "scheduler": self.scheduler,
            "hosts": len(self.network.hosts),
            "ranks": self.network.ranks,
            "messages": self.demand.messages,
            "bytes": self.demand.bytes,
            "phases": self.schedule.phases,
            "bound_phases": self.bounds.phases,
            "ratio": self.ratio,
            "bound_seconds": self.bounds.seconds,
            "predicted_seconds": self.predicted_seconds,
            "contention_free": self.certificate.contention_free,
            "complete": self.certificate.complete,
            "waits": len(self.waits),
            "waits_before_reduction": self.waits.derived,
            "window": self.waits.window,
            "plan_seconds": self.plan_seconds,
            "verify_seconds": self.verify_seconds,
            "peak_rss_bytes": peak_rss_bytes(),
        }


def ratio(phases: float, bound: float) -> float:
    """``phases / bound``; nothing to do is done optimally."""
    return phases / bound if bound else 1.0


def peak_rss_bytes() -> int:
    """The most memory that this process has had."""
    try:  # ru_maxrss also counts the process that forked this one, so the kernel's own figure comes first
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def plan_all_to_all(
    network: _core.Network, bytes: int, scheduler: str = AUTO, window: int = 1
) -> PlannedExchange:
    """Schedules an all-to-all of ``bytes`` per message, derives its waits and verifies both.

    ``auto`` takes the first contention-free scheduler of the registry that serves the network. Where
    links differ in rate, fewest phases need not be fastest: there it takes the least predicted time.
    """
    demand = _core.Demand(network.ranks, bytes)
    bounds = _core.lower_bounds(network, demand)
    begun = time.perf_counter()
    candidates = []
    for entry in _candidates(network, demand, scheduler):
        schedule = entry.make(network, demand)
        waits = _core.derive_waits(network, schedule, window)
        candidates.append((entry, schedule, waits))
    planned = time.perf_counter()
    predictions = [predict(network, schedule, waits, entry) for entry, schedule, waits in candidates]
    best = min(range(len(candidates)), key=lambda i: (predictions[i], candidates[i][1].phases, i))
    entry, schedule, waits = candidates[best]
    predicted = time.perf_counter()
    certificate = check(network, demand, schedule, waits)
    verified = time.perf_counter()
    # Where the prediction chose among several, it was part of planning.
    plan_seconds = (predicted if len(candidates) > 1 else planned) - begun
    return PlannedExchange(
        network, demand, entry.name, schedule, waits, bounds, certificate,
        plan_seconds, verified - predicted, predictions[best],
    )  # fmt: skip


def check(
    network: _core.Network, demand: _core.Demand, schedule: _core.Schedule, waits: _core.Waits
) -> _core.Certificate:
    """The verifier's findings on a schedule and its waits."""
    certificate = _core.verify(network, demand, schedule)
    _core.verify_waits(network, schedule, waits, certificate)
    return certificate


def _candidates(network: _core.Network, demand: _core.Demand, scheduler: str) -> Sequence[_core.Scheduler]:
    if scheduler != AUTO:
        return [_core.find_scheduler(scheduler)]
    first = _core.choose_scheduler(network, demand)
    if network.equal_rates:
        return [first]
    return [s for s in _core.schedulers() if s.contention_free and not s.why_not(network, demand)]


def predict(
    network: _core.Network, schedule: _core.Schedule, waits: _core.Waits, scheduler: _core.Scheduler
) -> float:
    """Seconds that the schedule takes under pair-wise tokens."""
    if len(schedule) > MOST_SIMULATED and scheduler.contention_free and network.equal_rates:
        return by_phases(network, schedule.phases, schedule.message_bytes)
    return float(simulation(network, schedule, waits, flow_of(waits)).seconds)


def by_phases(network: _core.Network, phases: int, bytes: int) -> float:
    """Phases times the slowest message, when no message shares a channel.

    A phase ends with its last byte and the token that follows it; each pays the latency of its route once.
    The two ends of the network stand for the longest route.
    """
    if phases == 0:
        return 0.0
    route = network.route(0, network.ranks - 1)
    latency = sum(network.latency(channel) for channel in route)
    slowest = min((network.rate(channel) for channel in range(network.channels)), default=network.host_rate)
    transfer = bytes / slowest if slowest > 0 else 0.0
    return float(phases * (transfer + latency) + (phases - 1) * latency)


def flow_of(waits: _core.Waits) -> str:
    """The flow control that the waits were derived for."""
    return "token" if waits.window == 1 else f"window:{waits.window}"


def simulation(
    network: _core.Network,
    schedule: _core.Schedule,
    waits: _core.Waits | None,
    flow: str,
    parameters: _core.ModelParameters | None = None,
) -> _core.Simulation:
    """The simulator's answer; waits of another window than the flow's are derived anew."""
    if waits is not None and flow != flow_of(waits):
        waits = None
    return _core.simulate(network, schedule, waits, flow, parameters or _core.ModelParameters())


def check_same_network(plan: _core.Plan, network: _core.Network, where: str, given: str) -> None:
    """Refuses a plan that was made for other hosts or another network than ``network``."""
    made_for = plan.build_network()
    remedy = f"plan again with --network {given}"
    for what, of_plan, of_network in (
        ("hosts", _hosts(made_for), _hosts(network)),
        ("channels", _channels(made_for), _channels(network)),
    ):
        if of_plan == of_network:
            continue
        raise PlanError(f"{where}: made for another network: {_difference(what, of_plan, of_network)}",
                        remedy=remedy)  # fmt: skip


def _hosts(network: _core.Network) -> list[str]:
    names, ranks = network.names, network.ranks_per_node
    return [f"{names[host]} with {_counted(ranks[host], 'rank')}" for host in network.hosts]


def _channels(network: _core.Network) -> list[str]:
    """In an order of their own: the same links listed in another order are the same network."""
    from hocket.units import format_rate

    rates: dict[float, str] = {}
    lines = []
    for channel in range(network.channels):
        rate = network.rate(channel)
        if rate not in rates:
            rates[rate] = format_rate(rate, 12)
        lines.append(f"{network.channel_name(channel)} of {rates[rate]}")
    return sorted(lines)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _difference(what: str, of_plan: list[str], of_network: list[str]) -> str:
    if what == "channels":
        lacking = list((Counter(of_plan) - Counter(of_network)).elements())
        if lacking:
            return f"the network has no channel {lacking[0]}"
        return f"the plan has no channel {next((Counter(of_network) - Counter(of_plan)).elements())}"
    if len(of_plan) != len(of_network):
        return f"the plan has {len(of_plan)} {what}, the network {len(of_network)}"
    index = next(i for i, pair in enumerate(zip(of_plan, of_network, strict=True)) if pair[0] != pair[1])
    return f"host {index} is {of_plan[index]}, in the network {of_network[index]}"
