"""The tables of a generated routine: what each rank sends and receives, which pieces of blocks messages carry, and who
waits for whom."""

from bisect import bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import Final

from hocket import _core
from hocket.errors import UsageError

RECEIVES: Final = 16  # posted ahead
WIDTH: Final = 100
MOST_PIECES: Final = 600_000  # 20 MB of tables
MOST_SHARES: Final = 2**31 - 1

Piece = tuple[int, int, int]  # whose block, first and last share of it


@dataclass(slots=True)
class Send:
    """A message that a rank sends."""

    phase: int
    other: int
    tokens: list[int]  # from whom they must have come; the rank itself: one of its receives must be over
    carried: tuple[int, int] = (0, 1)  # first and number of its pieces


@dataclass(slots=True)
class Receive:
    """A message that a rank receives."""

    phase: int
    other: int
    releases: list[tuple[int, int]] = field(default_factory=list)  # who waits, with which send
    carried: tuple[int, int] = (0, 1)


@dataclass(slots=True)
class Row:
    """Sends and receives of one rank, in order."""

    sends: list[Send]
    receives: list[Receive]


@dataclass(slots=True)
class Pieces:
    """The pieces of all messages, one list after the other, each with its name."""

    shares: int  # a block is cut into so many
    lists: list[list[Piece]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def text(self) -> str:
        lines = ["static const struct piece pieces[] = { /* origin, first, last */"]
        first = 0
        for pieces, name in zip(self.lists, self.names, strict=True):
            cells = wrapped([f"{{{origin}, {begin}, {end}}}" for origin, begin, end in pieces])
            lines.append(f"  /* {first}: {name} */" + (cells[1:] if len(pieces) == 1 else "\n" + cells))
            first += len(pieces)
        return "\n".join([*lines, "};"])


def whole_blocks(rows: list[Row]) -> Pieces:
    """Every message carries the block of the rank that it goes to, out of what is sent, or comes from."""
    for row in rows:
        messages: list[Send | Receive] = [*row.sends, *row.receives]
        for message in messages:
            message.carried = (message.other, 1)
    ranks = range(len(rows))
    return Pieces(1, [[(rank, 0, 1)] for rank in ranks], [f"the block of rank {rank}" for rank in ranks])


def carry(
    schedule: _core.Schedule, programs: list[_core.RankProgram], rows: list[Row], reduces: bool = False
) -> Pieces:
    """Gives each message of the rows its pieces, and lets each send wait for what it forwards or, where the
    schedule ``reduces``, has added up. Raises UsageError for schedules that are cut too finely."""
    carried = [program.send_pieces for program in programs]
    if (total := sum(len(pieces) for sends in carried for pieces in sends)) > MOST_PIECES:
        raise UsageError(
            f"the schedule has {total} pieces; a routine is written for at most {MOST_PIECES}",
            remedy="choose another algorithm, or run the program with 'hocket run'",
        )
    unit = schedule.message_bytes
    for sends in carried:
        for pieces in sends:
            for _, _, offset, length in pieces:
                unit = gcd(unit, offset, length)
    table = Pieces(schedule.message_bytes // unit)
    if table.shares > MOST_SHARES:
        raise UsageError("the schedule cuts contributions too finely", remedy="plan it with fewer --bytes")
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
        leaving = [table.lists[bisect_right(first, send.carried[0]) - 1] for send in row.sends]
        _forward(None if reduces else dst, dst, row, arriving, leaving)
    return table


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
        for needs in sorted(needed - awaited):
            releases = row.receives[needs].releases
            # A wait of this send, or of one before, for the same receive is enough.
            if not any(who == rank and which <= number for who, which in releases):
                releases.append((rank, number))
                send.tokens.append(rank)
        awaited |= needed


def sizes(rows: list[Row], pieces: Pieces, window: int) -> dict[str, tuple[int, str]]:
    """Constants of a routine, each with its meaning."""
    # A rank that waits for its own receive needs no message.
    tokens = max(
        (sum(token != rank for token in send.tokens) for rank, row in enumerate(rows) for send in row.sends),
        default=0,
    )
    releases = max((len(receive.releases) for row in rows for receive in row.receives), default=0)
    released = max(
        sum(to != rank for receive in row.receives for to, _ in receive.releases)
        for rank, row in enumerate(rows)
    )
    most_sends = max(1, *(len(row.sends) for row in rows))
    most_receives = max(1, *(len(row.receives) for row in rows))
    at_once = max(_most_in_a_phase(row.sends) for row in rows)
    ahead = max(RECEIVES, *(_most_in_a_phase(row.receives) for row in rows))
    window = min(window, most_sends)
    return {
        "MESSAGES": (max(most_sends, most_receives), "most that one rank sends, or receives"),
        "WINDOW": (window, "messages of a rank under way at once, those of one phase as one"),
        "SENDING": (min(max(window - 1 + at_once, 1), most_sends), "all that are under way"),
        "RECEIVES": (min(ahead, most_receives), "posted ahead"),
        "TOKENS": (max(tokens, 1), "most that one send waits for"),
        "RELEASES": (max(releases, 1), "most that one receive sends"),
        "RELEASED": (max(released, 1), "most that one rank sends"),
        "SHARES": (pieces.shares, "into which a block is cut"),
        "PIECES": (max(map(len, pieces.lists), default=1), "most that one message carries"),
    }


def text(rows: list[Row], pieces: Pieces) -> str:
    """The tables in C."""
    width = len(str(len(rows)))
    parts = [pieces.text(), ""]
    for rank, row in enumerate(rows):
        sends = []
        for send in row.sends:
            tokens = [token for token in send.tokens if token != rank]
            own = len(send.tokens) - len(tokens)
            sends.append(
                f"{_start(send, width)}, {own}, {len(tokens)}, {{{', '.join(map(str, tokens)) or '0'}}}"
            )
        receives = []
        for receive in row.receives:
            releases = ", ".join(f"{{{who}, {which}}}" for who, which in receive.releases) or "{0, 0}"
            receives.append(f"{_start(receive, width)}, {len(receive.releases)}, {{{releases}}}")
        for kind, heading, lines in (
            ("send", "phase, to, piece, pieces, own receives, tokens, from", sends),
            ("receive", "phase, from, piece, pieces, releases, rank and send", receives),
        ):
            parts.append(f"/* {heading} */\nstatic const struct {kind} {kind}s_of_{rank}[MESSAGES] = {{")
            parts += [f"  {{{line}}}," for line in lines or ["0"]]
            parts.append("};")
    for kind, counts in (
        ("send", [str(len(row.sends)) for row in rows]),
        ("receive", [str(len(row.receives)) for row in rows]),
    ):
        names = wrapped([f"{kind}s_of_{rank}" for rank in range(len(rows))])
        parts.append(f"static const int number_of_{kind}s[RANKS] = {{\n{wrapped(counts)}\n}};")
        parts.append(f"static const struct {kind} *const {kind}s[RANKS] = {{\n{names}\n}};")
    return "\n".join(parts)


def _start(message: Send | Receive, width: int) -> str:
    return f"{message.phase}, {message.other:{width}}, {message.carried[0]}, {message.carried[1]}"


def _most_in_a_phase(messages: Sequence[Send | Receive]) -> int:
    return max(Counter(message.phase for message in messages).values(), default=0)


def wrapped(items: list[str], indent: str = "  ") -> str:
    lines, line = [], indent
    for item in items:
        if len(line) + len(item) + 2 > WIDTH and line != indent:
            lines.append(line.rstrip())
            line = indent
        line += item + ", "
    return "\n".join([*lines, line.rstrip()])
