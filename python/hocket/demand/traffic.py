"""Traffic that is read: what it is read from, and who sends how much to whom."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final

from hocket.errors import DemandError
from hocket.system.files import decode, read_limited
from hocket.system.text import where_is
from hocket.units import MOST_BYTES

if TYPE_CHECKING:
    from hocket._core import Demand


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
            if text := line.partition(comment)[0].strip():
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


MOST_RANKS: Final = 2**22  # as plan files
MOST_MESSAGES: Final = 2**22  # all of 2,048 ranks to each other


@dataclass(slots=True)
class Traffic:
    """Message i takes ``bytes[i]`` from ``src[i]`` to ``dst[i]``; none is empty or to its own sender."""

    ranks: int
    source: Source
    src: list[int] = field(default_factory=list)
    dst: list[int] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    total_bytes: int = 0
    kept_bytes: int = 0  # what ranks have for themselves, which is no message

    def __post_init__(self) -> None:
        if self.ranks > MOST_RANKS:
            raise self.source.error(
                f"{self.ranks:,} ranks are more than a plan can hold", remedy=f"use at most {MOST_RANKS:,}"
            )

    def add(self, src: int, dst: int, size: int, line: int = 0) -> None:
        """A message of ``size`` bytes. Ranks and size must be checked; ``line`` is where it stands."""
        if size == 0:
            return
        if src == dst:
            self.kept_bytes += size
            return
        self.total_bytes += size
        if self.total_bytes > MOST_BYTES:
            raise self.source.error(
                f"the messages have more than 2^63 - 1 bytes in all (at message {src}->{dst})",
                line,
                "are these bytes?",
            )
        if len(self.src) == MOST_MESSAGES:
            raise self.source.error(
                f"more than {MOST_MESSAGES:,} messages", line, "irregular exchanges are planned for fewer"
            )
        self.src.append(src)
        self.dst.append(dst)
        self.bytes.append(size)

    def check_ranks(self, ranks: int, path: str) -> None:
        """Refuses traffic of another number of ranks than the network has."""
        if self.ranks != ranks:
            raise DemandError(
                f"the matrix is {self.ranks} x {self.ranks}, the network has {ranks} ranks",
                where=where_is(path),
                remedy="give traffic and network of as many ranks",
            )

    def demand(self) -> Demand:
        from hocket import _core

        return _core.Demand.irregular(self.ranks, self.src, self.dst, self.bytes)
