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
from typing import Any, Final, NamedTuple

from hocket import _core
from hocket.errors import PlanError, UsageError

AUTO: Final = "auto"
ALL_TO_ALL: Final = "all-to-all"
ALL_GATHER: Final = "all-gather"
IRREGULAR: Final = "irregular"
# The simulator follows single messages. Beyond this many deliveries, a contention-free schedule on equal
# links is predicted from its phases, so that planning a thousand hosts stays a matter of seconds.
ENOUGH: Final = 1.02  # times the bound: nothing better is looked for
MOST_SIMULATED: Final = 300_000
# Where messages share channels, a simulation looks at the rates of many flows whenever one ends. Beyond
# this many steps of it (seconds) the time is an estimate. Counted, so that every machine says the same.
MOST_STEPS: Final = 100_000_000
# Beyond this many deliveries (some 1,000 ranks) an all-gather is planned by the first scheduler that serves
# it, and no other is tried.
MOST_COMPARED: Final = 1_100_000


SIMULATED: Final = "simulated"
BY_PHASES: Final = "by phases"
BY_LOAD: Final = "by load"


class Prediction(NamedTuple):
    """Seconds under pair-wise tokens, and how they were found: by the simulator, from the phases one after
    the other, or, where all messages go at once, from the channel with the most bytes."""

    seconds: float
    kind: str


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
    startup: float = 0.0  # seconds that a message costs its sender
    seed: int = 1  # of schedulers that draw lots
    prediction: str = SIMULATED  # what kind

    @property
    def bound_phases(self) -> int:
        """No schedule under the scheduler's port model has fewer."""
        return bound_phases(self.network, self.demand, self.bounds, self.scheduler)

    @property
    def bound_seconds(self) -> float:
        """No schedule takes less time."""
        return least_seconds(self.network, self.demand, self.bounds, self.startup)

    @property
    def ratio(self) -> float:
        """What it takes over the least possible; 1.0 is optimal. An all-to-all counts phases; those of an
        all-gather may differ in length, so it counts seconds. An irregular exchange counts the seconds of its
        phases one after the other."""
        return ratio_to_bound(
            self.network, self.demand, self.schedule, self.bounds,
            self.bound_phases, self.bound_seconds, self.predicted_seconds,
        )  # fmt: skip

    @property
    def time_ratio(self) -> float:
        """Predicted seconds over the least: beside phases, what latencies and unequal rates cost."""
        return ratio(self.predicted_seconds, self.bound_seconds)

    @property
    def token_bytes(self) -> int:
        """The time of the schedule where each transfer only waits for those before it on its channels and for
        its sender's, as the bytes that a host sends meanwhile."""
        return round(float(_core.token_seconds(self.network, self.schedule)) * float(self.network.host_rate))

    def check_accepted(self) -> None:
        """Raises PlanError for a schedule that the verifier refuses."""
        if not self.certificate.ok:
            _, phase, text = self.certificate.findings[0]
            raise PlanError(
                f"the verifier refuses the schedule of '{self.scheduler}': {text} (phase {phase})",
                remedy="choose another --scheduler, or auto",
            )

    def plan(self) -> _core.Plan:
        """What ``encode()`` turns into a plan file."""
        return _core.Plan(
            self.network,
            self.schedule,
            self.waits,
            self.demand,
            self.scheduler,
            self.bound_phases,
            self.bound_seconds,
            self.predicted_seconds,
        )

    def report(self) -> dict[str, Any]:
        """The object that ``hocket plan … --json`` prints."""
        irregular = self.demand.pattern == IRREGULAR
        return {
            **figures(
                self.network, self.demand, self.scheduler, self.schedule, self.waits, self.bounds,
                self.bound_phases, self.bound_seconds, self.predicted_seconds,
            ),
            "startup": self.startup,
            "time_ratio": self.time_ratio,
            "prediction": self.prediction,
            **({"seed": self.seed, "token_bytes": self.token_bytes} if irregular else {}),
            "contention_free": self.certificate.contention_free,
            "complete": self.certificate.complete,
            "plan_seconds": self.plan_seconds,
            "verify_seconds": self.verify_seconds,
            "peak_rss_bytes": peak_rss_bytes(),
        }  # fmt: skip


