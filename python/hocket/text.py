"""Files read once, with limits applied, and turned into text; what is wrong is told with its line.

And text of others made such that it can be shown: names may hold whatever a file system or a file holds.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final

from hocket.errors import HocketError, Where

SHOWN_PATH: Final = 4096
LONGEST_WORD: Final = 120  # of a message

# What moves the cursor, colours or hides: control characters but tab and line feed, separators of lines, what turns
# the direction of writing; and what no encoding has: bytes of names that are not UTF-8.
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


def real_path(path: str | os.PathLike[str]) -> Path:
    """The path without links, as far as it exists. Raises OSError for links that lead to themselves, also where
    Path.resolve() raises RuntimeError (before Python 3.13) or nothing."""
    found = Path(os.path.realpath(path))
    if found.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path))
    return found


def open_file(path: str | os.PathLike[str], again: bool = False) -> BinaryIO:
    """A file to read. Raises OSError, also for a device, which may have no end.

    ``again``: others will read it by its name afterwards, so that a pipe is none, either.
    """
    mode = Path(path).stat().st_mode  # before opening, which waits for a pipe's other end
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise OSError(errno.EINVAL, "Is a device", os.fspath(path))
    if again and stat.S_ISFIFO(mode):
        raise OSError(errno.EINVAL, "Is a pipe, which can be read but once", os.fspath(path))
    return Path(path).open("rb")


def read_file(path: str | os.PathLike[str], again: bool = False) -> bytes:
    """All of it; see :func:`open_file`."""
    with open_file(path, again) as file:
        return file.read()


def read_limited(path: str, limit: int, what: str, error: type[HocketError]) -> bytes:
    """The bytes of a file of at most ``limit`` bytes. ``what`` it is meant to be is part of the remedies."""
    where = where_is(path)
    try:
        with open_file(path) as file:
            data = file.read(limit + 1)
    except FileNotFoundError:
        raise error("no such file", where=where, remedy=f"name {what}") from None
    except IsADirectoryError:
        raise error("is a directory", where=where, remedy=f"name {what}") from None
    except OSError as problem:
        raise error(
            f"cannot be read: {problem.strerror or problem}", where=where, remedy="check path and permissions"
        ) from None
    except ValueError:  # a NUL byte or a lone surrogate in the path
        raise error("is not a file name", where=where, remedy=f"name {what}") from None
    if len(data) > limit:
        raise error(f"is larger than {limit // 2**20} MiB", where=where, remedy=f"is this {what}?")
    return data


def decode(data: bytes, where: Where, error: type[HocketError]) -> str:
    """UTF-8 without NUL bytes; a byte order mark is dropped, and lines end with a line feed alone."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise error(
            f"is not UTF-8: byte 0x{data[problem.start]:02x} at offset {problem.start}",
            where=Where(where.file, data.count(b"\n", 0, problem.start) + 1),
            remedy="save the file as UTF-8",
        ) from None
    nul = data.find(b"\0")
    if nul >= 0:
        raise error(
            f"holds a NUL byte at offset {nul}",
            where=Where(where.file, data.count(b"\n", 0, nul) + 1),
            remedy="is this a text file? remove the byte",
        )
    return text.replace("\r\n", "\n")


def natural(name: str) -> list[tuple[int, int, str]]:
    """A key that sorts n2 before n10."""
    parts = re.findall(r"[0-9]{1,18}|[^0-9]+", name)
    return [(0, int(part), part) if part[0].isdigit() else (1, 0, part) for part in parts]
