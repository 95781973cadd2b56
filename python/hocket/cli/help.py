"""``hocket help``: the documentation that comes with the package, page by page."""

import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from hocket.cli._shared.commands import Choice, command
from hocket.errors import HocketError, UsageError
from hocket.launch.runtime.build import native_dir


def pages() -> dict[str, Path]:
    """The Markdown file of each topic, by name. Raises HocketError if the installation has none."""
    folder = _folder()
    if not (found := {path.stem: path for path in sorted(folder.glob("*.md"))}):
        raise HocketError(
            f"{folder} has no documentation", remedy="install it again: pip install --force-reinstall hocket"
        )
    return found


def _folder() -> Path:
    """Pages come with the package; an editable install reads those of its sources, so they are never old."""
    sources = Path(__file__).parents[3]
    return sources / "docs" if (sources / "pyproject.toml").is_file() else native_dir().parent / "docs"


def title(page: Path) -> str:
    """Title of a page, from its first line."""
    with page.open(encoding="utf-8") as lines:
        return lines.readline().lstrip("# ").strip()


def page_of(topic: str, others: tuple[str, ...] = ()) -> Path | None:
    """The page of a topic, which may be given as a file (``docs/networks.md``); None if it is in ``others``.

    Raises UsageError, with what may be meant, where it is neither."""
    known = pages()
    if (name := topic.removeprefix("docs/").removesuffix(".md").lower()) in known:
        return known[name]
    if name in others:
        return None
    close = get_close_matches(name, [*known, *others], n=2)
    raise UsageError(
        f"there is no topic '{topic[:60]}'",
        remedy=f"did you mean {' or '.join(close)}?" if close else "'hocket help' lists them",
    )


_WIDEST = 100  # columns of running text


def _topics(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[Any]:
    from click.shell_completion import CompletionItem

    return [
        CompletionItem(name, help=title(page))
        for name, page in pages().items()
        if name.startswith(incomplete)
    ]


@command("hocket help", "hocket help networks", name="help")
@click.argument("topic", required=False, shell_complete=_topics)
@click.pass_context
def help_command(context: click.Context, topic: str | None) -> None:
    """Show a page of the documentation, or the options of a command. Without TOPIC, list the pages."""
    from hocket.cli import COMMANDS

    if topic is None:
        _list()
    elif (page := page_of(topic, tuple(COMMANDS))) is not None:
        _show(page)
    else:
        _show_options(context, topic)


def _list() -> None:

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


# click's own for bash starts a shell to look at its version; this needs bash 4.4, as click does.


@command(
    "hocket completion bash > ~/.local/share/bash-completion/completions/hocket",
    "hocket completion zsh > ~/.zfunc/_hocket",
)
@click.argument("shell", type=Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL."""
    from click.shell_completion import ShellComplete, get_completion_class

    from hocket.cli import cli

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(ShellComplete.source(kind(cli, {}, "hocket", "_HOCKET_COMPLETE")))
