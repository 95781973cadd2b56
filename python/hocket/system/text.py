"""Text of others made such that it can be shown: names may hold whatever a file system or a file holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from hocket.errors import Where

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


def where_is(path: str) -> Where:
    """The path as messages show it."""
    return Where(shown(path, SHOWN_PATH)[1:-1] if len(path) <= SHOWN_PATH else path[:60] + "…")


def natural(name: str) -> list[tuple[int, int, str]]:
    """A key that sorts n2 before n10."""
    parts = re.findall(r"[0-9]{1,18}|[^0-9]+", name)
    return [(0, int(part), part) if part[0].isdigit() else (1, 0, part) for part in parts]
