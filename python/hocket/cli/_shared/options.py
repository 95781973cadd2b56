"""Options that several commands share, and what they are turned into."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast

import click

from hocket import _core
from hocket.cli._shared.sizes import DEFAULT_BYTES, parse_size
from hocket.cli._shared.usage import Decorator, Whole, named, options
from hocket.cli._shared.work import read_whole, with_spinner
from hocket.demand.collectives import COLLECTIVES, find, scheduled_as
from hocket.errors import PlanError, UsageError
from hocket.units import format_time

if TYPE_CHECKING:
    from hocket._core import Demand, Network, Plan
    from hocket.network import Defaults, KnownNetwork
    from hocket.planning.plan import PlannedExchange

F = TypeVar("F", bound=Callable[..., Any])

SITE_NETWORK: Final = Path("/etc/hocket/network.toml")  # written by an administrator for all users

MIN_SHARE: Final = 0.001  # of an oversubscription
MAX_SHARE: Final = 1000.0
_SHARE: Final = re.compile(r"\s*(\d{1,18}\.?\d{0,18})\s*", re.ASCII)


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def defaults_options(function: F) -> F:
    """Add the options for what network files leave open, as one argument ``defaults``."""

    @functools.wraps(function)
    def with_defaults(
        *args: Any,
        rate: float | None,
        latency: float | None,
        ranks_per_host: int | None,
        uplink_rate: float | None,
        oversubscription: tuple[float, ...] | None,
        forwarding: str | None,
        lids: Literal["base", "chosen"],
        topology: str | None,
        **others: Any,
    ) -> Any:
        from hocket.network import Defaults

        usual = Defaults()
        defaults = Defaults(
            usual.rate if rate is None else rate,
            usual.latency if latency is None else latency,
            usual.ranks if ranks_per_host is None else ranks_per_host,
            uplink_rate,
            usual.oversubscription if oversubscription is None else oversubscription,
            forwarding,
            latency is not None,
            lids=lids,
            topology=topology,
        )
        return function(*args, defaults=defaults, **others)

    return cast(F, _defaults_options(with_defaults))


def _rate(_context: click.Context, option: click.Parameter, text: str | None) -> float | None:
    from hocket.units import parse_link_rate

    return None if text is None else named(option.opts[0], parse_link_rate, text)


def _latency(_context: click.Context, option: click.Parameter, text: str | None) -> float | None:
    from hocket.network.parts import MAX_LATENCY
    from hocket.units import parse_time

    if text is None:
        return None
    value = named(option.opts[0], parse_time, text)
    if value > MAX_LATENCY:
        raise UsageError(f"{option.opts[0]} {text} is too long for a link", remedy="give at most 10s")
    return value


def _oversubscription(
    _context: click.Context, option: click.Parameter, text: str | None
) -> tuple[float, ...] | None:
    if text is None or text.strip() == "auto":
        return None
    written = [_SHARE.fullmatch(share) for share in text.split(",")]
    shares = tuple(float(share[1]) for share in written if share)
    if not all(written) or len(shares) > 64 or not all(MIN_SHARE <= share <= MAX_SHARE for share in shares):
        raise UsageError(
            f"{option.opts[0]} {text[:60]} is not an oversubscription",
            remedy=f"give auto, or a number from {MIN_SHARE:g} to {MAX_SHARE:g} for each level from the "
            "leaves up, such as 1, 2 or 2,4",
        )
    return shares


uplink_options = options(
    click.option(
        "--oversubscription", metavar="K[,K…]", callback=_oversubscription,
        help="Downlink-to-uplink bandwidth ratio per level, leaves first, such as 2 or 2,4. auto: as stated in the "
        "file, as measured, or assumed.  [default: auto]",
    ),
    click.option(
        "--uplink-rate", metavar="RATE", callback=_rate, help="Rate of each inter-switch link."
    ),
)  # fmt: skip
_defaults_options = options(
    click.option("--rate", metavar="RATE", callback=_rate, help="Rate of links that state none.  [default: 1Gbit]"),
    click.option(
        "--latency", metavar="TIME", callback=_latency, help="Latency of links that state none.  [default: 5us]"
    ),
    click.option(
        "--ranks-per-host",
        type=Whole(1, 65536),
        metavar="K",
        help="Ranks per host where the network states none.  [default: 1]",
    ),
    uplink_options,
    click.option(
        "--forwarding", metavar="FILE",
        help="Forwarding tables with the routes: output of InfiniBand's dump_fts, or lines at,to,next.",
    ),
    click.option(
        "--lids", type=click.Choice(["base", "chosen"]), default="base", show_default=True,
        help="Lid of a destination with several (lmc): its base lid, or one chosen for each pair of hosts.",
    ),
    click.option(
        "--topology", metavar="NAME",
        help="Topology of a file with several, Slurm's topology.yaml.  [default: the file's default]",
    ),
)  # fmt: skip


def _site_network() -> str | None:
    return str(SITE_NETWORK) if SITE_NETWORK.is_file() else None


def network_option(required: bool = True, name: str = "source", about: str = "Network") -> Decorator:
    """Option for the network: by default that of HOCKET_NETWORK, else that of the site."""

    def found(context: click.Context, _option: click.Parameter, network: str | None) -> str | None:
        if network is None and required and not context.resilient_parsing:
            raise UsageError(
                "--network NETWORK is missing",
                remedy=f"give it, set HOCKET_NETWORK or write {SITE_NETWORK}; see '{context.command_path} --help'",
            )
        return network

    return click.option(
        "--network", name, metavar="NETWORK", envvar="HOCKET_NETWORK", default=_site_network, callback=found,
        help=f"{about}: a file, - for standard input, or a short form such as star:24 or tree:4x8x32.  "
        f"[default: HOCKET_NETWORK, then {SITE_NETWORK}]",
    )  # fmt: skip


bytes_option = click.option(
    "--bytes", "size", default=DEFAULT_BYTES, show_default=True, metavar="SIZE",
    help="Size of one message, such as 4096, 64KiB or 1MB.",
)  # fmt: skip


def size_option(collective: _core.Collective) -> Decorator:
    """Option for the size of a message, or of a rank's contribution; unset by default."""
    if not collective.forwards:
        return bytes_option
    return click.option(
        "--bytes", "size", default=None, metavar="SIZE",
        help=f"The SIZE of the description above, such as 4096, 64KiB or 1MB.  [default: {DEFAULT_BYTES}]",
    )  # fmt: skip


