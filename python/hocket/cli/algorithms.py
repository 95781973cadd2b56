"""``hocket algorithms``: the registry."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Final

import click

from hocket.cli._shared.options import json_option
from hocket.errors import UsageError

if TYPE_CHECKING:
    from hocket._core import Algorithm

WIDTH: Final = 110  # of the table where no terminal says how wide it is


def _names(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    from hocket import _core

    return sorted({s.name for s in _core.all_algorithms() if s.name.startswith(incomplete)})


@click.command()
@click.argument("name", required=False, shell_complete=_names)
@json_option
def algorithms(name: str | None, as_json: bool) -> None:
    """List the algorithms, from the most special to the most general; of NAME all that is known."""
    from hocket import _core

    entries = [s for s in _core.all_algorithms() if name in (None, s.name)]
    if not entries:
        from hocket.network.description import suggestion

        near = suggestion(name or "", [s.name for s in _core.all_algorithms()])
        raise UsageError(
            f"no algorithm is called '{name}'", remedy=near or "'hocket algorithms' lists them all"
        )
    if as_json:
        click.echo(json.dumps([
            {"pattern": s.pattern, "name": s.name, "summary": s.summary, "source": s.source,
             "contention_free": s.contention_free, "ports": s.ports.name.replace("_", "-"),
             "guarantee": s.guarantee}
            for s in entries
        ]))  # fmt: skip
    elif name is not None:
        click.echo("\n\n".join(map(_whole, entries)))
    else:
        click.echo(_table(entries))


def _whole(entry: Algorithm) -> str:
    lines = [
        f"{entry.name}, of {entry.pattern} exchanges: {entry.summary}",
        f"contention-free  {'yes' if entry.contention_free else 'no'}",
        f"ports            {entry.ports.name.replace('_', '-')}",
        f"source           {entry.source}",
    ]
    return "\n".join([*lines, f"guarantee        {entry.guarantee}"] if entry.guarantee else lines)


def _table(entries: list[Algorithm]) -> str:
    """Table as wide as the terminal; longer texts are continued below."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("pattern", "name", "contention-free"):
        table.add_column(title, no_wrap=True)
    table.add_column("what it does")
    for entry in entries:
        free = "yes" if entry.contention_free else "no"
        table.add_row(entry.pattern, entry.name, free, entry.summary)
    console = Console(width=max(60, shutil.get_terminal_size((WIDTH, 24)).columns), color_system=None)
    with console.capture() as capture:
        console.print(table)
    lines = "\n".join(line.rstrip() for line in capture.get().rstrip().split("\n"))
    return f"{lines}\n'hocket algorithms NAME' tells source, ports and guarantee of one"
