"""Values that are texts: what a shell offers for them, words that an option knows and file names; none is empty.

Options and arguments say what their value is by their metavar (``FILE``, ``NETWORK``, …); here is what each stands for.
"""

from __future__ import annotations

import re
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from hocket.cli._shared.usage import name_of, options_of
from hocket.errors import UsageError

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
