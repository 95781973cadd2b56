"""``hocket verify``: trusts neither the file nor the scheduler."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import click

from hocket.cli.irregular import bytes_over_bound
from hocket.cli.options import defaults_options, json_option, load_network, load_plan, loud, network_option
from hocket.cli.work import with_spinner
from hocket.units import format_time

if TYPE_CHECKING:
    from hocket.network import Defaults


@click.command()
@click.argument("path", metavar="PLAN")
@network_option()
@defaults_options
@json_option
@click.pass_context
def verify(
    ctx: click.Context,
    path: str,
    source: str,
    defaults: Defaults,
    as_json: bool,
) -> None:
    """Check PLAN against NETWORK, every phase and every byte.

    Exit code 0: it holds. 1: it does not, and why. 2: the file is damaged or was made for another network.
    """
    from hocket import _core
    from hocket.planning import (
        ALL_GATHER,
        IRREGULAR,
        bound_phases,
        check,
        irregular_figures,
        peak_rss_bytes,
        ports_of,
        ratio,
        ratio_to_bound,
    )
    from hocket.same_network import check_same_network

    known = load_network(source, defaults, as_json)
    network = known.network
    plan = load_plan(path, as_json)
    check_same_network(plan, network, path, source)
    header, demand = plan.header, plan.header.demand
    gather, irregular = demand.pattern == ALL_GATHER, demand.pattern == IRREGULAR
    ports = ports_of(header.scheduler, demand.pattern)
    begun = time.perf_counter()
    certificate = with_spinner(
        "verifying", lambda: check(network, demand, plan.schedule, plan.waits, ports), as_json
    )
    seconds = time.perf_counter() - begun
    bounds = _core.lower_bounds(network, demand)
    least = bound_phases(network, demand, bounds, header.scheduler)
    # The startup that an all-gather was planned for is known to the plan alone.
    bound_seconds = header.bound_seconds if gather else bounds.seconds
    share = ratio_to_bound(
        network, demand, plan.schedule, bounds, least, bound_seconds, header.predicted_seconds
    )
    if as_json:
        report = {
            "plan": path,
            "pattern": demand.pattern,
            "ok": certificate.ok,
            "contention_free": certificate.contention_free,
            "complete": certificate.complete,
            "scheduler": header.scheduler,
            "hosts": len(network.hosts),
            "ranks": network.ranks,
            "bytes": demand.bytes,
            "messages": demand.messages,
            "transfers": certificate.transfers,
            "phases": certificate.phases,
            "bound_phases": least,
            "ratio": share,
            "time_ratio": ratio(header.predicted_seconds, bound_seconds),
            "bound_seconds": bound_seconds,
            "predicted_seconds": header.predicted_seconds,
            **(irregular_figures(network, demand, plan.schedule, bounds) if irregular else {}),
            "waits": len(plan.waits),
            "waits_before_reduction": plan.waits.derived,
            "window": plan.waits.window,
            "worst_channel_use": certificate.worst_channel_use,
            "violations": certificate.counts,
            "findings": [
                {"kind": kind, "phase": phase, "text": text} for kind, phase, text in certificate.findings
            ],
            "verify_seconds": seconds,
            "peak_rss_bytes": peak_rss_bytes(),
            "uplinks": known.uplinks.as_json(),
        }
        click.echo(json.dumps(report))
    else:
        answer = {True: "yes", False: "NO"}
        click.echo(
            f"{path}: {certificate.transfers} transfers in {certificate.phases} phases "
            f"by '{header.scheduler}'"
        )
        click.echo(f"complete         {answer[certificate.complete]}")
        click.echo(f"contention-free  {answer[certificate.contention_free]}")
        click.echo(f"ordered by waits {answer[_ordered(certificate)]}, {len(plan.waits)} waits")
        phases = f"phases           {certificate.phases}, bound {least}"
        assumed = " of assumed capacities" if known.uplinks.assumed else ""
        click.echo(phases if gather or irregular else f"{phases}, ratio {share:.3f}{assumed}")
        if irregular:
            figures = irregular_figures(network, demand, plan.schedule, bounds)
            click.echo(f"phases in turn   {bytes_over_bound(figures, share)}{assumed}")
        click.echo(
            f"time as planned  {format_time(header.predicted_seconds, 4)} predicted, "
            f"bound {format_time(bound_seconds, 4)}, "
            f"ratio {ratio(header.predicted_seconds, bound_seconds):.3f}{assumed}"
        )
        if line := loud(known.uplinks):
            click.echo(line)
        for kind, count in certificate.counts.items():
            click.echo(f"{kind}: {count} times, such as")
            for found, phase, text in certificate.findings:
                if found == kind:
                    click.echo(f"  phase {phase}: {text}")
        click.echo(f"{'holds' if certificate.ok else 'DOES NOT HOLD'}, checked in {seconds:.3f} s")
    ctx.exit(0 if certificate.ok else 1)


def _ordered(certificate: object) -> bool:
    counts: dict[str, int] = getattr(certificate, "counts", {})
    return "not ordered by waits" not in counts and "circular wait" not in counts
