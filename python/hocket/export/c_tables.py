"""The tables of a generated routine: what each rank sends and receives, and who waits for whom."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

RECEIVES: Final = 16  # posted ahead
WIDTH: Final = 100


@dataclass(slots=True)
class Send:
    """A message that a rank sends."""

    phase: int
    other: int
    tokens: list[int]  # from whom they must have come; the rank itself: one of its receives must be over
    carried: tuple[int, int] | None = None  # first and number of its pieces; None: the whole message


@dataclass(slots=True)
class Receive:
    """A message that a rank receives."""

    phase: int
    other: int
    releases: list[tuple[int, int]] = field(default_factory=list)  # who waits, with which send
    carried: tuple[int, int] | None = None


@dataclass(slots=True)
class Row:
    """Sends and receives of one rank, in order."""

    sends: list[Send]
    receives: list[Receive]


class _Tables(ABC):
    template = ""
    send_fields = ""
    receive_fields = ""
    before = ""  # declarations that the structures need
    send_heading = ""
    receive_heading = ""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.width = len(str(len(rows)))
        self.carrying = any(send.carried is not None for row in rows for send in row.sends)

    @property
    def structs(self) -> str:
        carried = "  int piece, pieces; /* what it carries: so many, from pieces[piece] on */\n"
        carried = carried if self.carrying else ""
        return (
            f"struct send {{\n  int phase, to;\n{carried}{self.send_fields}}};\n{self.before}"
            f"struct receive {{\n  int phase, from;\n{carried}{self.receive_fields}}};"
        )

    def sizes(self, window: int, phases: int) -> str:
        most = max((max(len(row.sends), len(row.receives)) for row in self.rows), default=0)
        return "\n".join([
            f"#define MESSAGES {max(most, 1)} /* most that one rank sends, or receives */",
            f"#define PHASES {phases}",
            *self._sizes(window),
        ])  # fmt: skip

    def text(self) -> str:
        carried = ", piece, pieces" if self.carrying else ""
        parts = []
        for rank, row in enumerate(self.rows):
            for kind, heading, lines in (
                ("send", self.send_heading, [self._send(send, rank) for send in row.sends]),
                ("receive", self.receive_heading, [self._receive(receive) for receive in row.receives]),
            ):
                other = {"send": "phase, to", "receive": "phase, from"}[kind]
                parts.append(f"/* {other}{carried}{heading} */")
                parts.append(f"static const struct {kind} {kind}s_of_{rank}[MESSAGES] = {{")
                parts.append(self._lines(lines or ["{0}"]))
                parts.append("};")
        counts = (
            ("sends", [str(len(row.sends)) for row in self.rows]),
            ("receives", [str(len(row.receives)) for row in self.rows]),
        )
        for name, numbers in counts:
            parts.append(f"static const int number_of_{name}[RANKS] = {{\n{wrapped(numbers)}\n}};")
        return "\n".join(parts) + "\n" + _pointers(len(self.rows))

    def _start(self, message: Send | Receive) -> str:
        start = f"{message.phase}, {message.other:{self.width}}"
        if message.carried is not None:
            start += ", {}, {}".format(*message.carried)
        return start

    @abstractmethod
    def _sizes(self, window: int) -> list[str]: ...

    @abstractmethod
    def _send(self, send: Send, rank: int) -> str: ...

    @abstractmethod
    def _receive(self, receive: Receive) -> str: ...

    @abstractmethod
    def _lines(self, lines: list[str]) -> str: ...


class TokenTables(_Tables):
    """Tables of tokens: those awaited before each send, and those released after each receive."""

    template = "tokens.c.in"
    send_fields = (
        "  int own;          /* receives of this rank that must be over first */\n"
        "  int tokens;       /* tokens that must have come first, */\n"
        "  int from[TOKENS]; /* and from whom */\n"
    )
    before = "struct release {\n  int rank, send; /* who waits, with which of its sends */\n};\n"
    receive_fields = (
        "  int releases;                     /* tokens to send when it is in */\n"
        "  struct release release[RELEASES]; /* to this rank itself: no message, only a note */\n"
    )
    send_heading = ", own receives, tokens, from"
    receive_heading = ", releases, rank and send"

    def _sizes(self, window: int) -> list[str]:
        # A rank that waits for its own receive needs no message.
        tokens = max(
            (
                sum(token != rank for token in send.tokens)
                for rank, row in enumerate(self.rows)
                for send in row.sends
            ),
            default=0,
        )
        releases = max((len(r.releases) for row in self.rows for r in row.receives), default=0)
        released = max(
            sum(to != rank for receive in row.receives for to, _ in receive.releases)
            for rank, row in enumerate(self.rows)
        )
        most_sends = max(max(len(row.sends) for row in self.rows), 1)
        most_receives = max(max(len(row.receives) for row in self.rows), 1)
        at_once = max(_most_in_a_phase(row.sends) for row in self.rows)
        ahead = max(RECEIVES, *(_most_in_a_phase(row.receives) for row in self.rows))
        window = min(window, most_sends)
        return [
            f"#define WINDOW {window} /* messages of a rank under way at once, those of one phase as one */",
            f"#define SENDING {min(max(window - 1 + at_once, 1), most_sends)} /* all that are under way */",
            f"#define RECEIVES {min(ahead, most_receives)} /* posted ahead */",
            f"#define TOKENS {max(tokens, 1)} /* most that one send waits for */",
            f"#define RELEASES {max(releases, 1)} /* most that one receive sends */",
            f"#define RELEASED {max(released, 1)} /* most that one rank sends */",
        ]

    def _send(self, send: Send, rank: int) -> str:
        tokens = [token for token in send.tokens if token != rank]
        own = len(send.tokens) - len(tokens)
        return f"{{{self._start(send)}, {own}, {len(tokens)}, {{{_numbers(tokens)}}}}}"

    def _receive(self, receive: Receive) -> str:
        return f"{{{self._start(receive)}, {len(receive.releases)}, {{{_pairs(receive.releases)}}}}}"

    def _lines(self, lines: list[str]) -> str:
        return "\n".join(f"  {line}," for line in lines)


class BarrierTables(_Tables):
    """Phases alone."""

    template = "barrier.c.in"

    def _sizes(self, window: int) -> list[str]:
        most = max(
            max(
                (Counter(m.phase for m in row.sends) + Counter(m.phase for m in row.receives)).values(),
                default=0,
            )
            for row in self.rows
        )
        return [f"#define IN_PHASE {max(most, 2)} /* most that a rank sends and receives in one phase */"]

    def _send(self, send: Send, rank: int) -> str:
        return f"{{{self._start(send)}}}"

    def _receive(self, receive: Receive) -> str:
        return f"{{{self._start(receive)}}}"

    def _lines(self, lines: list[str]) -> str:
        return wrapped(lines)


def _most_in_a_phase(messages: Sequence[Send | Receive]) -> int:
    return max(Counter(message.phase for message in messages).values(), default=0)


def _numbers(values: list[int]) -> str:
    return ", ".join(map(str, values)) or "0"


def _pairs(releases: list[tuple[int, int]]) -> str:
    return ", ".join(f"{{{rank}, {send}}}" for rank, send in releases) or "{0, 0}"


def wrapped(items: list[str], indent: str = "  ") -> str:
    lines, line = [], indent
    for item in items:
        if len(line) + len(item) + 2 > WIDTH and line != indent:
            lines.append(line.rstrip())
            line = indent
        line += item + ", "
    return "\n".join([*lines, line.rstrip()])


def _pointers(ranks: int) -> str:
    return "\n".join(
        f"static const struct {kind} *const {kind}s[RANKS] = {{\n"
        + wrapped([f"{kind}s_of_{rank}" for rank in range(ranks)])
        + "\n};"
        for kind in ("send", "receive")
    )
