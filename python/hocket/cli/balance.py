"""``hocket network balance``."""

from typing import Any

import click

from hocket import _core
from hocket._core import Bounds, Network
from hocket.cli._shared.commands import command
from hocket.cli._shared.options import defaults_options, load_network, loud, output_option
from hocket.cli._shared.work import (
    as_columns,
    check_writable,
    json_option,
    need_toml,
    tell,
    with_spinner,
    write_files,
)
from hocket.demand.collectives import ALL_TO_ALL
from hocket.errors import UsageError
from hocket.network import Defaults
from hocket.network.families import dimension_of
from hocket.network.writer import network_files

MOST_CHANNELS = 10  # of a graph; --json has all that change


@command("hocket network balance torus:8x8/up -o even.toml", "hocket network balance cluster.toml --json")
@click.argument("source", metavar="NETWORK")
@output_option("FILE.toml", "Write the network with these routes, as Hocket's TOML.")
@defaults_options
@json_option
def balance(source: str, output: str | None, defaults: Defaults) -> None:
    """Propose routes that load the links more evenly.

    A torus gets other ties: the direction of messages that go half-way round. A graph gets other next hops among the
    shortest ones. The routers are not changed."""
    need_toml(output)
    check_writable(output, in_place=True)
    known = load_network(source, defaults)
    before = known.network
    if before.shape.name not in ("torus", "graph"):
        why = {"tree": "there is one path between two hosts", "routed": "the routes are given one by one"}
        raise UsageError(
            f"{source}: the routes of a {before.shape.name} cannot be chosen: "
            f"{why.get(before.shape.name, 'dimension by dimension there is one shortest')}",
            remedy="give a torus or a graph",
        )
    wanted = _core.Demand(before.ranks, 1, ALL_TO_ALL)
    after = with_spinner("balancing", lambda: before.balanced(wanted))
    report = _report(before, after, _core.lower_bounds(before, wanted), _core.lower_bounds(after, wanted))
    files = {}
    if output is not None:
        comment = (
            f"{source}, routes balanced for {ALL_TO_ALL}: bound {report['after']['bound_phases']} phases"
        )
        files = network_files(after, output, comment)
        write_files(files)
    document = {
        "source": source,
        "demand": ALL_TO_ALL,
        **report,
        "files": list(files),
        **known.rates_as_json(),
    }
    tell(
        document,
        lambda: [_as_text(source, before, after, report), *loud(known), *(f"wrote {path}" for path in files)],
    )


def _report(before: Network, after: Network, old: Bounds, new: Bounds) -> dict[str, Any]:
    channels = [
        {"channel": before.channel_name(c), "before": old.load[c], "after": new.load[c]}
        for c in sorted(range(before.channels), key=lambda c: (-old.load[c] / before.rate(c), c))
    ]
    changed = before.ties != after.ties or before.next_hops != after.next_hops
    return {
        "shape": before.shape.name,
        "ranks": before.ranks,
        "changed": changed,
        "before": _summary(old),
        "after": _summary(new),
        "dimensions": _dimensions(before, old, new) if before.sides else [],
        "channels": [c for c in channels if c["before"] != c["after"]] if not before.sides else [],
        "ties": after.ties,
        "entries": len(after.next_hops),
    }


def _summary(bounds: Bounds) -> dict[str, Any]:
    return {
        "max_load": max(bounds.load, default=0),
        "mean_load": sum(bounds.load) / len(bounds.load) if bounds.load else 0.0,
        "bound_phases": bounds.phases,
    }


def _dimensions(network: Network, old: Bounds, new: Bounds) -> list[dict[str, Any]]:
    """Loads of the channels of every dimension."""
    sides = network.sides
    of: list[list[int]] = [[] for _ in sides]
    for index, link in enumerate(network.links):
        of[dimension_of(link, sides)] += [2 * index, 2 * index + 1]
    return [
        {
            "side": side,
            "channels": len(channels),
            "mean_load": sum(old.load[c] for c in channels) / len(channels) if channels else 0.0,
            "max_load_before": max((old.load[c] for c in channels), default=0),
            "max_load_after": max((new.load[c] for c in channels), default=0),
        }
        for side, channels in zip(sides, of, strict=True)
    ]


def _as_text(source: str, before: Network, after: Network, report: dict[str, Any]) -> str:
    lines = [
        f"{source}: a {before.shape.name} of {before.ranks} ranks; messages of an all-to-all per channel"
    ]
    if before.sides:
        rows = [
            [
                number, d["side"], d["channels"], round(d["mean_load"], 2), d["max_load_before"],
                d["max_load_after"],
            ]
            for number, d in enumerate(report["dimensions"], 1)
        ]  # fmt: skip
        lines += [as_columns(["dimension", "side", "channels", "mean", "most", "balanced"], rows)]
    elif report["channels"]:
        shown = report["channels"][:MOST_CHANNELS]
        rows = [[c["channel"], c["before"], c["after"]] for c in shown]
        lines += [as_columns(["channel", "load", "balanced"], rows)]
        if len(report["channels"]) > len(shown):
            lines.append(f"and {len(report['channels']) - len(shown)} other channels, see --json")
    old, new = report["before"], report["after"]
    lines.append(f"most    {old['max_load']} -> {new['max_load']}, mean {new['mean_load']:.2f}")
    lines.append(f"bound   {old['bound_phases']} -> {new['bound_phases']} phases")
    if not report["changed"]:
        lines.append("routes  as they are: nothing more even was found")
    elif before.sides:
        which = [i for i, (x, y) in enumerate(zip(before.ties, after.ties, strict=True), 1) if x != y]
        lines.append(f"routes  other ties in dimension {', '.join(map(str, which))}")
    else:
        lines.append(f"routes  {report['entries']} forwarding entries")
    return "\n".join(lines)