def figures(
    network: _core.Network,
    demand: _core.Demand,
    scheduler: str,
    schedule: _core.Schedule,
    waits: _core.Waits,
    bounds: _core.Bounds,
    least_phases: int,
    bound_seconds: float,
    predicted_seconds: float,
) -> dict[str, Any]:
    """What reports say of a plan, newly made or from a file."""
    return {
        "pattern": demand.pattern,
        "scheduler": scheduler,
        "hosts": len(network.hosts),
        "ranks": network.ranks,
        "messages": demand.messages,
        "transfers": len(schedule),
        "bytes": demand.bytes,
        "phases": schedule.phases,
        "bound_phases": least_phases,
        "ratio": ratio_to_bound(
            network, demand, schedule, bounds, least_phases, bound_seconds, predicted_seconds
        ),
        "bound_seconds": bound_seconds,
        "predicted_seconds": predicted_seconds,
        **(irregular_figures(network, demand, schedule, bounds) if demand.pattern == IRREGULAR else {}),
        "waits": len(waits),
        "waits_before_reduction": waits.derived,
        "window": waits.window,
    }


def ratio_to_bound(
    network: _core.Network,
    demand: _core.Demand,
    schedule: _core.Schedule,
    bounds: _core.Bounds,
    least_phases: int,
    bound_seconds: float,
    predicted_seconds: float,
) -> float:
    """What a schedule takes over the least possible; see :attr:`PlannedExchange.ratio`."""
    if demand.pattern == ALL_GATHER:
        return ratio(predicted_seconds, bound_seconds)
    if demand.pattern == IRREGULAR:
        return lockstep_ratio(network, schedule, bounds)
    return ratio(schedule.phases, least_phases)


def ratio(taken: float, bound: float) -> float:
    """``taken / bound``; nothing to do is done optimally."""
    return taken / bound if bound else 1.0


def lockstep_ratio(network: _core.Network, schedule: _core.Schedule, bounds: _core.Bounds) -> float:
    """Seconds of the phases one after the other over the bound."""
    return ratio(_core.lockstep_seconds(network, schedule), bounds.seconds)


def irregular_figures(
    network: _core.Network, demand: _core.Demand, schedule: _core.Schedule, bounds: _core.Bounds
) -> dict[str, Any]:
    """What irregular exchanges add to reports. Times are told as the bytes that a host sends meanwhile."""
    rate = network.host_rate
    return {
        "largest_bytes": demand.bytes,
        "total_bytes": demand.total_bytes,
        "schedule_bytes": round(_core.lockstep_seconds(network, schedule) * rate),
        "bound_bytes": round(bounds.seconds * rate),
        "splits": len(schedule) - demand.messages,
    }


def most_ports(network: _core.Network) -> int:
    """The most messages that a rank can send at once: one per link of its host and per rank beside it."""
    if network.ranks < 2:
        return 1
    if not network.links:  # explicit routes do not say where a channel begins
        return int(network.ranks) - 1
    links = Counter(end for link in network.links for end in link)
    ranks = network.ranks_per_node
    most: int = max(links[host] + ranks[host] - 1 for host in network.hosts)
    return most


def fewest_phases(network: _core.Network, ports: _core.PortModel) -> int:
    """Phases that no all-gather can do without: with p messages at once, who knows k contributions can
    know (p + 1) · k after the next phase."""
    at_once = most_ports(network) if ports == _core.PortModel.all_port else 1
    phases, known = 0, 1
    while known < network.ranks:
        known *= at_once + 1
        phases += 1
    return phases


def bound_phases(network: _core.Network, demand: _core.Demand, bounds: _core.Bounds, scheduler: str) -> int:
    """No schedule under the scheduler's port model has fewer."""
    if demand.pattern == ALL_GATHER:
        return fewest_phases(network, ports_of(scheduler, ALL_GATHER)) if _anything(demand) else 0
    return int(bounds.phases)


def least_seconds(
    network: _core.Network, demand: _core.Demand, bounds: _core.Bounds, startup: float
) -> float:
    """The core's bound, and for an all-gather with startups Lemma 1 of Juurlink, Sibeyn and Rao: every phase
    costs a startup, and so does the first message before the last byte crosses the narrowest cut."""
    seconds = float(bounds.seconds)
    if demand.pattern != ALL_GATHER or startup == 0 or network.ranks < 2 or not _anything(demand):
        return seconds
    return max(startup * fewest_phases(network, _core.PortModel.all_port), startup + seconds)


