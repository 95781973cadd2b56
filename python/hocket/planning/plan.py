"""Planning, and what is said of plans. No algorithm lives here: the core chooses, schedules, verifies and simulates."""

from __future__ import annotations

import resource
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from hocket import _core
from hocket.demand.collectives import ALL_TO_ALL, IRREGULAR, find
from hocket.errors import PlanError, UsageError
from hocket.system.text import picked


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
MOST_STEPS: Final[int] = _core.limits.most_simulation_steps


def figures_of(
    plan: _core.Plan, least: tuple[int, float] | None = None, seconds: float | None = None
) -> dict[str, Any]:
    """A plan in plain numbers, as reports have them: sizes in bytes, times in seconds. ``least``: phases and seconds of
    the bound in place of the plan's own; ``seconds``: of the prediction.

    ``ratio`` is what the schedule takes over the least possible; 1.0 is optimal. An all-to-all counts phases;
    those of blocks (all-gathers, reductions) and of parts of messages may differ in length, so these count predicted
    seconds; an irregular exchange counts the seconds of its phases one after the other. ``time_ratio`` is predicted
    seconds over the least: it also counts latencies.
    """
    demand, schedule = plan.demand, plan.schedule
    bound_phases, bound_seconds = least or (plan.bound_phases, plan.bound_seconds)
    predicted = plan.predicted_seconds if seconds is None else seconds
    time_ratio = ratio(predicted, bound_seconds)
    irregular = {}
    if demand.pattern == IRREGULAR:
        irregular = {
            "largest_bytes": demand.bytes,
            "total_bytes": demand.total_bytes,
            "lockstep_seconds": schedule.lockstep_seconds(plan.network),
            "load_bound_seconds": _core.lower_bounds(plan.network, demand).one_port_seconds,
            "splits": len(schedule) - demand.messages,
        }
        over = ratio(irregular["lockstep_seconds"], irregular["load_bound_seconds"])
    else:
        of_parts = demand.by_blocks or not schedule.direct
        over = time_ratio if of_parts else ratio(schedule.phases, bound_phases)
    return {
        "pattern": demand.pattern,
        "algorithm": plan.algorithm,
        "hosts": len(plan.network.hosts),
        "ranks": plan.network.ranks,
        "messages": demand.messages,
        "transfers": len(schedule),
        "bytes": demand.bytes,
        "phases": schedule.phases,
        "bound_phases": bound_phases,
        "ratio": over,
        "time_ratio": time_ratio,
        "bound_seconds": bound_seconds,
        "predicted_seconds": predicted,
        "waits": len(plan.waits),
        "waits_before_reduction": plan.waits.derived,
        "window": plan.waits.window,
        **irregular,
    }


def whole_phases(plan: _core.Plan) -> float:
    """Messages at a host's full speed that take as long: its phases, unless it cuts messages or links are slower
    than the hosts."""
    if not plan.demand.bytes or (plan.schedule.direct and takes_phases(plan.network)):
        return int(plan.schedule.phases)
    return float(plan.predicted_seconds * plan.network.host_rate / plan.demand.bytes)


def certificate_of(plan: _core.Plan) -> _core.Certificate:
    """The verifier's findings under the port model of the plan's algorithm: those of planning, or of a plan that was
    read. Every caller accepts plans by this certificate."""
    ports = _core.PortModel.of(plan.algorithm, plan.demand.pattern)
    return plan.certificate or check(plan.network, plan.demand, plan.schedule, plan.waits, ports)


def check_accepted(plan: _core.Plan) -> None:
    """Raises PlanError for a schedule that the verifier refuses."""
    certificate = certificate_of(plan)
    if not certificate.ok:
        _, phase, text = certificate.findings[0]
        raise PlanError(
            f"the verifier refuses the schedule of '{plan.algorithm}': {text} (phase {phase})",
            remedy="choose another --algorithm, or auto",
        )


def report_of(plan: _core.Plan) -> dict[str, Any]:
    """The object that ``hocket plan … --json`` prints; of a plan that was read without what only planning knows."""
    report = figures_of(plan)
    if plan.certificate is None:
        return report
    report |= picked(plan, "alpha", "prediction")
    if plan.demand.pattern == IRREGULAR:
        seconds = float(plan.schedule.token_seconds(plan.network))
        report |= {"seed": plan.seed, "token_seconds": seconds}
    return {
        **report,
        **picked(plan.certificate, "contention_free", "complete"),
        **picked(plan, "plan_seconds", "verify_seconds"),
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
) -> _core.Plan:
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
    return plan_demand(network, demand, algorithm, window, find(name).usual_alpha if alpha is None else alpha)


def plan_demand(
    network: _core.Network,
    demand: _core.Demand,
    algorithm: str = AUTO,
    window: int | None = None,
    alpha: float = 0.0,
    seed: int = 1,
    **more: Any,
) -> _core.Plan:
    """Schedules any demand, derives the waits and verifies both. ``alpha``: seconds that a message costs its sender.

    ``seed`` is for algorithms that draw lots: the same seed gives the same schedule. ``more``: what else is asked of
    ``_core.plan()``."""
    served_on, served = network, demand
    if more.get("two_level"):
        served_on, served = network.one_rank_a_host(), network.host_groups().scheduled_between(demand)
    _check_size(served)
    if algorithm != AUTO:
        _check_serves(algorithm, served_on, served)
    name = "" if algorithm == AUTO else algorithm
    return _core.plan(network, demand, window, name, alpha, seed, most_steps=MOST_STEPS, **more)


def _check_size(demand: _core.Demand) -> None:
    """Check the size before any work: no algorithm makes a whole all-to-all or all-gather above a limit.
    Raises PlanError."""
    most = _core.limits.max_explicit_ranks
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
        entry = _core.Algorithm.find(algorithm, demand.pattern)
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
    every = _core.Algorithm.all()
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
