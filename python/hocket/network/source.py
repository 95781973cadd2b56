"""The text a reader works on, read once and with every limit applied."""

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final, TypeVar

from hocket.errors import HocketError, NetworkError, Where
from hocket.system.files import decode, read_limited
from hocket.system.text import shown, where_is

__all__ = ["Source", "load", "load_beside", "shown"]

MAX_FILE_BYTES: Final = 64 * 2**20
MAX_LINE_BYTES: Final = 4 * 2**20
STDIN: Final = "-"
SHOWN_STDIN: Final = "standard input"
_WHAT: Final = "a network file, or a short form such as star:24"

_COMMENT: Final = re.compile(r"(?:^|\s)#.*")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Source:
    """A network file, or a short form (then ``is_file`` is false and ``text`` is the short form)."""

    name: str
    text: str
    is_file: bool = True

    def at(self, line: int = 0) -> Where:
        return Where(self.name, line)

    def error(self, what: str, line: int = 0, remedy: str = "") -> NetworkError:
        return NetworkError(what, where=self.at(line), remedy=remedy)

    def parse(self, parser: Callable[[str], T], text: str, line: int) -> T:
        """``parser(text)`` (see :mod:`hocket.units`), its complaint placed on ``line``."""
        try:
            return parser(text)
        except HocketError as problem:
            raise self.error(problem.what, line, problem.remedy) from None

    def content_lines(self) -> Iterator[tuple[int, str]]:
        """Line numbers and texts without comments (from ``#`` at the beginning or after a blank)."""
        for number, line in enumerate(self.text.split("\n"), 1):
            if text := _COMMENT.sub("", line).strip():
                yield number, text

    @property
    def suffix(self) -> str:
        return PurePath(self.name).suffix.lower()


def load(path: str, what: str = _WHAT, most: int = MAX_FILE_BYTES) -> Source:
    """The text of a file of at most ``most`` bytes, or of standard input for ``-``; or one :class:`NetworkError`,
    which says ``what`` the file should be."""
    if not path:
        raise NetworkError(f"no {'network' if what == _WHAT else 'file'} is named", remedy=f"name {what}")
    if path == STDIN:
        return Source(SHOWN_STDIN, _decode(_standard_input(what, most), Where(SHOWN_STDIN)))
    data = read_limited(path, most, what, NetworkError)
    return Source(path, _decode(data, where_is(path)))


_used: object = None  # the standard input that has been read


def _standard_input(what: str, most: int) -> bytes:
    global _used
    if sys.stdin is not None and sys.stdin is _used:
        raise NetworkError(
            "is read twice (-)", where=Where(SHOWN_STDIN), remedy="name a file for one of the two"
        )
    _used = sys.stdin
    try:
        data = sys.stdin.buffer.read(most + 1)
    except (AttributeError, ValueError, OSError) as problem:  # None where it is closed
        raise NetworkError(
            "cannot be read", where=Where(SHOWN_STDIN), remedy=f"pipe a file into it, or name {what}"
        ) from problem
    if len(data) > most:
        raise NetworkError(f"is larger than {most // 2**20} MiB", where=Where(SHOWN_STDIN),
                           remedy=f"is this {what}?")  # fmt: skip
    return data


def load_beside(source: Source, name: str, line: int, what: str) -> Source:
    """The text of a file that ``source`` names in ``line``; its path is relative to that of ``source``."""
    path = Path(source.name).parent / name
    try:
        regular = path.is_file()
    except (OSError, ValueError):
        regular = False
    if not regular:
        raise source.error(
            f"{what}: file {shown(name)} not found",
            line,
            f"the path begins in the folder of {shown(source.name)}",
        )
    return load(str(path))


def _decode(data: bytes, where: Where) -> str:
    if not data.strip():
        raise NetworkError("is empty", where=where, remedy="'hocket help networks' describes the formats")
    text = decode(data, where, NetworkError)
    if len(data) > MAX_LINE_BYTES:
        _check_lines(data, where)
    return text


def _check_lines(data: bytes, where: Where) -> None:
    for number, line in enumerate(data.split(b"\n"), 1):
        if len(line) > MAX_LINE_BYTES:
            raise NetworkError(
                f"the line is {len(line):,} bytes long, more than {MAX_LINE_BYTES // 2**20} MiB",
                where=Where(where.file, number),
                remedy="break it into several",
            )
