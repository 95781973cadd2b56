"""Writes the input of exchange.c: per rank its sends, the tokens they wait for, and those its receives
release."""

from __future__ import annotations

from hocket._core import Schedule, Waits

from hocket.export.transfers import causes_of, in_order

_OFFSET_WIDTH = 11  # digits and the end of the line


def program_text(schedule: Schedule, waits: Waits | None, window: int, *, barrier: bool = False) -> str:
    """The program of a schedule. ``window``: sends that a rank has in flight at once.

    A send that passes on what its rank received, or added up, waits for these receives, as for tokens of its own rank.
    """
    messages = in_order(schedule)
    if barrier and any(piece.origin != message.src for message in messages for piece in message.pieces):
        raise ValueError("the SMPI program forwards nothing between barriers")
    sends: list[list[int]] = [[] for _ in range(schedule.ranks)]
    receives: list[list[int]] = [[] for _ in range(schedule.ranks)]
    number: list[int] = []  # of a transfer among its sender's
    for transfer, message in enumerate(messages):
        number.append(len(sends[message.src]))
        sends[message.src].append(transfer)
        receives[message.dst].append(transfer)
    causes = causes_of(messages, waits)
    released: list[list[tuple[int, int]]] = [
        [] for _ in messages
    ]  # (rank, its send number) let go on arrival
    for transfer, message in enumerate(messages):
        for cause in causes[transfer]:
            released[cause].append((message.src, number[transfer]))
    parts = []
    for rank in range(schedule.ranks):
        lines = [f"rank {rank} {len(sends[rank])} {len(receives[rank])}"]
        for transfer in sends[rank]:
            message, awaited = messages[transfer], [messages[cause].dst for cause in causes[transfer]]
            lines.append(_line("s", message.phase, message.dst, message.bytes, len(awaited), *awaited))
        for transfer in receives[rank]:
            flat = [value for release in released[transfer] for value in release]
            message = messages[transfer]
            lines.append(
                _line("r", message.phase, message.src, message.bytes, len(released[transfer]), *flat)
            )
        parts.append("\n".join(lines) + "\n")
    head = f"hocket-smpi 3 {schedule.ranks} {window} {int(barrier)}\n"
    offsets, offset = [], len(head) + _OFFSET_WIDTH * schedule.ranks
    for part in parts:
        offsets.append(f"{offset:{_OFFSET_WIDTH - 1}d}\n")
        offset += len(part)
    return "".join([head, *offsets, *parts])


def _line(kind: str, *values: int) -> str:
    return " ".join([kind, *map(str, values)])
