"""Errors of a command line that click refuses, in one line: the option, the problem, the allowed values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, Protocol, TypeVar

import click

from hocket.errors import UsageError

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


def _oddly_written(value: Any) -> bool:
    """Return true if int() and float() might accept a text that is not plainly a number: digits of other
    scripts, underscores, blanks."""
    return isinstance(value, str) and re.search(r"[^!-~]|_", value) is not None


class Whole(click.IntRange):
    """A whole number within limits, in ASCII digits."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if _oddly_written(value):
            self.fail(f"{value!r} is not a whole number", param, ctx)
        return super().convert(value, param, ctx)


class Number(click.FloatRange):
    """Number that is finite: comparisons with limits let NaN and infinity pass."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if _oddly_written(value):
            self.fail(f"{value!r} is not a number", param, ctx)
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{number} is not finite", param, ctx)
        return number


def one_line(error: click.UsageError) -> str:
    """The text of a refusal, without ``hocket:`` in front."""
    if isinstance(error, click.NoSuchOption):
        return _no_such_option(error)
    if isinstance(error, click.MissingParameter):
        return f"{_named(error.param)} is missing; {_see_help(error.ctx)}"
    if isinstance(error, click.BadParameter) and error.param is not None:
        return _bad_value(error, error.param)
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


def _bad_value(error: click.BadParameter, parameter: click.Parameter) -> str:
    wanted = _wanted(parameter.type)
    value = re.match(r"(?P<value>'.*'|\S+) is not ", error.message, re.DOTALL)
    if wanted is None or value is None:
        return f"{name_of(parameter)}: {error.message.rstrip('.')}; {_see_help(error.ctx)}"
    return f"{name_of(parameter)} {value['value']} is not accepted; give {wanted}"


def _wanted(kind: click.ParamType[Any]) -> str | None:
    """Expected values of a parameter of this type; None if click's own message names them."""
    if isinstance(kind, click.Choice):
        return f"one of {', '.join(map(str, kind.choices))}"
    if isinstance(kind, (click.IntRange, click.FloatRange)):
        noun = "a whole number" if isinstance(kind, click.IntRange) else "a number"
        if kind.max is None:
            return f"{noun} of at least {kind.min}"
        return f"{noun} from {kind.min} to {kind.max}"
    return None


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
