"""``hocket network show``; ``balance``, ``convert`` and ``discover`` are in files of their own."""

from typing import Any

import click

from hocket import _core
from hocket._core import Bounds, Network
from hocket.cli._shared.commands import command, group, option
from hocket.cli._shared.options import (
    component_line,
    defaults_options,
    load_components,
    load_network,
    loud,
    output_option,
    say_rates,
    tell_network,
)
from hocket.cli._shared.request import bytes_option, parse_size
from hocket.cli._shared.work import (
    as_columns,
    check_writable,
    json_option,
    need_toml,
    tell,
    wants_json,
    with_spinner,
    write_files,
)
from hocket.cli.balance import balance
from hocket.cli.discover import discover
from hocket.demand.collectives import ALL_GATHER
from hocket.errors import UsageError
from hocket.network import Defaults, KnownNetwork
from hocket.network.chosen import chosen_hosts, cut
from hocket.network.neighbours import component_with
from hocket.network.source import shown
from hocket.network.writer import network_files
from hocket.planning.bounds import bounds_line, true_bounds
from hocket.system.text import counted
from hocket.units import format_bytes, format_rate, format_time


@command(
    "hocket network convert /etc/slurm/topology.conf --rate 100Gbit -o cluster.toml",
    'hocket network convert cluster.toml --hosts "$SLURM_JOB_NODELIST" -o job.toml',
)
@click.argument("source", metavar="NETWORK")
@output_option("FILE.toml", "File to write.  [default: standard output]")
@option("--hosts HOSTS", "Keep only these hosts and the network between them: n[0-15], @FILE (a hostfile), or - for "
        "standard input.")  # fmt: skip
@defaults_options
@json_option
def convert(source: str, output: str | None, hosts: str | None, defaults: Defaults) -> None:
    """Write a network as Hocket's TOML, corrected by options or cut to the hosts of a job.

    The file describes the same network: hosts in the same order, the same rates and routes."""
    need_toml(output)
    if output is None and wants_json():
        raise UsageError("--json and the network would both go to standard output", remedy="add -o FILE.toml")
    check_writable(output, in_place=True)
    if hosts is None:
        known = load_network(source, defaults)
        network = known.network
    else:
        known, names = _with_hosts(load_components(source, defaults), hosts)
        network = with_spinner("cutting", lambda: cut(known.description, names).build())
    files = network_files(network, output or "network.toml", _comment(known, hosts))
    if output is None:
        if len(files) > 1:
            raise UsageError(f"this network takes {len(files)} files", remedy="name the first: -o FILE.toml")
        click.echo("".join(files.values()), nl=False)
        say_rates(known)
        return
    write_files(files)
    tell_network(known, network, files, source, source, ranks=network.ranks)


def _with_hosts(components: list[KnownNetwork], hosts: str) -> tuple[KnownNetwork, list[str]]:
    """The component with all of the hosts, and their names."""
    every = [known.network.name_of(host) for known in components for host in known.network.hosts]
    names = chosen_hosts(hosts, every)
    found = component_with([known.description for known in components], names)
    return next(known for known in components if known.description is found), names


def _comment(known: KnownNetwork, hosts: str | None) -> str:
    """Comment with the file's source and the provenance of its rates, so that assumptions stay visible."""
    of = f"From {shown(known.description.source, 200)}" + (f", hosts {shown(hosts, 200)}" if hosts else "")
    return f"{of}\n{known.text}"


MOST_LINES = 40  # of a table; --json has everything
MOST_NAMES = 16


@group(
    "hocket network show cluster.toml",
    "hocket network convert /etc/slurm/topology.conf --rate 100Gbit -o cluster.toml",
)
def network() -> None:
    """Show, convert, discover or balance a network."""


network.add_command(balance)
network.add_command(convert)
network.add_command(discover)


@network.command(
    examples=("hocket network show cluster.toml", "hocket network show tree:4x8x32 --bytes 64KiB")
)
@click.argument("source", metavar="NETWORK")
@bytes_option()
@defaults_options
@json_option
def show(source: str, size: str, defaults: Defaults) -> None:
    """Show hosts in rank order, switches, links, and the bounds of an all-to-all and an all-gather.

    NETWORK is a file or a short form such as star:24, chain:8,8,8,8 or tree:4x8x32."""
    bytes = parse_size(size)
    components = load_components(source, defaults)
    objects: list[dict[str, Any]] = []
    lines: list[str] = []

    def bounded() -> list[tuple[Any, Any, Any]]:
        """The bounds of an all-to-all and an all-gather on each component."""
        return [
            (
                _core.lower_bounds(net, _core.Demand(net.ranks, bytes)),
                _core.lower_bounds(net, _core.Demand(net.ranks, bytes, ALL_GATHER)),
                true_bounds(net, _core.Demand(net.ranks, bytes)),
            )
            for net in (known.network for known in components)
        ]

    found = with_spinner("counting loads", bounded)
    for number, (known, (bounds, gather, true)) in enumerate(zip(components, found, strict=True)):
        shown = _shown(known.network, bounds, gather, true, bytes)
        objects.append({**shown, **known.rates_as_json()})
        if len(components) > 1:
            lines.append(("\n" if number else "") + component_line(components, number))
        lines += [_as_text(source, known.network, shown), *loud(known, every=True)]
    several = objects[0] if len(objects) == 1 else {"components": objects}
    tell({"source": source, **several}, lambda: lines)