def _anything(demand: _core.Demand) -> bool:
    """Whether there is a byte to send."""
    return any(demand.contributions) if demand.contributions else demand.bytes > 0


def ports_of(scheduler: str, pattern: str) -> _core.PortModel:
    """The port model that the scheduler keeps; a plan may name one that this version does not know."""
    for entry in _core.schedulers():
        if entry.name == scheduler and entry.pattern == pattern:
            return entry.ports
    return _core.PortModel.one_port


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
    return _plan(network, _core.Demand(network.ranks, bytes), scheduler, window)


def plan_all_gather(
    network: _core.Network,
    bytes: int,
    scheduler: str = AUTO,
    window: int = 1,
    contributions: Sequence[int] | None = None,
    startup: float = 0.0,
) -> PlannedExchange:
    """Schedules an all-gather of ``bytes`` per rank, or of what ``contributions`` says for each rank.

    ``startup`` is what a message costs its sender, in seconds: schedulers may trade phases for bytes by it.
    ``auto`` takes the contention-free scheduler with the least predicted time, or the first that comes
    within 2 % of the bound.
    """
    if contributions is not None:
        bytes = max(contributions, default=0)
    demand = _core.Demand(network.ranks, bytes, ALL_GATHER, contributions=list(contributions or []))
    return _plan(network, demand, scheduler, window, startup)


def plan_irregular(
    network: _core.Network,
    demand: _core.Demand,
    scheduler: str = AUTO,
    window: int = 1,
    startup: float = 0.0,
    seed: int = 1,
) -> PlannedExchange:
    """Schedules an irregular demand (:func:`hocket.demand.read_demand`).

    ``seed`` is for schedulers that draw lots: the same seed gives the same schedule.
    """
    return _plan(network, demand, scheduler, window, startup, seed)


def _plan(
    network: _core.Network,
    demand: _core.Demand,
    scheduler: str,
    window: int,
    startup: float = 0.0,
    seed: int = 1,
) -> PlannedExchange:
    _check_size(demand)
    bounds = _core.lower_bounds(network, demand)
    entries = _candidates(network, demand, scheduler)
    choosing = predicting = 0.0
    best: _Candidate | None = None
    for entry in entries:  # one after the other, so that no more than two are in memory
        begun = time.perf_counter()
        schedule = entry.make(network, demand, startup, seed)
        waits = _core.derive_waits(network, schedule, window)
        planned = time.perf_counter()
        most_steps = MOST_STEPS if len(entries) == 1 else None  # estimates are not compared
        seconds, kind = predict(network, demand, schedule, waits, entry, startup, most_steps)
        choosing += planned - begun
        predicting += time.perf_counter() - planned
        if best is None or (seconds, schedule.phases) < (best.seconds, best.schedule.phases):
            best = _Candidate(entry, schedule, waits, seconds, kind)
        if best.seconds <= ENOUGH * least_seconds(network, demand, bounds, startup):
            break
    if best is None:
        raise PlanError(f"no {demand.pattern} scheduler serves this network")
    begun = time.perf_counter()
    certificate = check(network, demand, best.schedule, best.waits, best.entry.ports)
    verifying = time.perf_counter() - begun
    # Where the prediction chose among several, it was part of planning.
    return PlannedExchange(
        network, demand, best.entry.name, best.schedule, best.waits, bounds, certificate,
        choosing + (predicting if len(entries) > 1 else 0.0), verifying, best.seconds, startup, seed,
        best.prediction,
    )  # fmt: skip


def _check_size(demand: _core.Demand) -> None:
    """Before any work: a whole all-to-all or all-gather has a limit that no scheduler goes beyond."""
    most = _core.MAX_EXPLICIT_RANKS
    if demand.pattern == IRREGULAR or demand.ranks <= most:
        return
    row = "ask for one rank's row with --rank R, or " if demand.pattern == ALL_TO_ALL else ""
    raise PlanError(
        f"{demand.ranks:,} ranks are too many for a whole {demand.pattern}; plans have up to {most:,}",
        remedy=f"{row}cut the network to a job's hosts with 'hocket network convert --hosts'",
    )


