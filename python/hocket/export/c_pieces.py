"""Pieces of the ranks' blocks that each message carries, and the receives that must precede each send."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from math import gcd
from typing import Final

from hocket import _core
from hocket.errors import UsageError
from hocket.export.c_tables import Receive, Row, Send, wrapped

MOST_PIECES: Final = 600_000  # 20 MB of tables
MOST_SHARES: Final = 2**31 - 1

Piece = tuple[int, int, int]  # whose block, first and last share of it


@dataclass(slots=True)
class Pieces:
    """The pieces of all messages, one list after the other."""

    shares: int  # a block is cut into so many
    lists: list[list[Piece]]  # per message
    names: list[str]

    @property
    def most(self) -> int:
        return max(map(len, self.lists), default=1)

    def text(self) -> str:
        lines = ["static const struct piece pieces[] = { /* origin, first, last */"]
        first = 0
        for pieces, name in zip(self.lists, self.names, strict=True):
            cells = wrapped([f"{{{origin}, {begin}, {end}}}" for origin, begin, end in pieces])
            lines.append(f"  /* {first}: {name} */" + (cells[1:] if len(pieces) == 1 else "\n" + cells))
            first += len(pieces)
        return "\n".join([*lines, "};"])


def carry(
    schedule: _core.Schedule, programs: list[_core.RankProgram], rows: list[Row], reduces: bool = False
) -> Pieces:
    """Gives each message of the rows its pieces, and lets each send wait for what it forwards or, where the
    schedule ``reduces``, has added up. Raises UsageError for schedules that are cut too finely."""
    carried = [program.send_pieces for program in programs]
    total = sum(len(pieces) for sends in carried for pieces in sends)
    if total > MOST_PIECES:
        raise UsageError(
            f"the schedule has {total} pieces; a routine is written for at most {MOST_PIECES}",
            remedy="choose another algorithm, or run the program with 'hocket run'",
        )
    unit = schedule.message_bytes
    for sends in carried:
        for pieces in sends:
            for _, _, offset, length in pieces:
                unit = gcd(unit, offset, length)
    shares = schedule.message_bytes // unit
    if shares > MOST_SHARES:
        raise UsageError("the schedule cuts contributions too finely", remedy="plan it with fewer --bytes")
    table = Pieces(shares, [], [])
    under_way: dict[tuple[int, int], deque[int]] = defaultdict(deque)  # messages between two ranks, in order
    first = [0]
    for src, row in enumerate(rows):
        for send, pieces in zip(row.sends, carried[src], strict=True):
            under_way[src, send.other].append(len(table.lists))
            send.carried = (first[-1], len(pieces))
            table.lists.append(
                [(origin, offset // unit, (offset + length) // unit) for origin, _, offset, length in pieces]
            )
            table.names.append(f"{src} to {send.other}, phase {send.phase}")
            first.append(first[-1] + len(pieces))
    for dst, row in enumerate(rows):
        arriving: list[list[Piece]] = []
        for receive in row.receives:
            message = under_way[receive.other, dst].popleft()
            receive.carried = (first[message], len(table.lists[message]))
            arriving.append(table.lists[message])
        leaving = [table.lists[_message_of(first, send)] for send in row.sends]
        _forward(None if reduces else dst, dst, row, arriving, leaving)
    return table


def _message_of(first: list[int], send: Send) -> int:
    from bisect import bisect_right

    assert send.carried is not None
    return bisect_right(first, send.carried[0]) - 1


def _forward(
    holder: int | None, rank: int, row: Row, arriving: list[list[Piece]], leaving: list[list[Piece]]
) -> None:
    """A send waits for the receives that bring what it forwards; ``holder`` has the whole of its block. Sends start
    in order, so the first one that needs a receive waits for it, and no other has to."""
    brought: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for number, pieces in enumerate(arriving):
        for origin, begin, end in pieces:
            brought[origin].append((number, begin, end))
    awaited: set[int] = set()
    for number, (send, pieces) in enumerate(zip(row.sends, leaving, strict=True)):
        needed = {
            receive
            for origin, begin, end in pieces
            if origin != holder
            for receive, held_from, held_to in brought[origin]
            if held_from < end and begin < held_to and row.receives[receive].phase < send.phase
        }
        for receive in sorted(needed - awaited):
            _await(rank, send, number, row.receives[receive])
        awaited |= needed


def _await(rank: int, send: Send, number: int, receive: Receive) -> None:
    if any(who == rank and which <= number for who, which in receive.releases):
        return  # a wait of this send, or of one before, for the same receive
    receive.releases.append((rank, number))
    send.tokens.append(rank)
