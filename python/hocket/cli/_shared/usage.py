"""Errors of a command line that click refuses, in one line: the option, the problem, the allowed values."""

from __future__ import annotations

import contextlib
import functools
import math
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import click
from click.core import ParameterSource

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
        return _no_such_option(error)
    if isinstance(error, click.MissingParameter):
        return f"{_named(error.param)} is missing; {_see_help(error.ctx)}"
    if isinstance(error, click.BadParameter) and error.param is not None:
        return f"{name_of(error.param)}: {error.message.rstrip('.')}; {_see_help(error.ctx)}"
    if isinstance(error, click.BadOptionUsage):  # an option without its value, or with one too many
        remedy = "leave the value out" if "not take" in error.message else "write its value behind it"
        return f"{_lowered(error)}; {remedy}"
    unknown = getattr(error, "command_name", None)  # click 8.4 and later
    if unknown is not None and error.ctx is not None and isinstance(error.ctx.command, click.Group):
        return _no_such_command(unknown, error.ctx, error.ctx.command)
    return f"{_lowered(error)}; {_see_help(error.ctx)}"


def _no_such_option(error: click.NoSuchOption) -> str:
    known = [] if error.ctx is None else options_of(error.ctx.command, error.ctx)
    return _unknown("option", error.option_name, known, error.ctx)


def _no_such_command(name: str, ctx: click.Context, group: click.Group) -> str:
    return _unknown("command", name, group.list_commands(ctx), ctx)


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