def alpha_option(*collectives: _core.Collective) -> Decorator:
    """Option for the per-message cost. Its default is the collective's: what ranks assume when they run a plan."""
    usual = sorted({each.usual_alpha for each in collectives})
    shown = " or ".join(format_time(each) for each in usual)
    return click.option(
        "--alpha", metavar="TIME",
        help="Per-message cost at the sender. With a higher one algorithms send fewer messages and more bytes."
        f"  [default: {shown}{' with a root' if len(usual) > 1 else ''}]",
    )  # fmt: skip


root_option = click.option(
    "--root", type=Whole(0), default=0, show_default=True, metavar="R",
    help="Rank of the root.",
)  # fmt: skip

calibration_option = click.option(
    "--calibration", metavar="FILE",
    help="Result of 'hocket calibrate network' to predict by.  [default: the one kept for the network]",
)  # fmt: skip


def _algorithm_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    # 'hocket plan all-gather' knows which collective it is about.
    collective = COLLECTIVES.get(ctx.info_name or "")
    names = [
        s.name for s in _core.all_algorithms() if collective is None or s.pattern == scheduled_as(collective)
    ]
    return [name for name in dict.fromkeys(["auto", *names]) if name.startswith(incomplete)]


algorithm_option = click.option(
    "--algorithm", default="auto", show_default=True, metavar="NAME", shell_complete=_algorithm_names,
    help="Algorithm: auto, or one that 'hocket info' lists.",
)  # fmt: skip


def window_option(default: int) -> Decorator:
    return click.option(
        "--window", type=Whole(1, 1024), metavar="K",
        help=f"Messages in flight on a channel.  [default: {default}]",
    )  # fmt: skip


def flow_option(default: str | None, help: str) -> Decorator:
    return click.option("--flow", default=default, show_default=default is not None,
                        metavar="token|barrier|window:K|free", help=help)  # fmt: skip


