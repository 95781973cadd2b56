"""The command line. Each command lives in a file of its own and is imported when it is called, so that
what one command needs cannot break the others."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import click

from hocket.cli._shared.complete import with_completion
from hocket.cli._shared.failure import Failure, NobodyReadsError, describe, failures, internal
from hocket.cli._shared.streams import prepare_streams
from hocket.errors import MissingToolError
from hocket.system.signals import Terminated


@dataclass(frozen=True, slots=True)
class Entry:
    """A command: where it is, and what ``hocket --help`` says without importing it."""

    target: str
    summary: str


COMMANDS: Final[dict[str, Entry]] = {
    "network": Entry("hocket.cli.network:network", "Show a network, or balance its routes."),
    "plan": Entry("hocket.cli.plan:plan", "Plan an exchange; write and dump the schedule."),
    "verify": Entry("hocket.cli.verify:verify", "Check a plan: complete, contention-free, in order."),
    "simulate": Entry("hocket.cli.simulate:simulate", "Predict time and load of every link; draw it."),
    "generate": Entry("hocket.cli.generate:generate", "Write a scheduled routine as C source."),
    "report": Entry("hocket.cli.report:report", "Write a page about plans, networks, runs, measurements."),
    "export": Entry("hocket.cli.export:export", "Write a plan for simulators and runtimes of GPUs."),
    "run": Entry("hocket.cli.run:run", "Run an MPI program with scheduled collectives."),
    "env": Entry("hocket.cli.env:env", "Print the variables with which any launcher schedules."),
    "bench": Entry("hocket.cli.bench:bench", "Measure native and scheduled collectives side by side."),
    "record": Entry("hocket.cli.record:record", "Record what the collectives of an MPI program send."),
    "sort": Entry("hocket.cli.sort:sort", "Sort a file of keys with MPI."),
    "doctor": Entry("hocket.cli.doctor:doctor", "Examine this installation; say what to do."),
    "config": Entry("hocket.cli.config:config", "Print the flags that compile programs with hocket.h."),
    "lab": Entry("hocket.cli.lab:lab", "Emulate a switched cluster on this machine (Linux, root)."),
    "calibrate": Entry("hocket.cli.calibrate:calibrate", "Measure what memory and messages cost here."),
    "tune": Entry("hocket.cli.tune:tune", "Show, forget or export what runs have learned."),
    "algorithms": Entry("hocket.cli.algorithms:algorithms", "List the algorithms."),
    "help": Entry("hocket.cli.help:help_command", "Show a page of the documentation; list the topics."),
    "completion": Entry("hocket.cli.completion:completion", "Print a shell's completion script."),
}


class LazyGroup(click.Group):
    """Finds its commands in the table above."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
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
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [
            CompletionItem(name, help=entry.summary)
            for name, entry in COMMANDS.items()
            if name.startswith(incomplete)
        ] + click.Command.shell_complete(self, ctx, incomplete)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        with failures():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with failures():
            return super().invoke(ctx)


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from hocket import __version__

        click.echo(f"hocket {__version__}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version,
    help="Print the version and exit.",
)  # fmt: skip
def cli() -> None:
    """Plan who talks to whom, and when, so that messages never fight over a wire."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code: 0 done, 1 a check said no, 2 bad input or usage."""
    prepare_streams()
    try:
        code = _answer(arguments)
        sys.stdout.flush()
        return code
    except click.ClickException as error:
        error.show()
        return 2 if isinstance(error, Failure) else error.exit_code
    except (click.Abort, KeyboardInterrupt):  # click has ended the line with ^C
        return _leave_at_once(130)
    except Terminated as error:
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


def _answer(arguments: Sequence[str] | None) -> int:
    try:
        result = cli.main(arguments, prog_name="hocket", standalone_mode=False)
    except Terminated:
        raise
    except SystemExit as end:
        result = end.code
    return result if isinstance(result, int) else 0


def _leave_at_once(code: int) -> int:
    """Exit without waiting for a thread that still computes in the core."""
    sys.stderr.flush()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    os._exit(code)