def _shown(
    net: Network, bounds: Bounds, gather: Bounds, true: dict[str, Any] | None, bytes: int
) -> dict[str, Any]:
    """A network and the bounds of an all-to-all and an all-gather, for ``--json``."""
    names, ranks, load = net.names, net.ranks_per_node, bounds.load
    seconds = [load[c] * bytes / net.rate(c) for c in range(net.channels)]
    most = max(seconds, default=0.0)
    links: list[dict[str, Any]] = []
    for index, (a, b) in enumerate(net.links):
        c = 2 * index
        links.append({
            "a": names[a], "b": names[b], "rate": net.rate(c), "latency": net.latency(c),
            "load": [load[c], load[c + 1]], "seconds": max(seconds[c], seconds[c + 1]),
        })  # fmt: skip
    if not links:  # explicit routes: only channels are known
        links = [
            {"channel": net.channel_name(c), "rate": net.rate(c), "latency": net.latency(c),
             "load": [load[c]], "seconds": seconds[c]}
            for c in range(net.channels)
        ]  # fmt: skip
    demand = _core.Demand(net.ranks, bytes, ALL_GATHER)
    return {
        "shape": net.shape.name,
        "hosts": [names[host] for host in net.hosts],
        "ranks": net.ranks,
        "ranks_per_host": [ranks[host] for host in net.hosts],
        "switches": [name for name, count in zip(names, ranks, strict=True) if count == 0],
        "links": links,
        # Every channel that is as slow as the slowest, not only the one that the core names.
        "bottlenecks": [
            net.channel_name(c) for c in range(net.channels) if most > 0 and seconds[c] >= most * (1 - 1e-9)
        ],
        "bytes": bytes,
        "messages": net.ranks * (net.ranks - 1),
        "bound_phases": bounds.phases,
        "bound_seconds": bounds.seconds,
        "bounds": true,
        "all_gather": {
            "bound_phases": gather.least_phases(net, demand, _core.PortModel.all_port),
            "bound_seconds": gather.seconds,
        },
    }


def _as_text(source: str, net: Network, shown: dict[str, Any]) -> str:
    busiest = sorted(shown["links"], key=lambda link: -link["seconds"])[:MOST_LINES]
    rows = [
        [
            link["channel"] if "channel" in link else f"{link['a']} - {link['b']}",
            format_rate(link["rate"]), format_time(link["latency"]),
            " / ".join(str(load) for load in link["load"]), format_time(link["seconds"], 4),
        ]
        for link in busiest
    ]  # fmt: skip
    left_out = len(shown["links"]) - len(busiest)
    size, gather = format_bytes(shown["bytes"]), shown["all_gather"]
    lines = [
        f"{source}: a {shown['shape']} of {counted(len(shown['hosts']), 'host')}, "
        f"{counted(len(shown['switches']), 'switch', 'switches')}, {counted(net.ranks, 'rank')}",
        f"hosts     {_some(shown['hosts'])}",
        f"switches  {_some(shown['switches'])}",
        *([f"routes    {routes}"] if (routes := _routes(net)) else []),
        "",
        as_columns(["link", "rate", "latency", "messages there / back", "busy"], rows)
        if rows
        else "no links",
        *([f"and {left_out} less loaded links, see --json"] if left_out else []),
        "",
        f"all-to-all of {size} per message: by these routes at least {shown['bound_phases']} "
        f"phases and {format_time(shown['bound_seconds'], 4)}",
        *([f"phases      {bounds_line(shown['bounds'])}"] if shown["bounds"] else []),
        f"bottleneck  {_some(shown['bottlenecks'])}",
        f"all-gather of {size} per rank: by any routes at least {gather['bound_phases']} "
        f"phases and {format_time(gather['bound_seconds'], 4)}",
    ]
    return "\n".join(lines)


def _routes(net: Network) -> str:
    """Routing of the network as text; empty if its shape leaves no choice."""
    if net.shape == _core.Shape.torus:
        rules = [rule for rule in ("parity", "up") if net.ties == _core.Network.ties_by_rule(rule, net.sides)]
        ties = f"ties {rules[0]}" if rules else "ties by table"
        return f"dimension by dimension, {ties if any(net.ties) else 'no ties'}"
    if net.next_hops:
        return f"{len(net.next_hops)} forwarding entries"
    return "assumed: 'hocket network balance -o' writes tables" if net.shape == _core.Shape.graph else ""


def _some(names: list[str]) -> str:
    if len(names) <= MOST_NAMES:
        return ", ".join(names) or "none"
    return ", ".join(names[: MOST_NAMES - 1]) + f", … {names[-1]} ({len(names)} in all)"
