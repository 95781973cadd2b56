"""What a shell offers for values: words that an option knows, and file names.

Options and arguments say what their value is by their metavar (``FILE``, ``NETWORK``, …); here is what each stands for.
"""

from __future__ import annotations

import re
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

_FILES: Final = re.compile(r".*\bFILE\b.*|\[?(NETWORK|PLAN)\]?|.*\.npy|network|program|command")
_FLOWS: Final = ("token", "barrier", "window:2", "free")
# By metavar: the words, and whether a file may stand there, too.
_WORDS: Final[dict[str, tuple[tuple[str, ...], bool]]] = {
    "FLOW": (_FLOWS, False),
    "token|barrier|window:K|free": (_FLOWS, False),
    "flow": (_FLOWS, False),
    "HOW": (("names", "slurm", "order"), True),
    "MPI": (("mpich", "openmpi"), True),
}


class Completed(type(click.STRING)):  # type: ignore[misc]
    """A text, for which a shell offers words and files."""

    def __init__(self, words: tuple[str, ...], files: bool) -> None:
        self.words, self.files = words, files

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        items = [CompletionItem(word) for word in self.words if word.startswith(incomplete)]
        return [*items, CompletionItem(incomplete, type="file")] if self.files else items


def with_completion(command: click.Command) -> click.Command:
    """The command, with what shells offer for its values and those of its subcommands."""
    for parameter in command.params:
        meaning = parameter.metavar or parameter.name or ""
        words, files = _WORDS.get(meaning, ((), _FILES.fullmatch(meaning) is not None))
        if (words or files) and _plain(parameter):
            parameter.type = Completed(words, files)
    for subcommand in getattr(command, "commands", {}).values():
        with_completion(subcommand)
    return command


def _plain(parameter: Any) -> bool:
    """Whether its value is a text of which click knows nothing."""
    return parameter.type in (click.STRING, click.UNPROCESSED) and not getattr(parameter, "is_flag", False)
