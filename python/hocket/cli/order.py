"""``hocket order``: the ranks of a job in a better order."""

import json
import os
from typing import Any

import click

from hocket.cli._shared.commands import Choice, command, given, option
from hocket.cli._shared.measured import MEASURE, measured_between
from hocket.cli._shared.options import (
    calibration_option,
    defaults_options,
    load_network,
    loud,
    network_option,
)
from hocket.cli._shared.request import bytes_option, parse_size
from hocket.cli._shared.work import (
    as_columns,
    check_writable,
    json_option,
    wants_json,
    with_spinner,
    write_atomically,
)
from hocket.errors import UsageError
from hocket.network import Defaults, KnownNetwork
from hocket.network.chosen import expand, listed_names, slurm_lists
from hocket.order import (
    DEFAULT_CALLS,
    JobHosts,
    Ordered,
    Wanted,
    listed_job,
    order_job,
    parse_wanted,
    slurm_job,
    whole_network,
)
from hocket.order.formats import FORMATS
from hocket.order.gains import Predicted, predictions
from hocket.order.job import gain_of, ring_over_bound
from hocket.planning.candidates import costs_of
from hocket.units import format_time


@command(
    "hocket order --network cluster.toml --slurm --format slurm -o hosts",
    "hocket order --network measure --hosts @hostfile --for all-reduce:ring --explain",
)
@network_option()
@option("--hosts LIST", "The job's hosts in their order: n[0-15],n20, @FILE or -.  [default: all]")
@option("--slurm", "Take the hosts of the Slurm job in which the command runs.")
@option("--for CALL[,CALL…]",
        "What the order is for: collectives, one of their algorithms (all-reduce:ring), or messages of a "
        "file (halo:FILE, trace:FILE, matrix:FILE).", "wanted", default=",".join(DEFAULT_CALLS))  # fmt: skip
@bytes_option()
@option("--format", "Program that will read the order.", "form", type=Choice(list(FORMATS)), default="plain")
@option("-o, --output FILE", "Write the order to FILE, and print its path instead.")
@option("--explain", "Say on standard error what each call gains, and why.")
@calibration_option
@defaults_options
@json_option
def order(
    source: str,
    hosts: str | None,
    slurm: bool,
    wanted: str,
    size: str,
    form: str,
    output: str | None,
    explain: bool,
    calibration: str | None,
    defaults: Defaults,
) -> None:
    """Print an order of a job's ranks that loads the links of NETWORK less in the MPI library's own calls.

    NCCL's rings gain as well. Nothing of Hocket has to be loaded. The given order stays if none is better."""
    if hosts is not None and slurm:
        raise UsageError("--hosts and --slurm both say what hosts the job has", remedy="give one of them")
    if slurm and form == "slurm" and len(slurm_lists(os.environ)) > 1:
        raise UsageError(
            "srun places the ranks of each group of a heterogeneous job by itself",
            remedy='order one group: --hosts "$SLURM_JOB_NODELIST_HET_GROUP_0"; or give another --format',
        )
    if output is not None:
        check_writable(output)
    if source == MEASURE:
        source = _measured(hosts, slurm)
    known = load_network(source, defaults)
    job = _job(known, hosts, slurm, defaults)
    calls = parse_wanted(wanted, job.network.ranks, parse_size(size))
    target = FORMATS[form]
    found = with_spinner(
        f"ordering {job.network.ranks} ranks", lambda: order_job(job, calls, whole_hosts=target.whole_hosts)
    )
    if target.missing:
        click.echo(
            f"hocket: note: {target.missing}, which reads --format {form}, is not on PATH here", err=True
        )
    if hint := target.hint(found):
        click.echo(f"hocket: note: {hint}", err=True)
    if explain or wants_json():
        told = _predicted(found, calls, known, calibration)
        report = _report(found, calls, form, told, known)
        if wants_json():
            click.echo(json.dumps(report))
            return
        _explain(report, found, told, known)
    if output is None:
        click.echo(target.text(found), nl=False)
        return
    write_atomically(output, [target.text(found)])
    click.echo(output)


def _measured(hosts: str | None, slurm: bool) -> str:
    """The measured network of the job's hosts."""
    if hosts is None and not slurm:
        raise UsageError(
            "--network measure: between which hosts is not said", remedy="give --hosts or --slurm"
        )
    if hosts is not None:
        names = [one.name for one in listed_names(hosts)]
    else:
        names = [name for listed, _ in slurm_lists(os.environ) for name in expand(listed.text, listed)]
    return measured_between(list(dict.fromkeys(names)))


def _job(known: KnownNetwork, hosts: str | None, slurm: bool, defaults: Defaults) -> JobHosts:
    ranks = defaults.ranks if given("ranks_per_host") else None
    if slurm:
        return slurm_job(known.network, os.environ, ranks)
    if hosts is not None:
        return listed_job(known.network, hosts, ranks)
    return whole_network(known.network, ranks)


def _predicted(
    found: Ordered, calls: list[Wanted], known: KnownNetwork, calibration: str | None
) -> list[Predicted]:
    costs = costs_of(found.job.network, calibration, known.description)
    return with_spinner("predicting", lambda: list(predictions(found, calls, costs)))


def _report(
    found: Ordered, calls: list[Wanted], form: str, told: list[Predicted], known: KnownNetwork
) -> dict[str, Any]:
    network = found.job.network
    return {
        "hosts": found.job.names,
        "ranks": network.ranks,
        "order": found.hosts,
        "changed": found.changed,
        "how": found.how,
        "gain": gain_of(network, found.given, found.place, calls),
        "ring_over_bound": {
            "before": ring_over_bound(network, found.given),
            "after": ring_over_bound(network, found.place),
        },
        "format": form,
        "text": FORMATS[form].text(found),
        "use": FORMATS[form].use,
        "calls": [one.as_json() for one in told],
        **known.rates_as_json(),
    }


def _explain(report: dict[str, Any], found: Ordered, told: list[Predicted], known: KnownNetwork) -> None:
    """The report for people."""
    lines = [f"{report['ranks']} ranks on {len(found.job.nodes)} hosts: {found.how}"]
    if found.changed:
        lines[0] += f"; {report['gain']:.3g} times as fast by link rates, the geometric mean of the calls"
    else:
        lines[0] += ", as no order is better"
    rows = [
        [
            f"{one.collective} {one.name}",
            format_time(one.before.seconds, 3),
            format_time(one.after.seconds, 3),
            "" if one.gain is None else f"{one.gain:.3g}",
            one.before.busiest,
            one.after.busiest,
            _hocket(one),
            one.by,
        ]
        for one in told
    ]
    head = ["call", "given", "ordered", "gain", "busiest: given", "ordered", "by Hocket", "predicted by"]
    lines += ["", as_columns(head, rows), ""]
    ring = report["ring_over_bound"]
    if ring["after"] is not None:
        lines.append(
            f"a step of a ring takes {ring['after']:.3g} times the bound of all orders, in the given one "
            f"{ring['before']:.3g}"
        )
    lines += [f"use it so: {report['use']}", *loud(known)]
    click.echo("\n".join(lines), err=True)


def _hocket(one: Predicted) -> str:
    before, after = one.before.hocket, one.after.hocket
    if after is None:
        return "-"
    if before == after or before is None:
        return format_time(after, 3)
    return f"{format_time(before, 3)}, {format_time(after, 3)}"
