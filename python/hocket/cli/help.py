"""``hocket help``: the documentation, page by page."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from hocket.cli._shared.commands import Command

if TYPE_CHECKING:
    from pathlib import Path

_WIDEST = 100  # columns of running text


def _topics(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[Any]:
    from click.shell_completion import CompletionItem

    from hocket.cli._shared.guide import pages, title

    return [
        CompletionItem(name, help=title(page))
        for name, page in pages().items()
        if name.startswith(incomplete)
    ]


@click.command("help", cls=Command, examples=("hocket help", "hocket help networks"))
@click.argument("topic", required=False, shell_complete=_topics)
@click.pass_context
def help_command(context: click.Context, topic: str | None) -> None:
    """Show a page of the documentation, or the options of a command. Without TOPIC, list the pages."""
    from hocket.cli import COMMANDS
    from hocket.cli._shared.guide import page_of

    if topic is None:
        _list()
    elif (page := page_of(topic, tuple(COMMANDS))) is not None:
        _show(page)
    else:
        _show_options(context, topic)


def _list() -> None:
    from hocket.cli._shared.guide import pages, title

    known = pages()
    width = max(map(len, known))
    for name, page in known.items():
        click.echo(f"{name:{width}}  {title(page)}")
    if sys.stdout.isatty():
        click.echo("\nhocket help TOPIC shows one, hocket COMMAND --help the options of a command")


def _show(page: Path) -> None:
    """Markdown as it is, for programs; set for a terminal, with a pager."""
    text = page.read_text("utf-8")
    if not sys.stdout.isatty():
        click.echo(text, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    with console.capture() as captured:
        console.print(Markdown(text, hyperlinks=False), width=min(console.width, _WIDEST))
    click.echo_via_pager(captured.get())


def _show_options(context: click.Context, name: str) -> None:
    parent = context.parent
    assert parent is not None and isinstance(parent.command, click.Group)
    command = parent.command.get_command(parent, name.lower())
    assert command is not None
    with click.Context(command, info_name=name.lower(), parent=parent) as own:
        click.echo(command.get_help(own))
