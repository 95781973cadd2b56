"""``hocket verify``: a plan file checked, whatever it says about itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from hocket import _core
from hocket._core import Certificate, Demand, Network, Plan, TwoLevelCertificate, TwoLevelExchange
from hocket.cli._shared.commands import Command
from hocket.cli._shared.options import defaults_options, load_network, load_plan, loud, network_option
from hocket.cli._shared.request import size_text, time_in_turn
from hocket.cli._shared.two_level import check_two_level_plan, exchange_of, two_level_option
from hocket.cli._shared.work import json_option, read_whole, tell, with_spinner
from hocket.demand.collectives import ALL_TO_ALL
from hocket.errors import HocketError
from hocket.planning.plan import check, figures_of, peak_rss_bytes
from hocket.system.text import picked
from hocket.units import format_bytes, format_time

if TYPE_CHECKING:
    from hocket.network import Defaults, KnownNetwork


@click.command(
    cls=Command,
    examples=(
        "hocket verify plan.hkt --network cluster.toml",
        "hocket verify plan.hkt --network cluster.toml --ranks-per-host 4 --two-level",
    ),
)
@click.argument("path", metavar="PLAN")
@network_option()
@two_level_option(
    "PLAN has one rank a host. Check both levels of the exchange that NETWORK's ranks carry out by it."
)
@click.option(
    "--prices",
    metavar="FILE.json",
    help="Check the bound of any routes by the prices in the output of 'hocket plan all-to-all --json'.",
)
@defaults_options
@json_option
@click.pass_context
def verify(
    ctx: click.Context, path: str, source: str, two_level: bool, prices: str | None, defaults: Defaults
) -> None:
    """Check every phase and every byte of PLAN against NETWORK.

    The exit code is 0 if the plan holds, 1 if it does not, and 2 if the file is damaged or was made for another
    network.
    """
    from hocket.planning.network_check import check_same_network

    known = load_network(source, defaults)
    plan = load_plan(path)
    if two_level:
        check_two_level_plan(plan, known.network, path)
    network = known.network.one_rank_a_host() if two_level else known.network
    check_same_network(plan, network, path, source, known.is_measured)
    demand = plan.demand
    phases, seconds = plan.least(network)
    # The per-message cost that blocks were planned for is known to the plan alone.
    figures = figures_of(plan, (phases, plan.bound_seconds if demand.by_blocks else seconds))
    free = None if prices is None else _certified(prices, network, demand)
    begun = time.perf_counter()
    exchange = exchange_of(plan, known.network) if two_level else None

    def proof() -> Certificate | TwoLevelCertificate:
        if exchange is None:
            ports = _core.PortModel.of(plan.algorithm, demand.pattern)
            return check(network, demand, plan.schedule, plan.waits, ports)
        ports = _core.PortModel.of(plan.algorithm, exchange.between.pattern)
        return _core.verify_two_level(network, exchange, plan.waits, _core.limits.host_memory, ports)

    certificate = with_spinner("verifying", proof)
    seconds = time.perf_counter() - begun
    report: dict[str, Any] = {
        "plan": path,
        **figures,
        **picked(certificate, "ok", "contention_free", "complete", "worst_channel_use"),
        "violations": certificate.counts,
        "findings": [
            {"kind": kind, "phase": phase, "text": text} for kind, phase, text in certificate.findings
        ],
        "verify_seconds": seconds,
        "peak_rss_bytes": peak_rss_bytes(),
        **known.rates_as_json(),
    }
    if free is not None:
        report["free_routes_seconds"] = free
    if exchange is not None:
        report["two_level"] = {"ranks": exchange.demand.ranks, "memory_bytes": max(exchange.memory)}
    tell(report, lambda: _lines(report, plan, certificate, exchange, known))
    ctx.exit(0 if certificate.ok else 1)


def _certified(path: str, network: Network, demand: Demand) -> float:
    """Seconds that no all-to-all takes less by any routes, as the prices in the file certify."""
    from hocket.planning.bounds import prices_in

    try:
        return float(_core.priced_seconds(network, demand, prices_in(read_whole(path, "prices"), path)))
    except _core.InputError as problem:
        raise HocketError(
            f"{path}: {problem}", remedy="give what 'hocket plan all-to-all --json' printed of this plan"
        ) from None


def _lines(
    report: dict[str, Any], plan: Plan, certificate: Certificate | TwoLevelCertificate,
    exchange: TwoLevelExchange | None, known: KnownNetwork,
) -> Iterator[str]:  # fmt: skip
    """The report for people."""
    answer = {True: "yes", False: "NO"}
    phases = certificate.phases
    yield f"{report['plan']}: {certificate.transfers} transfers in {phases} phases by '{plan.algorithm}'"
    if exchange is not None:
        yield (
            f"aggregated       {size_text(exchange.demand)} of {exchange.demand.ranks} ranks on "
            f"{len(exchange.groups)} hosts, {format_bytes(max(exchange.memory))} of memory a host"
        )
    yield f"complete         {answer[certificate.complete]}"
    yield f"contention-free  {answer[certificate.contention_free]}"
    yield f"ordered by waits {answer[_ordered(certificate)]}, {len(plan.waits)} waits"
    assumed = " of assumed capacities" if known.assumed else ""
    by_phases = report["pattern"] == ALL_TO_ALL and plan.schedule.direct
    share = f", ratio {report['ratio']:.3f}{assumed}" if by_phases else ""
    yield f"phases           {phases}, bound {report['bound_phases']}{share}"
    if in_turn := time_in_turn(report):
        yield f"phases in turn   {in_turn}{assumed}"
    yield (
        f"time as planned  {format_time(plan.predicted_seconds, 4)} predicted, "
        f"bound {format_time(report['bound_seconds'], 4)}, ratio {report['time_ratio']:.3f}{assumed}"
    )
    if (free := report.get("free_routes_seconds")) is not None:
        yield f"any routes       bound {format_time(free, 4)}, by the prices given"
    yield from loud(known)
    for kind, count in certificate.counts.items():
        yield f"{kind}: {count} times, such as"
        for found, phase, text in certificate.findings:
            if found == kind:
                yield f"  phase {phase}: {text}"
    yield f"{'holds' if certificate.ok else 'DOES NOT HOLD'}, checked in {report['verify_seconds']:.3f} s"


def _ordered(certificate: object) -> bool:
    counts: dict[str, int] = getattr(certificate, "counts", {})
    return "not ordered by waits" not in counts and "circular wait" not in counts
