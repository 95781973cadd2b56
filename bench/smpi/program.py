"""What alltoall.c reads: per rank its sends, the tokens they wait for, and those its receives release."""

from __future__ import annotations

from hocket._core import Schedule, Waits


def program_text(schedule: Schedule, waits: Waits | None, window: int, *, barrier: bool = False) -> str:
    """The program of a schedule of whole messages. ``window``: sends that a rank has in flight at once."""
    rows = schedule.rows()
    sends: list[list[int]] = [[] for _ in range(schedule.ranks)]
    receives: list[list[int]] = [[] for _ in range(schedule.ranks)]
    number: list[int] = []  # of a transfer among its sender's
    for transfer, (_, src, dst, origin, target, _, _) in enumerate(rows):
        if (origin, target) != (src, dst):
            raise ValueError("the SMPI program sends whole messages only")
        number.append(len(sends[src]))
        sends[src].append(transfer)
        receives[dst].append(transfer)
    awaited: list[list[int]] = [[] for _ in rows]  # ranks that send a token to the transfer's sender
    released: list[list[tuple[int, int]]] = [
        [] for _ in rows
    ]  # (rank, its send number) let go by the arrival
    for transfer, row in enumerate(rows) if waits is not None else ():
        for before in waits.of(transfer):
            releaser = rows[before][2]
            awaited[transfer].append(releaser)
            released[before].append((row[1], number[transfer]))
    lines = [f"hocket-smpi 1 {schedule.ranks} {window} {int(barrier)}"]
    for rank in range(schedule.ranks):
        lines.append(f"rank {rank} {len(sends[rank])} {len(receives[rank])}")
        for transfer in sends[rank]:
            phase, _, dst, _, _, _, length = rows[transfer]
            lines.append(_line("s", phase, dst, length, len(awaited[transfer]), *awaited[transfer]))
        for transfer in receives[rank]:
            flat = [value for release in released[transfer] for value in release]
            lines.append(_line("r", rows[transfer][1], rows[transfer][6], len(released[transfer]), *flat))
    return "\n".join(lines) + "\n"


def _line(kind: str, *values: int) -> str:
    return " ".join([kind, *map(str, values)])
