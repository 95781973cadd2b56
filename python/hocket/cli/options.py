"""Options that several commands share, and what they are turned into."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from hocket.cli.work import read_whole, with_spinner
from hocket.errors import PlanError, UsageError

if TYPE_CHECKING:
    from hocket._core import Network, Plan
    from hocket.planning import PlannedExchange

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_BYTES = "64KiB"
MOST_BYTES: Final = 2**50
ALL_TO_ALL: Final = "all-to-all"
ALL_GATHER: Final = "all-gather"
IRREGULAR: Final = "irregular"


class Number(click.FloatRange):
    """A number within limits: neither infinite nor NaN, which no comparison refuses."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{number} is not finite", param, ctx)
        return number


def json_option(function: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(function)


def defaults_options(function: F) -> F:
    """What files leave open: Slurm's know no rates."""
    for option in (
        click.option(
            "--ranks-per-host",
            type=click.IntRange(1, 65536),
            metavar="K",
            help="Ranks per host where the network does not say. [1]",
        ),
        click.option("--latency", metavar="TIME", help="Latency of links that have none. [5us]"),
        click.option("--rate", metavar="RATE", help="Rate of links that have none. [1Gbit]"),
    ):
        function = option(function)
    return function


def network_option(required: bool = True) -> Callable[[F], F]:
    return click.option(
        "--network", "source", required=required, metavar="NETWORK",
        help="A network file, or a short form such as star:24 or tree:4x8x32.",
    )  # fmt: skip


def bytes_option(function: F) -> F:
    return click.option(
        "--bytes", "size", default=DEFAULT_BYTES, show_default=True, metavar="SIZE",
        help="Size of one message, e.g. 4096, 64KiB or 1MB.",
    )(function)  # fmt: skip


def gather_bytes_option(function: F) -> F:
    return click.option(
        "--bytes", "size", default=None, metavar="SIZE",
        help=f"What each rank contributes, e.g. 4096, 64KiB or 1MB.  [default: {DEFAULT_BYTES}]",
    )(function)  # fmt: skip


def startup_option(help: str) -> Callable[[F], F]:
    return click.option("--startup", default="0", metavar="TIME", help=help)


def _scheduler_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from hocket import _core

    # 'hocket plan all-gather' and 'hocket generate all-gather' know which pattern they are about.
    pattern = ctx.info_name if ctx.info_name in (ALL_TO_ALL, ALL_GATHER, IRREGULAR) else None
    names = [s.name for s in _core.schedulers() if pattern in (None, s.pattern)]
    return [name for name in dict.fromkeys(["auto", *names]) if name.startswith(incomplete)]


def scheduler_option(function: F) -> F:
    return click.option(
        "--scheduler", default="auto", show_default=True, metavar="NAME", shell_complete=_scheduler_names,
        help="auto, or one of 'hocket schedulers'.",
    )(function)  # fmt: skip


def window_option(function: F) -> F:
    return click.option(
        "--window", default=1, show_default=True, type=click.IntRange(1, 1024), metavar="K",
        help="Messages in flight that tokens allow per channel.",
    )(function)  # fmt: skip


def flow_option(default: str | None, help: str) -> Callable[[F], F]:
    return click.option("--flow", default=default, show_default=default is not None,
                        metavar="token|barrier|window:K|free", help=help)  # fmt: skip


def parse_size(size: str, least: int = 1) -> int:
    from hocket.units import parse_bytes

    value = parse_bytes(size)
    if not least <= value <= MOST_BYTES:
        problem = "nothing to send" if value < least else "more than any memory"
        raise UsageError(f"--bytes {size} is {problem}",
                         remedy=f"give a size between {least} and 1 PiB")  # fmt: skip
    return value


def load_network(
    source: str,
    rate: str | None = None,
    latency: str | None = None,
    ranks_per_host: int | None = None,
    quiet: bool = False,
) -> Network:
    from hocket.network import Defaults, read_network
    from hocket.units import parse_rate, parse_time

    defaults = Defaults()
    defaults = Defaults(
        parse_rate(rate) if rate is not None else defaults.rate,
        parse_time(latency) if latency is not None else defaults.latency,
        ranks_per_host if ranks_per_host is not None else defaults.ranks,
    )
    return with_spinner(f"reading {source}", lambda: read_network(source, defaults), quiet)


def load_plan(path: str, quiet: bool) -> Plan:
    """A plan file, all of it checked."""
    from hocket import _core

    data = read_whole(path, "plan")
    try:
        return with_spinner(f"reading {path}", lambda: _core.Plan.decode(data), quiet)
    except _core.InputError as problem:
        raise PlanError(f"{path}: {problem}", remedy="make it again with 'hocket plan'") from None


def plan_exchange(
    network: Network, size: str, scheduler: str, window: int = 1, quiet: bool = False
) -> PlannedExchange:
    from hocket.planning import plan_all_to_all

    bytes = parse_size(size)
    return with_spinner(
        f"planning {network.ranks} ranks", lambda: plan_all_to_all(network, bytes, scheduler, window), quiet
    )


def plan_gather(
    network: Network,
    size: str | None,
    scheduler: str,
    window: int = 1,
    contributions: str | None = None,
    startup: str = "0",
    quiet: bool = False,
) -> PlannedExchange:
    """An all-gather of SIZE per rank, or of what the file of contributions says."""
    from hocket.cli.contributions import read_contributions
    from hocket.planning import plan_all_gather
    from hocket.units import parse_time

    if size is not None and contributions is not None:
        raise UsageError("--bytes and --contributions both say what a rank contributes",
                         remedy="give one of them")  # fmt: skip
    seconds = parse_time(startup)
    bytes = parse_size(size or DEFAULT_BYTES, least=0)
    sizes = read_contributions(contributions, network.ranks) if contributions is not None else None
    return with_spinner(
        f"planning {network.ranks} ranks",
        lambda: plan_all_gather(network, bytes, scheduler, window, sizes, seconds),
        quiet,
    )
