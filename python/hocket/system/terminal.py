"""Output to a terminal. Names of files, hosts and commands may hold control characters; they are escaped."""

from __future__ import annotations

import codecs
import io
import os
import re
import sys
from typing import IO, TYPE_CHECKING, Any, Final

from hocket.system.text import UNPRINTABLE, printable

if TYPE_CHECKING:
    from rich.console import Console

# Colours and weights are all that Hocket asks of a terminal by itself; bars of progress do it through a console.
_STYLED: Final = re.compile(rf"(?P<style>\x1b\[[0-9;]*m)|{UNPRINTABLE}")


class Escaped(io.TextIOWrapper):
    """A standard stream that shows control characters, and characters that its encoding lacks, as Python writes them.

    ``stream``: what it stands for, which does not. ``raw``: where the bytes go. ASCII, the encoding where a locale says
    nothing, is taken for UTF-8, as by click, which would otherwise write past this.
    """

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
        super().write(_STYLED.sub(_but_styles, text) if styled else printable(text))
        return len(text)


def _but_styles(found: re.Match[str]) -> str:
    return found["style"] or printable(found[0])


def for_programs(text: str) -> str | bytes:
    """Text for shells and build systems: bytes of paths that are not UTF-8 stay, unless a terminal shows
    them."""
    return text if sys.stdout.isatty() else os.fsencode(text)


def console(**options: Any) -> Console:
    """A console on standard error for tables and bars, which move the cursor. Texts given to it must be
    :func:`printable`, and columns of text have ``markup=False``: else ``[b]`` in a name is a style."""
    from rich.console import Console

    stream: IO[str] = getattr(sys.stderr, "unescaped", sys.stderr)
    sys.stderr.flush()
    return Console(file=stream, **options)
