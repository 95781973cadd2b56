"""``hocket network convert``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hocket.cli._shared.commands import Command
from hocket.cli._shared.options import defaults_options, load_components, load_network, loud, output_option
from hocket.cli._shared.work import (
    check_writable,
    json_option,
    need_toml,
    tell,
    wants_json,
    with_spinner,
    write_files,
)
from hocket.errors import UsageError

if TYPE_CHECKING:
    from hocket._core import Network
    from hocket.network import Defaults, KnownNetwork


@click.command(
    cls=Command,
    examples=(
        "hocket network convert /etc/slurm/topology.conf --rate 100Gbit -o cluster.toml",
        'hocket network convert cluster.toml --hosts "$SLURM_JOB_NODELIST" -o job.toml',
    ),
)
@click.argument("source", metavar="NETWORK")
@output_option("FILE.toml", "File to write.  [default: standard output]")
@click.option(
    "--hosts",
    metavar="HOSTS",
    help="Keep only these hosts and the network between them: n[0-15], @FILE (a hostfile), or - for standard input.",
)
@defaults_options
@json_option
def convert(source: str, output: str | None, hosts: str | None, defaults: Defaults) -> None:
    """Write a network as Hocket's TOML, corrected by options or cut to the hosts of a job.

    The file describes the same network: hosts in the same order, the same rates and routes.
    """
    from hocket.network.cut import cut
    from hocket.network.writer import network_files

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
        if line := loud(known):
            click.echo(line, err=True)
        return
    write_files(files)
    _report(source, known, network, list(files))


def _with_hosts(components: list[KnownNetwork], hosts: str) -> tuple[KnownNetwork, list[str]]:
    """The component with all of the hosts, and their names."""
    from hocket.network.chosen import chosen_hosts
    from hocket.network.components import component_with

    every = [known.network.name_of(host) for known in components for host in known.network.hosts]
    names = chosen_hosts(hosts, every)
    found = component_with([known.description for known in components], names)
    return next(known for known in components if known.description is found), names


def _comment(known: KnownNetwork, hosts: str | None) -> str:
    """Comment with the file's source and the provenance of its rates, so that assumptions stay visible."""
    from hocket.network.source import shown

    of = f"From {shown(known.description.source, 200)}" + (f", hosts {shown(hosts, 200)}" if hosts else "")
    return f"{of}\n{known.text}"


def _report(source: str, known: KnownNetwork, network: Network, files: list[str]) -> None:
    hosts = len(network.hosts)
    switches = network.nodes - hosts
    report = {"source": source, "shape": network.shape.name, "hosts": hosts, "switches": switches}
    report |= {"links": len(network.links), "ranks": network.ranks, "files": files}
    tell(
        {**report, **known.rates_as_json()},
        lambda: [
            f"{source}: a {network.shape.name} of {hosts} hosts, {switches} switches, {len(network.links)} links",
            *filter(None, [loud(known)]),
            *(f"wrote {path}" for path in files),
        ],
    )
