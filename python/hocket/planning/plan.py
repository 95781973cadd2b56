"""Planned exchanges: schedule, waits, bounds, proof and prediction in one object, and their figures.

No algorithm lives here; the core chooses, schedules, verifies and simulates.
"""

from __future__ import annotations

import resource
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

from hocket import _core
from hocket.demand.collectives import ALL_TO_ALL, IRREGULAR, find, library_calls
from hocket.errors import PlanError, UsageError
from hocket.system.text import picked


@dataclass(frozen=True, slots=True, kw_only=True)
class Irregular:
    """Additional figures of an irregular exchange."""

    largest_bytes: int
    total_bytes: int
    lockstep_seconds: float  # its phases one after the other
    load_bound_seconds: float  # the busiest channel or port
    splits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """A schedule of a demand on a network in plain numbers: sizes in bytes, times in seconds.

    ``ratio`` is what the schedule takes over the least possible; 1.0 is optimal. An all-to-all counts phases;
    those of blocks (all-gathers, reductions) and of parts of messages may differ in length, so these count predicted
    seconds; an irregular exchange counts the seconds of its phases one after the other. ``time_ratio`` is predicted
    seconds over the least: it also counts latencies. None: not known, where one rank's row stands for a schedule.
    """

    pattern: str
    algorithm: str
    hosts: int
    ranks: int
    messages: int
    transfers: int
    bytes: int
    phases: int
    bound_phases: int
    ratio: float
    time_ratio: float
    bound_seconds: float
    predicted_seconds: float
    waits: int | None = None
    waits_before_reduction: int | None = None
    window: int | None = None
    irregular: Irregular | None = None

    def as_json(self) -> dict[str, Any]:
        """Figures as one flat object."""
        numbers = asdict(self)
        more: dict[str, Any] = numbers.pop("irregular") or {}
        return {**numbers, **more}


def ratio(taken: float, bound: float) -> float:
    """``taken / bound``; nothing to do is done optimally."""
    return taken / bound if bound else 1.0


def peak_rss_bytes() -> int:
    """The most memory that this process has had."""
    try:  # ru_maxrss also counts the process that forked this one, so the kernel's own figure comes first
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


AUTO: Final = "auto"
MOST_STEPS: Final[int] = _core.MOST_SIMULATION_STEPS
SIMULATED: Final = "simulated"
BY_PHASES: Final = "by phases"


