"""Files read once, with limits applied, and turned into text; what is wrong is told with its line."""

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


def shown(text: str, longest: int = 60) -> str:
    """``text`` quoted for a message: one line, printable, not too long."""
    return repr(text) if len(text) <= longest else repr(text[:longest]) + "…"


def some(names: Sequence[str], most: int = 4) -> str:
    """The first names of a list for a message, and whether there are more: ``a, b, …``."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def where_is(path: str) -> Where:
    """The path as messages show it."""
    return Where(shown(path, SHOWN_PATH)[1:-1] if len(path) <= SHOWN_PATH else path[:60] + "…")


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