@dataclass(frozen=True, slots=True)
class _Candidate:
    entry: _core.Scheduler
    schedule: _core.Schedule
    waits: _core.Waits
    seconds: float  # predicted
    prediction: str


def check(
    network: _core.Network,
    demand: _core.Demand,
    schedule: _core.Schedule,
    waits: _core.Waits,
    ports: _core.PortModel = _core.PortModel.one_port,
) -> _core.Certificate:
    """The verifier's findings on a schedule and its waits."""
    certificate = _core.verify(network, demand, schedule, ports)
    _core.verify_waits(network, schedule, waits, certificate)
    return certificate


def _candidates(network: _core.Network, demand: _core.Demand, scheduler: str) -> Sequence[_core.Scheduler]:
    if scheduler != AUTO:
        named = _core.find_scheduler(scheduler, demand.pattern)
        if why_not := named.why_not(network, demand):
            able = [
                s.name
                for s in _core.schedulers()
                if s.pattern == demand.pattern and not s.why_not(network, demand)
            ]
            raise UsageError(
                f"--scheduler {scheduler} cannot serve this: {why_not}",
                remedy=f"give auto, or one of those that can: {', '.join(able)}",
            )
        return [named]
    first = _core.choose_scheduler(network, demand)
    if demand.pattern == ALL_GATHER:
        if demand.messages > MOST_COMPARED:
            return [first]
    elif network.equal_rates or demand.pattern == IRREGULAR:
        return [first]
    return [first] + [
        s
        for s in _core.schedulers()
        if s.pattern == demand.pattern
        and s.contention_free
        and s.name != first.name
        and not s.why_not(network, demand)
    ]


def predict(
    network: _core.Network,
    demand: _core.Demand,
    schedule: _core.Schedule,
    waits: _core.Waits,
    scheduler: _core.Scheduler,
    startup: float = 0.0,
    most_steps: int | None = None,
) -> Prediction:
    """Seconds that the schedule takes under pair-wise tokens.

    What decides how, must not depend on the schedule where predictions are compared: there without
    ``most_steps``, beyond which the simulation is given up.
    """
    startups = sum(schedule.most_sends()) * startup
    if demand.messages > MOST_SIMULATED and scheduler.contention_free and network.equal_rates:
        longest = sum(schedule.longest())
        seconds = by_phases(network, schedule.phases, longest, startups, tokens=len(waits) > 0)
        return Prediction(seconds, BY_PHASES)
    parameters, flow = _core.ModelParameters(startup=startup), flow_of(waits)
    if most_steps is None:
        return Prediction(simulation(network, schedule, waits, flow, parameters).seconds, SIMULATED)
    simulated = _core.simulate_within(most_steps, network, schedule, waits, flow, parameters)
    if simulated is not None:
        return Prediction(simulated.seconds, SIMULATED)
    pauses = _pauses(network, schedule.phases, startups, tokens=len(waits) > 0)
    lockstep = _core.lockstep_seconds(network, schedule)
    if schedule.phases == 1:
        return Prediction(lockstep + pauses, BY_LOAD)
    # Both are too much: phases overlap, and messages share a channel rather than follow each other.
    return Prediction(min(lockstep, _core.token_seconds(network, schedule)) + pauses, BY_PHASES)


def by_phases(
    network: _core.Network, phases: int, bytes: int, startups: float = 0.0, tokens: bool = True
) -> float:
    """The slowest message of each phase, one after the other, when no message shares a channel.

    ``bytes`` and ``startups`` (in seconds) are those of all phases together. A phase ends with its last byte
    and the token that may follow it; each pays the latency of its route once.
    """
    if phases == 0:
        return 0.0
    slowest = min((network.rate(channel) for channel in range(network.channels)), default=network.host_rate)
    transfer = bytes / slowest if slowest > 0 else 0.0
    return float(transfer + _pauses(network, phases, startups, tokens))


def _pauses(network: _core.Network, phases: int, startups: float, tokens: bool) -> float:
    """What phases cost besides their bytes. The two ends of the network stand for the longest route."""
    if phases == 0:
        return 0.0
    latency = sum(network.latency(channel) for channel in network.route(0, network.ranks - 1))
    back = (phases - 1) * latency if tokens else 0.0
    return float(startups + phases * latency + back)


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
