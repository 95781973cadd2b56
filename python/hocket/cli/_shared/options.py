"""Options that several commands share, and what they are turned into: networks, plans, pictures."""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from hocket import _core
from hocket._core import Network, Plan
from hocket.cli._shared.commands import Choice, Decorator, Whole, gathered, named, option, options
from hocket.cli._shared.work import read_whole, tell, with_spinner
from hocket.errors import PlanError, UsageError
from hocket.network import Defaults, KnownNetwork, read_components, read_known_network
from hocket.network.parts import MAX_LATENCY
from hocket.system.text import counted
from hocket.units import parse_link_rate, parse_time

SITE_NETWORK: Final = Path("/etc/hocket/network.toml")  # written by an administrator for all users

MIN_SHARE: Final = 0.001  # of an oversubscription
MAX_SHARE: Final = 1000.0
_SHARE: Final = re.compile(r"\s*(\d{1,18}\.?\d{0,18})\s*", re.ASCII)


def _defaults(*, latency: float | None, ranks_per_host: int | None, **others: Any) -> Defaults:
    said = {"latency": latency, "ranks": ranks_per_host, **others}
    known = {name: value for name, value in said.items() if value is not None}
    return Defaults(latency_given=latency is not None, **known)


def _rate(_context: click.Context, option: click.Parameter, text: str | None) -> float | None:
    return None if text is None else named(option.opts[0], parse_link_rate, text)


def _latency(_context: click.Context, option: click.Parameter, text: str | None) -> float | None:
    if text is None:
        return None
    if (value := named(option.opts[0], parse_time, text)) > MAX_LATENCY:
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
    option("--oversubscription K[,K…]",
           "Downlink-to-uplink bandwidth ratio per level, leaves first, such as 2 or 2,4. auto: as stated in the "
           "file, as measured, or assumed.  [default: auto]", callback=_oversubscription),
    option("--uplink-rate RATE", "Rate of each inter-switch link.", callback=_rate),
)  # fmt: skip
# Options for what network files leave open, as one argument ``defaults``.
defaults_options = gathered(
    "defaults",
    _defaults,
    option("--rate RATE", "Rate of links that state none.  [default: 1Gbit]", callback=_rate),
    option("--latency TIME", "Latency of links that state none.  [default: 5us]", callback=_latency),
    option("--ranks-per-host K", "Ranks per host where the network states none.  [default: 1]", type=Whole(1, 65536)),
    uplink_options,
    option("--forwarding FILE",
           "Forwarding tables with the routes: output of InfiniBand's dump_fts, or lines at,to,next."),
    option("--lids", "Lid of a destination with several (lmc): its base lid, or one chosen for each pair of hosts.",
           type=Choice(["base", "chosen"]), default="base"),
    option("--topology NAME", "Topology of a file with several, Slurm's topology.yaml.  [default: the file's default]"),
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


def output_option(metavar: str, help: str, **more: Any) -> Decorator:
    return option(f"-o, --output {metavar}", help, **more)


def ranks_option(default: str = "", least: int = 1) -> Decorator:
    shown = f"  [default: {default}]" if default else ""
    return option("-n RANKS", f"Number of ranks to start.{shown}", "ranks", type=Whole(least))


def memory_option(help: str) -> Decorator:
    return option("--memory SIZE", help, "memory_size")


def flow_option(help: str, **more: Any) -> Decorator:
    return option("--flow token|barrier|window:K|free", help, **more)


calibration_option = option(
    "--calibration FILE",
    "Result of 'hocket calibrate network' to predict by.  [default: the one kept for the network]",
)


def load_network(source: str, defaults: Defaults | None = None, hosts: Collection[str] = ()) -> KnownNetwork:
    """Load a network with the provenance of its rates; of several components the one with all ``hosts``.
    Prints notes on kept measurements that cannot be used."""
    known = with_spinner(f"reading {source}", lambda: read_known_network(source, defaults, hosts))
    tell_notes(known)
    return known


def load_components(source: str, defaults: Defaults) -> list[KnownNetwork]:
    """Load every connected component of a network; most networks have one."""
    components = with_spinner(f"reading {source}", lambda: read_components(source, defaults))
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
    hosts = counted(len(network.hosts), "host")
    text = f"component {number + 1} of {len(components)}: {hosts}, {names}; no link leads to the others"
    return click.style(text, bold=True)


def loud(known: KnownNetwork, every: bool = False) -> list[str]:
    """Lines about assumed or measured rates, which users should not miss; none if the network states its
    rates, unless ``every`` line is wanted."""
    lines = []
    for rates in (known.host_rates, known.uplinks):
        if rates.provenance in ("assumed", "measured"):
            lines.append(click.style(rates.text, fg="yellow", bold=rates.assumed))
        elif every:
            lines.append(rates.text)
    return lines


def say_rates(known: KnownNetwork) -> None:
    """Prints these lines on standard error, where standard output is a program's."""
    for line in loud(known):
        click.echo(line, err=True)


def tell_network(
    known: KnownNetwork, network: Network, files: Collection[str], source: str, name: str, **more: int
) -> None:
    """Prints what was written of a network, which has the rates of ``known``. ``name``: of its ``source``, for people;
    ``more``: of the report."""
    hosts = len(network.hosts)
    switches, links, entries = network.nodes - hosts, len(network.links), more.get("forwarding_entries")
    report = {
        "source": source,
        "shape": network.shape.name,
        "hosts": hosts,
        "switches": switches,
        "links": links,
    }
    tell(
        {**report, **more, "files": list(files), **known.rates_as_json()},
        lambda: [
            f"{name}: a {network.shape.name} of {hosts} hosts, {switches} switches, {links} links"
            + (f", {entries} forwarding entries" if entries else ""),
            *loud(known),
            *(f"wrote {path}" for path in files),
        ],
    )


def load_plan(path: str) -> Plan:
    """A plan file, all of it checked."""
    data = read_whole(path, "plan")
    try:
        return with_spinner(f"reading {path}", lambda: _core.Plan.decode(data))
    except _core.InputError as problem:
        raise PlanError(f"{path}: {problem}", remedy="make it again with 'hocket plan'") from None


ENDINGS: Final = (".svg", ".png", ".pdf")


def plot_option(kinds: Mapping[str, str]) -> Decorator:
    """Option whose value is the pictures asked for, as tuples of kind and file. ``kinds``: what each shows."""

    def asked(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> Any:
        return tuple(_kind_and_file(text, kinds) for text in texts)

    def complete(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[str]:
        return [f"{kind}=" for kind in kinds if kind.startswith(incomplete)]

    shown = "; ".join(f"{kind}: {meaning}" for kind, meaning in kinds.items())
    return option("--plot KIND=FILE", f"Draw a picture, as .svg, .png or .pdf; may be given several times. {shown}.",
                  "plots", multiple=True, callback=asked, shell_complete=complete)  # fmt: skip


def _kind_and_file(text: str, kinds: Mapping[str, str]) -> tuple[str, str]:
    kind, equals, file = text.partition("=")
    if not equals or kind not in kinds or not file:
        raise UsageError(
            f"--plot {text!r} is not KIND=FILE",
            remedy=f"give {' or '.join(f'{each}=FILE' for each in kinds)}",
        )
    if Path(file).suffix.lower() not in ENDINGS:
        raise UsageError(f"--plot {text} has no known ending", remedy=f"use one of {', '.join(ENDINGS)}")
    return kind, file
