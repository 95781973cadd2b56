"""Irregular demands on the command line: how they are read, and how their figures are printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hocket.cli._shared.usage import Decorator, Whole, named
from hocket.cli._shared.work import with_spinner
from hocket.units import format_time, format_total

if TYPE_CHECKING:
    from hocket._core import Network
    from hocket.demand import Traffic
    from hocket.planning.figures import Figures
    from hocket.planning.plan import PlannedExchange


def demand_option(required: bool) -> Decorator:
    return click.option(
        "--demand", "traffic", required=required, metavar="FILE[:CALL]",
        help="Traffic matrix: .mtx, .npy, CSV, or a call of recorded traffic.",
    )  # fmt: skip


seed_option = click.option(
    "--seed", default=1, show_default=True, type=Whole(0, 2**63 - 1), metavar="K",
    help="Random seed. The same seed gives the same schedule.",
)  # fmt: skip


def traffic_of(network: Network, path: str, quiet: bool) -> Traffic:
    """Read the traffic in the file ``path``. Raises DemandError if its number of ranks is not the
    network's."""
    from hocket.demand import read_traffic

    traffic = with_spinner(f"reading {path}", lambda: read_traffic(path), quiet)
    traffic.check_ranks(network.ranks, path)
    return traffic


def plan_traffic(
    network: Network,
    path: str,
    algorithm: str,
    window: int | None = None,
    alpha: str | None = None,
    seed: int = 1,
    quiet: bool = False,
) -> PlannedExchange:
    """An irregular exchange of what the file ``path`` says; tells what of it is no message."""
    from hocket.planning.plan import plan_demand
    from hocket.units import parse_time

    seconds = named("--alpha", parse_time, alpha or "0")
    traffic = traffic_of(network, path, quiet)
    planned = with_spinner(
        f"planning {network.ranks} ranks",
        lambda: plan_demand(network, traffic.demand(), algorithm, window, seconds, seed),
        quiet,
    )
    if traffic.kept_bytes and not quiet:
        click.echo(
            f"{format_total(traffic.kept_bytes)} need no message: sender and receiver are the same rank",
            err=True,
        )
    return planned


def time_in_turn(figures: Figures) -> str:
    """The time of the phases one after the other, beside its bound; "" unless irregular."""
    if (irregular := figures.irregular) is None:
        return ""
    taken, least = format_time(irregular.lockstep_seconds, 4), format_time(irregular.load_bound_seconds, 4)
    return f"{taken}, bound {least}, ratio {figures.ratio:.3f}"
