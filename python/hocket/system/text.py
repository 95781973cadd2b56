"""Text of others made such that it can be shown: names may hold whatever a file system or a file holds."""

from __future__ import annotations

import codecs
import io
import os
import re
import sys
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any, Final

from hocket.errors import Where

if TYPE_CHECKING:
    from rich.console import Console


SHOWN_PATH: Final = 4096
LONGEST_WORD: Final = 120  # of a message

# Characters that move the cursor, colour or hide: control characters except tab and line feed, line
# separators, marks that change the direction of writing; and bytes of names that are not UTF-8, which no
# encoding has.
UNPRINTABLE: Final = "[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
_UNPRINTABLE: Final = re.compile(UNPRINTABLE)
_LONG_WORD: Final = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")


def printable(text: str) -> str:
    """``text`` with what a terminal would obey written as Python writes it, ``\\x1b``."""
    return _UNPRINTABLE.sub(lambda found: repr(found[0])[1:-1], text)


def shortened(text: str) -> str:
    """``text`` without the ends of words that are longer than any; paths may be as long as systems allow."""

    def cut(found: re.Match[str]) -> str:
        word = found[0]
        most = SHOWN_PATH if "/" in word else LONGEST_WORD
        return word if len(word) <= most else f"{word[: LONGEST_WORD // 2]}…{word[-8:]}"

    return _LONG_WORD.sub(cut, text)


def shown(text: str, longest: int = 60) -> str:
    """``text`` quoted for a message: one line, printable, not too long."""
    return repr(text) if len(text) <= longest else repr(text[:longest]) + "…"


def some(names: Sequence[str], most: int = 4) -> str:
    """The first names of a list for a message, and whether there are more: ``a, b, …``."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def and_more(names: Sequence[str], most: int = 8) -> str:
    """The first names of a list for a message, and how many more there are: ``a, b and 3 more``."""
    left = len(names) - most
    return ", ".join(names[:most]) + (f" and {left:,} more" if left > 0 else "")


def ranks_named(ranks: Sequence[int], most: int = 10) -> str:
    """Ranks in a message: ``rank 3``, ``ranks 1, 2``, ``ranks 0, 1, … (64 in all)``."""
    more = f" ({len(ranks)} in all)" if len(ranks) > most else ""
    return f"rank{'s' if len(ranks) > 1 else ''} {some([str(rank) for rank in ranks], most)}{more}"


def folded(names: Sequence[str]) -> str:
    """A host list: ``n[0-15]``."""
    from ClusterShell.NodeSet import NodeSet, NodeSetException  # takes long to load

    try:
        return str(NodeSet.fromlist(names))
    except NodeSetException:
        return ",".join(names)


def picked(result: object, *names: str) -> dict[str, Any]:
    """These attributes of a result, for JSON."""
    return {name: getattr(result, name) for name in names}


def counted(number: int, noun: str, nouns: str = "") -> str:
    """A number with the noun in its form: ``1 host``, ``2 hosts``."""
    return f"{number} {noun if number == 1 else nouns or noun + 's'}"


def where_is(path: str) -> Where:
    """The path as messages show it."""
    return Where(shown(path, SHOWN_PATH)[1:-1] if len(path) <= SHOWN_PATH else path[:60] + "…")


def natural(name: str) -> list[tuple[int, int, str]]:
    """A key that sorts n2 before n10."""
    parts = re.findall(r"[0-9]{1,18}|[^0-9]+", name)
    return [(0, int(part), part) if part[0].isdigit() else (1, 0, part) for part in parts]


# Colours and weights are all that Hocket asks of a terminal by itself; bars of progress do it through a console.
_STYLED: Final = re.compile(rf"(?P<style>\x1b\[[0-9;]*m)|{UNPRINTABLE}")


class Escaped(io.TextIOWrapper):
    """A standard stream that shows control characters, and characters that its encoding lacks, as Python writes them.

    ``stream``: what it stands for, which does not. ``raw``: where the bytes go. ASCII, the encoding where a locale says
    nothing, is taken for UTF-8, as by click, which would otherwise write past this."""

    def __init__(self, stream: io.TextIOWrapper, raw: io.RawIOBase) -> None:
        super().__init__(
            io.BufferedWriter(raw),
            encoding="utf-8" if codecs.lookup(stream.encoding).name == "ascii" else stream.encoding,
            errors="backslashreplace",
            line_buffering=stream.line_buffering,
        )
        self.unescaped = stream

    def write(self, text: str, /) -> int:
        styled = "\x1b" in text and self.isatty()
        shown = (
            _STYLED.sub(lambda found: found["style"] or printable(found[0]), text)
            if styled
            else printable(text)
        )
        super().write(shown)
        return len(text)


def for_programs(text: str) -> str | bytes:
    """Text for shells and build systems: bytes of paths that are not UTF-8 stay, unless a terminal shows them."""
    return text if sys.stdout.isatty() else os.fsencode(text)


def console(**options: Any) -> Console:
    """A console on standard error for tables and bars, which move the cursor. Texts given to it must be
    :func:`printable`, and columns of text have ``markup=False``: else ``[b]`` in a name is a style."""
    from rich.console import Console

    stream: IO[str] = getattr(sys.stderr, "unescaped", sys.stderr)
    sys.stderr.flush()
    return Console(file=stream, **options)
