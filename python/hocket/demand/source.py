"""A file of traffic, read once and with every limit applied."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final

from hocket.errors import DemandError
from hocket.system.files import decode, read_limited
from hocket.system.text import where_is

MAX_FILE_BYTES: Final = 512 * 2**20
FORMATS: Final = "a file of traffic (see 'hocket help formats')"

_CALL: Final = re.compile(r"(?s)(.+):([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of a file, and the number of the call that was asked for, if any."""

    name: str
    data: bytes
    call: int | None = None

    def error(self, what: str, line: int = 0, remedy: str = "") -> DemandError:
        where = where_is(self.name)
        return DemandError(what, where=type(where)(where.file, line), remedy=remedy or f"give {FORMATS}")

    def text(self) -> str:
        return decode(self.data, where_is(self.name), DemandError)

    def lines(self, comment: str) -> Iterator[tuple[int, str]]:
        """Line numbers and texts, without empty lines and what follows a ``comment`` character."""
        for number, line in enumerate(self.text().split("\n"), 1):
            text = line.partition(comment)[0].strip()
            if text:
                yield number, text

    @property
    def suffix(self) -> str:
        return PurePath(self.name).suffix.lower()


def load(path: str) -> Source:
    """The file at ``path``, or ``FILE:CALL`` where no file has that name."""
    if not path:
        raise DemandError("no demand is named", remedy=f"name {FORMATS}")
    name, call = path, None
    if (named := _CALL.fullmatch(path)) and not _is_file(path):
        name, call = named[1], int(named[2])
    data = read_limited(name, MAX_FILE_BYTES, FORMATS, DemandError)
    source = Source(name, data, call)
    if not data.strip():
        raise source.error("is empty")
    return source


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False
