"""The messages that a file describes, checked one by one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hocket.errors import DemandError
from hocket.system.text import where_is
from hocket.units import MOST_BYTES

if TYPE_CHECKING:
    from hocket._core import Demand
    from hocket.demand.source import Source

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
