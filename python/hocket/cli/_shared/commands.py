"""Commands as users meet them: examples first, options in panels, collectives by any name, words that shells offer."""

from __future__ import annotations

import re
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from hocket.cli._shared.usage import Choice, name_of, options_of
from hocket.errors import UsageError

FEW: Final = 10  # options that one list shows well
# Panels of commands with more options, in this order. An option that stands in none is among the last, the others.
PANELS: Final = {
    "Exchange": (
        *("--pattern", "--for", "--bytes", "--contributions", "--demand", "--root", "--sizes", "--density", "--time"),
    ),
    "Schedule": (
        *("--algorithm", "--flow", "--window", "--seed", "--two-level", "--compare", "--plan", "--placement"),
        *("--choose", "--min-bytes", "--candidates", "--native"),
    ),
    "Network": (
        *("--network", "--rate", "--latency", "--ranks-per-host", "--oversubscription", "--uplink-rate"),
        *("--forwarding", "--lids", "--topology", "--buffer", "--cc", "--mtu", "--id"),
    ),
    "Costs": ("--alpha", "--token-cost", "--barrier-cost", "--overhead", "--calibration"),
    "Ranks": (
        *("-n", "--mpi", "--abi", "--program", "--hosts", "--hostfile", "--shuffle", "--distribution", "--order"),
        *("--slurm", "--timeout"),
    ),
    "Output": (
        *("--format", "--explain", "--output", "--dump", "--rank", "--plot", "--csv", "--report", "--json"),
        "--verbose",
    ),
}  # fmt: skip
OTHERS: Final = "Others"
_PANEL_OF: Final = {name: panel for panel, names in PANELS.items() for name in names}


class _WithExamples(click.Command):
    """Command line whose help shows how it is called before it says what it does."""

    def __init__(self, *given: Any, examples: tuple[str, ...] = (), **more: Any) -> None:
        super().__init__(*given, **more)
        self.examples = examples
        # Lists of commands and man pages have the whole first sentence; click would cut it after 45 characters.
        self.short_help = self.short_help or self.get_short_help_str(limit=1000)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")
        super().format_help_text(ctx, formatter)


class Command(_WithExamples):
    """Command with examples, whose options are shown in panels where there are many."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        parameters = self.get_params(ctx)
        shown: dict[str, list[tuple[str, str]]] = {panel: [] for panel in (*PANELS, OTHERS, "Options")}
        for parameter in parameters:
            record = parameter.get_help_record(ctx)
            if record is not None and record[1]:  # arguments are in the line of usage
                panel = "Options" if len(parameters) <= FEW else panel_of(parameter)
                shown[panel].append(record)
        for panel, records in shown.items():
            if records:
                with formatter.section(panel):
                    formatter.write_dl(records)


class Group(_WithExamples, click.Group):
    """Commands under one name."""

    command_class = Command


class Collectives(Group):
    """Commands that are named by collectives, and called by any name of theirs (``alltoall``, ``MPI_Alltoall``)."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from hocket.demand.collectives import spelled

        return super().get_command(ctx, spelled(cmd_name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from hocket.demand.collectives import spelled

        return super().resolve_command(ctx, [spelled(args[0]), *args[1:]])


class CollectiveName(Choice):
    """One of some collectives, by any of its names; the value is the one spelling."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from hocket.demand.collectives import spelled

        return super().convert(spelled(value) if isinstance(value, str) else value, param, ctx)


def panel_of(parameter: click.Parameter) -> str:
    """The panel in which an option is shown."""
    return next((_PANEL_OF[name] for name in parameter.opts if name in _PANEL_OF), OTHERS)


_FILES: Final = re.compile(r".*\bFILE\b.*|\[?(NETWORK|PLAN)\]?|.*\.npy|network|program|command")
_FLOWS: Final = ("token", "barrier", "window:2", "free")
# Completions by metavar: the words, and whether a file may stand there, too.
_WORDS: Final[dict[str, tuple[tuple[str, ...], bool]]] = {
    "FLOW": (_FLOWS, False),
    "token|barrier|window:K|free": (_FLOWS, False),
    "flow": (_FLOWS, False),
    "HOW": (("names", "slurm", "order"), True),
    "MPI": (("mpich", "openmpi"), True),
}


class Text(type(click.STRING)):  # type: ignore[misc]
    """A text, for which a shell offers words and files. An empty one is a variable of a script that was not set."""

    def __init__(self, words: tuple[str, ...], files: bool, empty: bool) -> None:
        self.words, self.files, self.empty = words, files, empty

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not self.empty:
            if not str(value).strip():
                raise UsageError(
                    f"{name_of(param)} is empty", remedy="give what it should be, or leave it out"
                )
            if ctx is not None and value in options_of(ctx.command, ctx):
                raise UsageError(f"{name_of(param)} lacks its value: {value} is another option",
                                 remedy=f"write its value behind it; a file of this name is ./{value}")  # fmt: skip
        return super().convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        items = [CompletionItem(word) for word in self.words if word.startswith(incomplete)]
        return [*items, CompletionItem(incomplete, type="file")] if self.files else items


def with_completion(command: click.Command) -> click.Command:
    """The command, whose texts and those of its subcommands know what they stand for."""
    for parameter in command.params:
        if _plain(parameter):
            meaning = parameter.metavar or parameter.name or ""
            words, files = _WORDS.get(meaning, ((), _FILES.fullmatch(meaning) is not None))
            parameter.type = Text(words, files, empty=_may_be_empty(parameter))
    for subcommand in getattr(command, "commands", {}).values():
        with_completion(subcommand)
    return command


def _may_be_empty(parameter: click.Parameter) -> bool:
    """Words of a program, and an option that may stand without a value."""
    return parameter.type is click.UNPROCESSED or getattr(parameter, "flag_value", None) == ""


def _plain(parameter: Any) -> bool:
    """Return true if the parameter takes plain text, for which click offers no completions."""
    return parameter.type in (click.STRING, click.UNPROCESSED) and not getattr(parameter, "is_flag", False)