def load_network(
    source: str, defaults: Defaults | None = None, quiet: bool = False, hosts: Collection[str] = ()
) -> KnownNetwork:
    """Load a network with the provenance of its rates; of several components the one with all ``hosts``.
    Prints notes on kept measurements that cannot be used."""
    from hocket.network import read_known_network

    known = with_spinner(f"reading {source}", lambda: read_known_network(source, defaults, hosts), quiet)
    tell_notes(known)
    return known


def load_components(source: str, defaults: Defaults, quiet: bool) -> list[KnownNetwork]:
    """Load every connected component of a network; most networks have one."""
    from hocket.network import read_components

    components = with_spinner(f"reading {source}", lambda: read_components(source, defaults), quiet)
    for known in components:
        tell_notes(known)
    return components


def tell_notes(known: KnownNetwork) -> None:
    """Print on standard error what the reader has left out or chosen."""
    for note in (*known.description.notes, *known.warnings):
        click.echo(f"hocket: {note}", err=True)


def component_line(components: Sequence[KnownNetwork], number: int) -> str:
    """Heading of a component, for networks with several."""
    network = components[number].network
    first, last = network.name_of(network.hosts[0]), network.name_of(network.hosts[-1])
    names = first if first == last else f"{first} to {last}"
    hosts = "1 host" if len(network.hosts) == 1 else f"{len(network.hosts)} hosts"
    text = f"component {number + 1} of {len(components)}: {hosts}, {names}; no link leads to the others"
    return click.style(text, bold=True)


def loud(known: KnownNetwork, every: bool = False) -> str:
    """Lines about assumed or measured rates, which users should not miss; empty if the network states its
    rates, unless ``every`` line is wanted."""
    lines = []
    for rates in (known.host_rates, known.uplinks):
        if rates.provenance in ("assumed", "measured"):
            lines.append(click.style(rates.text, fg="yellow", bold=rates.assumed))
        elif every:
            lines.append(rates.text)
    return "\n".join(lines)


def load_plan(path: str, quiet: bool) -> Plan:
    """A plan file, all of it checked."""
    data = read_whole(path, "plan")
    try:
        return with_spinner(f"reading {path}", lambda: _core.Plan.decode(data), quiet)
    except _core.InputError as problem:
        raise PlanError(f"{path}: {problem}", remedy="make it again with 'hocket plan'") from None


def equal_demand(
    name: str, network: Network, size: str | None, contributions: str | None = None, root: int = 0
) -> Demand:
    """Demand of a collective with SIZE bytes per message or rank, or with the contributions in a file. Raises
    UsageError."""
    from hocket.cli._shared.contributions import read_contributions

    if size is not None and contributions is not None:
        raise UsageError("--bytes and --contributions both say what a rank contributes",
                         remedy="give one of them")  # fmt: skip
    entry = find(name)
    if contributions is None:
        bytes = parse_size(size or DEFAULT_BYTES)
        return entry.demand(network.ranks, bytes, root)
    sizes = read_contributions(contributions, network.ranks)
    return _core.Demand(network.ranks, max(sizes, default=0), entry.pattern, contributions=list(sizes))


def plan_equal(
    name: str,
    network: Network,
    size: str | None,
    algorithm: str,
    window: int | None = None,
    quiet: bool = False,
    *,
    alpha: str | None = None,
    root: int = 0,
    contributions: str | None = None,
) -> PlannedExchange:
    """A collective of SIZE per message or rank, or of what the file of contributions says."""
    from hocket.cli._shared.contributions import read_contributions
    from hocket.planning.plan import plan_collective
    from hocket.units import parse_time

    if root >= network.ranks:
        raise UsageError(
            f"--root {root}: the network has ranks 0 to {network.ranks - 1}", remedy="give one of these"
        )
    if size is not None and contributions is not None:
        raise UsageError("--bytes and --contributions both say what a rank contributes",
                         remedy="give one of them")  # fmt: skip
    seconds = None if alpha is None else named("--alpha", parse_time, alpha)
    bytes = parse_size(size or DEFAULT_BYTES)
    sizes = read_contributions(contributions, network.ranks) if contributions is not None else None
    return with_spinner(
        f"planning {network.ranks} ranks",
        lambda: plan_collective(
            name, network, bytes, algorithm, window, seconds, root=root, contributions=sizes
        ),
        quiet,
    )
