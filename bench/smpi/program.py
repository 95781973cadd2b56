"""Writes the input of exchange.c: per rank its sends, the tokens they wait for, and those its receives
release."""

from __future__ import annotations

from collections import defaultdict

from hocket._core import EVERYONE, Schedule, Waits

_OFFSET_WIDTH = 11  # digits and the end of the line


def program_text(
    schedule: Schedule,
    waits: Waits | None,
    window: int,
    *,
    barrier: bool = False,
    ahead: int = 0,
    early: int = 0,
) -> str:
    """The program of a schedule. ``window``: sends that a rank has in flight at once.

    ``ahead``: receives that a rank has posted at once; 0: all, which takes the memory of all messages.
    ``early``: bytes of a message still missing when its tokens go out and its sender goes on.

    A send that passes on what its rank received, or added up, waits for these receives, as for tokens of its own rank.
    """
    messages, pieces = _messages(schedule)
    if barrier and any(
        origin != message[1] for i, message in enumerate(messages) for origin, *_ in pieces[i]
    ):
        raise ValueError("the SMPI program forwards nothing between barriers")
    sends: list[list[int]] = [[] for _ in range(schedule.ranks)]
    receives: list[list[int]] = [[] for _ in range(schedule.ranks)]
    number: list[int] = []  # of a transfer among its sender's
    for transfer, (_, src, dst, _) in enumerate(messages):
        number.append(len(sends[src]))
        sends[src].append(transfer)
        receives[dst].append(transfer)
    awaited: list[list[int]] = [[] for _ in messages]  # ranks that send a token to the transfer's sender
    released: list[list[tuple[int, int]]] = [
        [] for _ in messages
    ]  # (rank, its send number) let go on arrival
    for transfer, before in _dependencies(messages, pieces, waits):
        awaited[transfer].append(messages[before][2])
        released[before].append((messages[transfer][1], number[transfer]))
    parts = []
    for rank in range(schedule.ranks):
        lines = [f"rank {rank} {len(sends[rank])} {len(receives[rank])}"]
        for transfer in sends[rank]:
            phase, _, dst, length = messages[transfer]
            lines.append(_line("s", phase, dst, length, len(awaited[transfer]), *awaited[transfer]))
        for transfer in receives[rank]:
            flat = [value for release in released[transfer] for value in release]
            phase, src, _, length = messages[transfer]
            lines.append(_line("r", phase, src, length, len(released[transfer]), *flat))
        parts.append("\n".join(lines) + "\n")
    head = f"hocket-smpi 2 {schedule.ranks} {window} {int(barrier)} {ahead} {early}\n"
    offsets, offset = [], len(head) + _OFFSET_WIDTH * schedule.ranks
    for part in parts:
        offsets.append(f"{offset:{_OFFSET_WIDTH - 1}d}\n")
        offset += len(part)
    return "".join([head, *offsets, *parts])


Message = tuple[int, int, int, int]  # phase, src, dst, bytes
Piece = tuple[int, int, int, int]  # origin, target, offset, length


def _messages(schedule: Schedule) -> tuple[list[Message], list[list[Piece]]]:
    """Rows to messages: the rows of one all-gather message follow each other."""
    messages: list[Message] = []
    pieces: list[list[Piece]] = []
    for phase, src, dst, origin, target, offset, length in schedule.rows():
        if target == EVERYONE and messages and messages[-1][:3] == (phase, src, dst):
            messages[-1] = (phase, src, dst, messages[-1][3] + length)
        else:
            messages.append((phase, src, dst, length))
            pieces.append([])
        pieces[-1].append((origin, target, offset, length))
    return messages, pieces


def _dependencies(
    messages: list[Message], pieces: list[list[Piece]], waits: Waits | None
) -> list[tuple[int, int]]:
    """(later, earlier) pairs: the waits, and a piece after the receives that brought it or were added to it."""
    pairs: set[tuple[int, int]] = set()
    arrivals: dict[tuple[int, int, int], list[tuple[int, int, int]]] = defaultdict(list)
    for transfer, (phase, src, dst, _) in enumerate(messages):
        for origin, target, offset, length in pieces[transfer]:
            for earlier, begin, end in arrivals[src, origin, target]:
                if begin < offset + length and offset < end and messages[earlier][0] < phase:
                    pairs.add((transfer, earlier))
        for origin, target, offset, length in pieces[transfer]:
            arrivals[dst, origin, target].append((transfer, offset, offset + length))
        if waits is not None:
            pairs.update((transfer, before) for before in waits.of(transfer))
    return sorted(pairs)


def _line(kind: str, *values: int) -> str:
    return " ".join([kind, *map(str, values)])
