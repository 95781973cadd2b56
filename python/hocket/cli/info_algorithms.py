"""The registry of algorithms as ``hocket info`` shows it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any, Final

import click

from hocket.errors import UsageError

if TYPE_CHECKING:
    from hocket._core import Algorithm

WIDTH: Final = 110  # of the table where no terminal says how wide it is


def algorithm_names(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """The algorithms whose names begin so."""
    from hocket import _core

    return sorted({s.name for s in _core.all_algorithms() if s.name.startswith(incomplete)})


def entries_of(name: str | None) -> list[Algorithm]:
    """All algorithms, from the most special to the most general, or those of a name. Raises UsageError."""
    from hocket import _core

    entries = [s for s in _core.all_algorithms() if name in (None, s.name)]
    if not entries:
        from hocket.network.description import suggestion

        near = suggestion(name or "", [s.name for s in _core.all_algorithms()])
        raise UsageError(f"no algorithm is called '{name}'", remedy=near or "'hocket info' lists them all")
    return entries


def as_objects(entries: list[Algorithm]) -> list[dict[str, Any]]:
    """Entries as objects for JSON."""
    return [
        {"pattern": s.pattern, "name": s.name, "summary": s.summary, "source": s.source,
         "contention_free": s.contention_free, "ports": s.ports.name.replace("_", "-"),
         "guarantee": s.guarantee}
        for s in entries
    ]  # fmt: skip


def described(entries: list[Algorithm]) -> str:
    """All that is known of each entry."""
    return "\n\n".join(map(_whole, entries))


def _whole(entry: Algorithm) -> str:
    lines = [
        f"{entry.name}, for {entry.pattern} exchanges: {entry.summary}",
        f"contention-free  {'yes' if entry.contention_free else 'no'}",
        f"ports            {entry.ports.name.replace('_', '-')}",
        f"source           {entry.source}",
    ]
    return "\n".join([*lines, f"guarantee        {entry.guarantee}"] if entry.guarantee else lines)


def table(entries: list[Algorithm]) -> str:
    """Table as wide as the terminal; longer texts are continued below."""
    from rich.console import Console
    from rich.table import Table

    shown = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("pattern", "algorithm", "contention-free"):
        shown.add_column(title, no_wrap=True)
    shown.add_column("what it does")
    for entry in entries:
        free = "yes" if entry.contention_free else "no"
        shown.add_row(entry.pattern, entry.name, free, entry.summary)
    console = Console(width=max(60, shutil.get_terminal_size((WIDTH, 24)).columns), color_system=None)
    with console.capture() as capture:
        console.print(shown)
    lines = "\n".join(line.rstrip() for line in capture.get().rstrip().split("\n"))
    return f"{lines}\n'hocket info ALGORITHM' tells the source, ports and guarantee of one"
