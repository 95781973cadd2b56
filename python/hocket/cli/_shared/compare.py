"""``hocket plan … --compare``: every algorithm that can serve, side by side."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from hocket.cli._shared.options import loud
from hocket.cli._shared.plan_output import headline
from hocket.cli._shared.usage import Decorator
from hocket.cli._shared.work import as_columns
from hocket.errors import UsageError
from hocket.planning.plan import AUTO, able_algorithms
from hocket.units import format_time

if TYPE_CHECKING:
    from hocket.network import KnownNetwork
    from hocket.planning.plan import PlannedExchange

COLUMNS = ("algorithm", "phases", "time", "/ bound", "contention-free")

compare_option: Decorator = click.option(
    "--compare",
    is_flag=True,
    help="Plan by each algorithm that can serve, and compare their predicted times.",
)


def check_compare(algorithm: str, **others: object) -> None:
    """Raises UsageError for options that ask for one schedule."""
    given = [name for name, value in others.items() if value is not None and value is not False]
    asked = [f"--{name.replace('_', '-')}" for name in given]
    if algorithm != AUTO:
        asked.append("--algorithm")
    if asked:
        raise UsageError(
            f"--compare plans by every algorithm, and {' and '.join(asked)} asks for one schedule",
            remedy=f"leave out --compare, or {' and '.join(asked)}",
        )


def tell_compared(plan: Callable[[str], PlannedExchange], known: KnownNetwork, as_json: bool) -> None:
    """Print what each algorithm reaches, the fastest first. ``plan``: the exchange by the algorithm of a name."""
    chosen = plan(AUTO)
    others = [name for name in able_algorithms(known.network, chosen.demand) if name != chosen.algorithm]
    planned = sorted([chosen, *map(plan, others)], key=lambda one: one.predicted_seconds)
    if as_json:
        reports = [one.report() for one in planned]
        click.echo(json.dumps({"chosen": chosen.algorithm, "algorithms": reports, **known.rates_as_json()}))
        return
    click.echo(f"{headline(chosen)}; bound {format_time(chosen.bound_seconds, 4)}")
    if line := loud(known):
        click.echo(line)
    rows = [
        [
            one.algorithm, one.schedule.phases, format_time(one.predicted_seconds, 4),
            f"{one.figures.time_ratio:.3f}", "yes" if one.certificate.contention_free else "no",
        ]
        for one in planned
    ]  # fmt: skip
    click.echo(as_columns(COLUMNS, rows))
    click.echo(f"auto takes '{chosen.algorithm}'")