@dataclass
class PlannedExchange:
    """An exchange with its schedule, whether it has just been planned or a file holds it."""

    network: _core.Network
    demand: _core.Demand
    algorithm: str
    schedule: _core.Schedule
    waits: _core.Waits
    bounds: _core.Bounds
    bound_phases: int  # no schedule under the algorithm's port model has fewer
    bound_seconds: float  # no schedule on these routes takes less time
    predicted_seconds: float
    prediction: str = SIMULATED  # what kind
    alpha: float = 0.0  # seconds that a message costs its sender
    seed: int = 1  # of algorithms that draw lots
    collective: str = ""
    plan_seconds: float = 0.0  # schedule and waits
    verify_seconds: float = 0.0  # schedule and waits, again

    @classmethod
    def of_file(cls, file: _core.Plan, network: _core.Network | None = None) -> Self:
        """The exchange of a plan file, with the bounds that the file states; on ``network``, if that is built already.

        Raises ``_core.InputError``."""
        network = file.build_network() if network is None else network
        header = file.header
        return cls(
            network, header.demand, header.algorithm, file.schedule, file.waits,
            _core.lower_bounds(network, header.demand),
            header.bound_phases, header.bound_seconds, header.predicted_seconds,
        )  # fmt: skip

    def file(self) -> _core.Plan:
        """The plan, which ``encode()`` turns into the bytes of a plan file."""
        return _core.Plan(
            self.network,
            self.schedule,
            self.waits,
            self.demand,
            self.algorithm,
            self.bound_phases,
            self.bound_seconds,
            self.predicted_seconds,
        )

    @cached_property
    def figures(self) -> Figures:
        """Figures of the exchange that reports show."""
        demand, schedule, bounds = self.demand, self.schedule, self.bounds
        time_ratio = ratio(self.predicted_seconds, self.bound_seconds)
        irregular = None
        if demand.pattern == IRREGULAR:
            lockstep = float(_core.lockstep_seconds(self.network, schedule))
            irregular = Irregular(
                largest_bytes=demand.bytes,
                total_bytes=demand.total_bytes,
                lockstep_seconds=lockstep,
                load_bound_seconds=bounds.one_port_seconds,
                splits=len(schedule) - demand.messages,
            )
            over = ratio(lockstep, bounds.one_port_seconds)
        else:
            of_parts = demand.by_blocks or not schedule.direct
            over = time_ratio if of_parts else ratio(schedule.phases, self.bound_phases)
        return Figures(
            **picked(self, "algorithm", "bound_phases", "bound_seconds", "predicted_seconds"),
            **picked(demand, "messages", "bytes"),
            pattern=str(demand.pattern),
            hosts=len(self.network.hosts),
            ranks=self.network.ranks,
            transfers=len(schedule),
            phases=schedule.phases,
            ratio=over,
            time_ratio=time_ratio,
            waits=len(self.waits),
            waits_before_reduction=self.waits.derived,
            window=self.waits.window,
            irregular=irregular,
        )

    @property
    def whole_phases(self) -> float:
        """Messages at a host's full speed that take as long: its phases, unless it cuts messages or links are slower
        than the hosts."""
        if not self.demand.bytes or (self.schedule.direct and takes_phases(self.network)):
            return int(self.schedule.phases)
        return float(self.predicted_seconds * self.network.host_rate / self.demand.bytes)

    @cached_property
    def certificate(self) -> _core.Certificate:
        """The verifier's findings under the port model of its algorithm. Every caller accepts plans by this
        certificate."""
        ports = ports_of(self.algorithm, self.demand.pattern)
        return check(self.network, self.demand, self.schedule, self.waits, ports)

    @property
    def token_seconds(self) -> float:
        """The time of the schedule where each transfer only waits for those before it on its channels and for
        its sender's."""
        return float(_core.token_seconds(self.network, self.schedule))

    def library_seconds(self) -> dict[str, float]:
        """Seconds that the algorithms of MPI libraries take on this network, by name: step after step, by
        link rates alone."""
        calls = [call for call in library_calls(self.demand) if call.flow == "steps"]
        made = ((call.name, call.make(self.network, self.demand)) for call in calls)
        return {name: float(_core.lockstep_seconds(self.network, schedule)) for name, schedule in made}

    def check_accepted(self) -> None:
        """Raises PlanError for a schedule that the verifier refuses."""
        if not self.certificate.ok:
            _, phase, text = self.certificate.findings[0]
            raise PlanError(
                f"the verifier refuses the schedule of '{self.algorithm}': {text} (phase {phase})",
                remedy="choose another --algorithm, or auto",
            )

    def report(self) -> dict[str, Any]:
        """The object that ``hocket plan … --json`` prints."""
        irregular: dict[str, Any] = {}
        if self.demand.pattern == IRREGULAR:
            irregular = {"seed": self.seed, "token_seconds": self.token_seconds}
        return {
            **self.figures.as_json(),
            **picked(self, "alpha", "prediction"),
            **irregular,
            **picked(self.certificate, "contention_free", "complete"),
            **picked(self, "plan_seconds", "verify_seconds"),
            "peak_rss_bytes": peak_rss_bytes(),
        }


def plan_collective(
    name: str,
    network: _core.Network,
    bytes: int,
    algorithm: str = AUTO,
    window: int | None = None,
    alpha: float | None = None,
    *,
    root: int = 0,
    contributions: Sequence[int] | None = None,
) -> PlannedExchange:
    """Schedules a collective of ``bytes`` per message or contribution, derives its waits and verifies both.

    ``alpha`` is what a message costs its sender, in seconds: algorithms may trade phases for bytes by it.
    None: what the ranks of a running program assume, so that they plan the same.
    ``contributions``: the bytes of each rank's block in place of ``bytes``, where :func:`takes_contributions`.
    """
    if contributions is None:
        demand = find(name).demand(network.ranks, bytes, root)
    else:
        most = max(contributions, default=0)
        demand = _core.Demand(network.ranks, most, find(name).pattern, contributions=list(contributions))
    seconds = find(name).usual_alpha if alpha is None else alpha
    planned = plan_demand(network, demand, algorithm, window, seconds)
    planned.collective = name
    return planned


