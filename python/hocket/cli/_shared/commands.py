"""Commands and options as users meet them: types that refuse clearly, examples first, options in panels, collectives by
any name, words that shells offer."""

from __future__ import annotations

import contextlib
import functools
import math
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, cast

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from hocket.errors import UsageError

if TYPE_CHECKING:
    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # generic from click 8.2 on

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class Decorator(Protocol):
    """Type of the decorators that ``click.option`` returns."""

    def __call__(self, function: F, /) -> F: ...


def option(written: str, help: str | None = None, name: str = "", **more: Any) -> Decorator:
    """Option as the help shows it, ``-o, --output FILE``, with its default. ``name``: of the parameter, if another.
    Without a value behind it and a type it is a flag."""
    words, _, metavar = written.replace(", ", ",").partition(" ")
    if metavar:
        more["metavar"] = metavar
    elif not {"type", "count"} & more.keys():
        more["is_flag"] = True
    more.setdefault("show_default", more.get("default") is not None)
    return click.option(*words.split(","), *filter(None, [name]), help=help, **more)


def options(*each: Decorator) -> Decorator:
    """Several options as one decorator, in the order in which the help shows them."""

    def decorate(function: F) -> F:
        for option in reversed(each):
            function = option(function)
        return function

    return decorate


def gathered(argument: str, make: Callable[..., Any], *each: Decorator) -> Decorator:
    """Several options whose values a command gets as one argument, made of them."""

    def decorate(function: F) -> F:
        before = len(getattr(function, "__click_params__", []))

        @functools.wraps(function)
        def command(*arguments: Any, **values: Any) -> Any:
            own = {name: values.pop(name) for name in names}
            return function(*arguments, **{argument: make(**own)}, **values)

        whole = options(*each)(command)
        names = [parameter.name for parameter in whole.__click_params__[before:]]  # type: ignore[attr-defined]
        return cast(F, whole)

    return decorate


def _refused(parameter: click.Parameter | None, value: str, wanted: str) -> UsageError:
    return UsageError(f"{name_of(parameter)} {value} is not accepted", remedy=f"give {wanted}")


class Choice(_Choice):
    """One of some words."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            raise _refused(param, repr(value), f"one of {', '.join(map(str, self.choices))}") from None


def _number(kind: Any, noun: str, limits: Any, value: Any, param: click.Parameter | None) -> Any:
    """A finite number within limits, in ASCII digits."""
    shown = repr(value)
    # int() and float() accept digits of other scripts, underscores and blanks.
    if not isinstance(value, str) or re.fullmatch(r"[!-^`-~]+", value):
        with contextlib.suppress(ValueError):
            number = kind(value)
            shown = str(number)
            if limits.min <= number < math.inf and (limits.max is None or number <= limits.max):
                return number
    least = f" of at least {limits.min}" if limits.max is None else f" from {limits.min} to {limits.max}"
    raise _refused(param, shown, noun + least)


class Whole(click.IntRange):
    """A whole number within limits."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return _number(int, "a whole number", self, value, param)


class Number(click.FloatRange):
    """A finite number within limits."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return _number(float, "a number", self, value, param)


def one_line(error: click.UsageError) -> str:
    """The text of a refusal, without ``hocket:`` in front."""
    if isinstance(error, click.NoSuchOption):
        known = [] if error.ctx is None else options_of(error.ctx.command, error.ctx)
        return _unknown("option", error.option_name, known, error.ctx)
    if isinstance(error, click.MissingParameter):
        return f"{_named(error.param)} is missing; {_see_help(error.ctx)}"
    if isinstance(error, click.BadParameter) and error.param is not None:
        return f"{name_of(error.param)}: {error.message.rstrip('.')}; {_see_help(error.ctx)}"
    if isinstance(error, click.BadOptionUsage):  # an option without its value, or with one too many
        remedy = "leave the value out" if "not take" in error.message else "write its value behind it"
        return f"{_lowered(error)}; {remedy}"
    unknown = getattr(error, "command_name", None)  # click 8.4 and later
    if unknown is not None and error.ctx is not None and isinstance(error.ctx.command, click.Group):
        return _unknown("command", unknown, error.ctx.command.list_commands(error.ctx), error.ctx)
    return f"{_lowered(error)}; {_see_help(error.ctx)}"


def _unknown(kind: str, name: str, known: list[str], ctx: click.Context | None) -> str:
    path = ctx.command_path if ctx is not None else "hocket"
    close = get_close_matches(name, known, n=2)
    what = f"'{path}' has no {kind} {name}"
    return f"{what}; did you mean {' or '.join(close)}?" if close else f"{what}; {_see_help(ctx)}"


def named(option: str, parser: Callable[[str], T], text: str) -> T:
    """``parser(text)`` (see :mod:`hocket.units`); its complaint names the option."""
    try:
        return parser(text)
    except UsageError as problem:
        raise UsageError(f"{option}: {problem.what}", remedy=problem.remedy) from None


def options_of(command: click.Command, ctx: click.Context) -> list[str]:
    """Names of all options, help's included."""
    return [
        name
        for parameter in command.get_params(ctx)
        if isinstance(parameter, click.Option)
        for name in (*parameter.opts, *parameter.secondary_opts)
    ]


def given(*parameters: str) -> list[str]:
    """Options of the command that runs, by the names of their parameters: those that stand on the command line."""
    context = click.get_current_context()
    named = {each.name: each.opts[0] for each in context.command.params}
    return [named[name] for name in parameters
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]  # fmt: skip


def _named(parameter: click.Parameter | None) -> str:
    """An option with what follows it, as ``--network NETWORK``; an argument by its name."""
    if isinstance(parameter, click.Option) and parameter.metavar:
        return f"{name_of(parameter)} {parameter.metavar}"
    return name_of(parameter)


def name_of(parameter: click.Parameter | None) -> str:
    """An option by its longest name, an argument as the help shows it."""
    if isinstance(parameter, click.Option):
        return max(parameter.opts, key=len)
    if parameter is None or parameter.name is None:
        return "an argument"
    return parameter.metavar or parameter.name.upper()


def _lowered(error: click.UsageError) -> str:
    """click's own sentence as part of a line."""
    text = error.format_message().rstrip(". ")
    return text[:1].lower() + text[1:]


def _see_help(ctx: click.Context | None) -> str:
    return f"see '{ctx.command_path if ctx is not None else 'hocket'} --help'"


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


def command(*examples: str, kind: type[Command] = Command, **more: Any) -> Callable[[F], click.Command]:
    """Decorator of commands. Their help begins with these examples."""
    return click.command(cls=kind, examples=examples, **more)


def group(*examples: str, kind: type[Group] = Group, **more: Any) -> Callable[[F], Group]:
    """Decorator of groups, as :func:`command`."""
    return click.group(cls=kind, examples=examples, **more)


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
            # Words of a program, and an option that may stand without a value.
            empty = parameter.type is click.UNPROCESSED or getattr(parameter, "flag_value", None) == ""
            parameter.type = Text(words, files, empty)
    for subcommand in getattr(command, "commands", {}).values():
        with_completion(subcommand)
    return command


def _plain(parameter: Any) -> bool:
    """Return true if the parameter takes plain text, for which click offers no completions."""
    return parameter.type in (click.STRING, click.UNPROCESSED) and not getattr(parameter, "is_flag", False)
