"""``hocket network discover --measure``: bottlenecks measured by the ranks of a job."""

from __future__ import annotations

import json

import click

from hocket.cli._shared.measured import answer, measure_network, write_network
from hocket.cli._shared.work import check_writable


def discover_measured(
    ranks: int | None, mpi_name: str | None, hostfile: str | None, seconds: float, output: str, as_json: bool
) -> None:
    """Measure, tell, and write the network."""
    check_writable(output)
    found = measure_network(ranks, mpi_name, hostfile, seconds, as_json)
    if found is None:  # a rank that only measured
        return
    told = answer(found, as_json)
    write_network(found, output)
    if as_json:
        click.echo(json.dumps({"source": "measured", "file": output, "told": told, **found.as_json()}))
        return
    cost = f"{found.rounds} rounds, {found.bytes / 1e6:.0f} MB, {found.seconds:.1f} s"
    click.echo("\n".join([*told, "", *found.picture(), "", cost, f"wrote {output}"]))
