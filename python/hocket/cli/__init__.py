"""The command line. Each command lives in a file of its own and is imported when it is called, so that
what one command needs cannot break the others."""

import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import click

from hocket.cli._shared.commands import Group, group, option, with_completion
from hocket.cli._shared.failure import (
    Failure,
    NobodyReadsError,
    Refusing,
    describe,
    failures,
    internal,
    prepare_streams,
)
from hocket.errors import MissingToolError
from hocket.system.signals import Terminated, number_of


@dataclass(frozen=True, slots=True)
class Entry:
    """A command: where it is, what ``hocket --help`` says without importing it, and in which group."""

    target: str
    summary: str
    group: str = "More"


def _entry(group: str, name: str, summary: str) -> Entry:
    return Entry(f"hocket.cli.{name}:{name}", summary, group)


COMMANDS: Final[dict[str, Entry]] = {
    "run": _entry("Run", "run", "Run an MPI program with scheduled collectives."),
    "env": _entry("Run", "env", "Print the environment settings that enable Hocket under any launcher."),
    "order": _entry("Run", "order", "Print a better order of a job's ranks for native calls."),
    "bench": _entry("Run", "bench", "Measure native and scheduled collectives side by side."),
    "tune": _entry("Run", "tune", "Show or forget the timings that runs have kept."),
    "doctor": _entry("Run", "doctor", "Check this installation and say how to fix it."),
    "network": _entry("Plan", "network", "Show, convert, discover or balance a network."),
    "plan": _entry("Plan", "plan", "Compute and verify the schedule of a collective."),
    "verify": _entry("Plan", "verify", "Check a plan file against a network."),
    "simulate": _entry("Plan", "simulate", "Predict the time of a plan and the load of each link."),
    "export": _entry("Plan", "export", "Write a plan as C source or for another engine."),
    "record": _entry("Plan", "record", "Record the messages of an MPI program's collectives."),
    "report": _entry("More", "report", "Write an HTML page about plans, networks and measurements."),
    "lab": _entry("More", "lab", "Emulate a switched cluster on this machine (Linux, root)."),
    "calibrate": _entry("More", "calibrate", "Measure the costs of memory and of messages."),
    "info": _entry("More", "info", "Show versions, settings and algorithms; print compiler flags."),
    "help": Entry("hocket.cli.help:help_command", "Show a page of the documentation, or list the pages."),
    "completion": Entry("hocket.cli.help:completion", "Print a shell's completion script."),
}


class LazyGroup(Refusing, Group):
    """Finds its commands in the table above."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if (entry := COMMANDS.get(cmd_name)) is None:
            return None
        module, _, name = entry.target.partition(":")
        with failures():
            try:
                command: click.Command = getattr(importlib.import_module(module), name)
            except ImportError as error:
                raise MissingToolError(
                    f"'hocket {cmd_name}' lacks a part of Hocket or of Python: {error}",
                    remedy="install it and try again",
                ) from error
        return with_completion(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title in dict.fromkeys(entry.group for entry in COMMANDS.values()):
            rows = [
                (name.ljust(width), entry.summary) for name, entry in COMMANDS.items() if entry.group == title
            ]
            with formatter.section(title):
                formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [
            CompletionItem(name, help=entry.summary)
            for name, entry in COMMANDS.items()
            if name.startswith(incomplete)
        ] + click.Command.shell_complete(self, ctx, incomplete)


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from hocket import __version__

        click.echo(f"hocket {__version__}")
        ctx.exit()


@group(
    "hocket plan all-to-all --network tree:4x8",
    "hocket run --network cluster.toml -n 32 -- ./program",
    kind=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@option("--version", "Print the version and exit.", is_eager=True, expose_value=False,
        callback=_print_version)  # fmt: skip
def cli() -> None:
    """Compute, verify and run contention-free schedules for MPI collectives.

    A network and a collective give a schedule in which no two messages share a link at a time. Programs use it
    unmodified."""


def main(arguments: Sequence[str] | None = None, command: click.Command = cli, name: str = "hocket") -> int:
    """Runs a command line; returns the exit code: 0 done, 1 a check said no, 2 bad input or usage."""
    prepare_streams()
    try:
        code = _answer(arguments, command, name)
        sys.stdout.flush()
        return code
    except click.ClickException as error:
        error.show()
        return 2 if isinstance(error, Failure) else error.exit_code
    except (click.Abort, KeyboardInterrupt):  # click has ended the line with ^C
        return _leave_at_once(130)
    except Terminated as error:
        with contextlib.suppress(OSError):  # the terminal may be gone
            click.echo(f"hocket: ended by {signal.Signals(number_of(error)).name}", err=True)
        return _leave_at_once(int(error.code or 0))
    except (NobodyReadsError, BrokenPipeError):
        # Nobody reads any more; Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:  # from flushing stdout
        Failure(describe(error)).show()
        return 2
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        Failure(internal(error)).show()
        return 2


def _answer(arguments: Sequence[str] | None, command: click.Command, name: str) -> int:
    try:
        result = command.main(arguments, prog_name=name, standalone_mode=False)
    except Terminated:
        raise
    except SystemExit as end:
        result = end.code
    return result if isinstance(result, int) else 0


def _leave_at_once(code: int) -> int:
    """Exit without waiting for a thread that still computes in the core."""
    for stream in (sys.stderr, sys.stdout):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)
