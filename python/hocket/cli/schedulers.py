"""``hocket schedulers``: the registry."""

from __future__ import annotations

import json

import click

from hocket.cli.options import json_option
from hocket.cli.work import as_columns


@click.command()
@json_option
def schedulers(as_json: bool) -> None:
    """List the schedulers, from the most special to the most general."""
    from hocket import _core

    entries = _core.schedulers()
    if as_json:
        click.echo(json.dumps([
            {"pattern": s.pattern, "name": s.name, "summary": s.summary, "source": s.source,
             "contention_free": s.contention_free, "ports": s.ports.name.replace("_", "-"),
             "guarantee": s.guarantee}
            for s in entries
        ]))  # fmt: skip
        return
    rows = [
        [s.pattern, s.name, "yes" if s.contention_free else "no", s.summary, s.source, s.guarantee]
        for s in entries
    ]
    click.echo(
        as_columns(["pattern", "name", "contention-free", "what it does", "source", "guarantee"], rows)
    )