def plan_demand(
    network: _core.Network,
    demand: _core.Demand,
    algorithm: str = AUTO,
    window: int | None = None,
    alpha: float = 0.0,
    seed: int = 1,
    *,
    whole: bool = False,
) -> PlannedExchange:
    """Schedules any demand, derives the waits and verifies both. ``alpha``: seconds that a message costs its sender.

    ``seed`` is for algorithms that draw lots: the same seed gives the same schedule. ``whole``: ranks pass on no
    parts of an all-to-all's messages."""
    _check_size(demand)
    if algorithm != AUTO:
        _check_serves(algorithm, network, demand)
    name = "" if algorithm == AUTO else algorithm
    found = _core.plan(network, demand, window, name, alpha, seed, whole, MOST_STEPS)
    planned = of_choice(network, demand, found, found.prediction)
    planned.alpha, planned.seed = alpha, seed
    planned.certificate = found.certificate
    return planned


def of_choice(
    network: _core.Network, demand: _core.Demand, found: _core.PlannedExchange, prediction: _core.Prediction
) -> PlannedExchange:
    """The exchange that the core has planned."""
    return PlannedExchange(
        network, demand, found.algorithm.name, found.schedule, found.waits, found.bounds,
        found.bound_phases, found.bound_seconds, prediction.seconds, prediction.kind,
        plan_seconds=found.plan_seconds, verify_seconds=found.verify_seconds,
    )  # fmt: skip


def _check_size(demand: _core.Demand) -> None:
    """Check the size before any work: no algorithm makes a whole all-to-all or all-gather above a limit.
    Raises PlanError."""
    most = _core.MAX_EXPLICIT_RANKS
    if demand.pattern == IRREGULAR or demand.ranks <= most:
        return
    row = "ask for one rank's row with --rank R, or " if demand.pattern == ALL_TO_ALL else ""
    raise PlanError(
        f"{demand.ranks:,} ranks are too many for a whole {demand.pattern}; plans have up to {most:,}",
        remedy=f"{row}cut the network to a job's hosts with 'hocket network convert --hosts'",
    )


def _check_serves(algorithm: str, network: _core.Network, demand: _core.Demand) -> None:
    """Raises UsageError, which names those that can, for an algorithm that cannot."""
    served = demand.scheduled_as
    try:
        entry = _core.find_algorithm(algorithm, demand.pattern)
    except _core.InputError as unknown:
        what, _, known = str(unknown).partition("; there are ")
        raise UsageError(what, remedy=f"give auto, or one of {known}") from None
    if why_not := entry.why_not(network, served):
        raise UsageError(
            f"--algorithm {algorithm} cannot serve this: {why_not}",
            remedy=f"give auto, or one of those that can: {', '.join(able_algorithms(network, demand))}",
        )


def able_algorithms(network: _core.Network, demand: _core.Demand) -> list[str]:
    """The algorithms that can serve a demand on this network, in the order of the registry."""
    served = demand.scheduled_as
    every = _core.all_algorithms()
    return [one.name for one in every if one.pattern == served.pattern and not one.why_not(network, served)]


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


def takes_phases(network: _core.Network) -> bool:
    """True if a phase of whole messages takes as long as a message at a host's full speed: no link is slower."""
    return network.equal_rates or all(network.rate(c) >= network.host_rate for c in range(network.channels))


def ports_of(algorithm: str, pattern: str) -> _core.PortModel:
    """The port model that the algorithm keeps, for reductions that of the all-gather; the strictest for one that this
    version does not know, which a plan may name."""
    try:
        return _core.find_algorithm(algorithm, pattern).ports
    except _core.InputError:
        return _core.PortModel.one_port


def least_of(
    algorithm: str, network: _core.Network, demand: _core.Demand, bounds: _core.Bounds, alpha: float = 0.0
) -> tuple[int, float]:
    """Phases and seconds that no schedule of the algorithm is below; of one that this version does not know, under the
    strictest port model."""
    try:
        entry = _core.find_algorithm(algorithm, demand.pattern)
    except _core.InputError:
        one_port = _core.PortModel.one_port
        return _core.least_phases(network, demand, bounds, one_port), _core.least_seconds(
            network, demand, bounds, alpha
        )
    least: tuple[int, float] = _core.least_of(entry, network, demand, bounds, alpha)
    return least


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
