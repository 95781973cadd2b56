"""``hocket completion``: what a shell needs to complete commands and options."""

from __future__ import annotations

import click

from hocket.cli._shared.commands import Command

# click's own for bash starts a shell to look at its version; this needs bash 4.4, as click does.


@click.command(
    cls=Command,
    examples=(
        "hocket completion bash > ~/.local/share/bash-completion/completions/hocket",
        "hocket completion zsh > ~/.zfunc/_hocket",
    ),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL."""
    from click.shell_completion import ShellComplete, get_completion_class

    from hocket.cli import cli

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(ShellComplete.source(kind(cli, {}, "hocket", "_HOCKET_COMPLETE")))
