"""Recorded traffic: what each collective call of a program sent, as ``hocket record`` writes it.

JSON with one line per call (docs/formats.md). Rows are sparse, and all ranks are world ranks."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeGuard

from hocket.demand.traffic import MOST_RANKS, Source, Traffic
from hocket.system.text import picked
from hocket.units import MOST_BYTES

FORMAT: Final = "hocket-traffic"
VERSION: Final = 1
_REMEDY: Final = "record it again with 'hocket record'"
_MOST_LISTED: Final = 8


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A recorded collective call: row i holds (receiver, bytes) of what ``members[i]`` sent.

    ``repeated``: how often the program made it in a row with the same counts."""

    operation: str
    members: tuple[int, ...]
    repeated: int
    rows: tuple[tuple[tuple[int, int], ...], ...]

    @property
    def messages(self) -> int:
        return sum(1 for _ in self._messages())

    @property
    def bytes(self) -> int:
        return sum(size for _, _, size in self._messages())

    def _messages(self) -> Iterator[tuple[int, int, int]]:
        for src, row in zip(self.members, self.rows, strict=True):
            for dst, size in row:
                if dst != src and size:
                    yield src, dst, size


def write(ranks: int, calls: Sequence[RecordedCall]) -> Iterator[bytes]:
    """The file, in pieces."""
    head = {"format": FORMAT, "version": VERSION, "ranks": ranks}
    yield (json.dumps(head)[:-1] + ', "calls": [').encode()
    for number, call in enumerate(calls, 1):
        line = {"call": number} | picked(call, "operation", "repeated", "members", "rows")
        yield (",\n" if number > 1 else "\n").encode() + json.dumps(line, separators=(",", ":")).encode()
    yield b"\n]}\n"


def begins(data: bytes) -> bool:
    return data[:64].lstrip().startswith(b"{")


def read(source: Source) -> Traffic:
    """The traffic of the call that was asked for; without one the file must hold a single call."""
    ranks, calls = _parse(source)
    return _traffic(source, ranks, _chosen(source, calls), source.call or 1)


def _parse(source: Source) -> tuple[int, list[Any]]:
    def no_number(text: str) -> NoReturn:
        raise ValueError(f"{text} is not a number of bytes")

    try:
        whole = json.loads(source.text(), parse_constant=no_number)
    except json.JSONDecodeError as problem:
        raise source.error(f"is not JSON: {problem.msg}", problem.lineno, _REMEDY) from None
    except ValueError as problem:
        raise source.error(f"is not recorded traffic: {str(problem)[:80]}", remedy=_REMEDY) from None
    except RecursionError:
        raise source.error("is nested too deep", remedy=_REMEDY) from None
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        raise source.error("this JSON is not recorded traffic", remedy=_REMEDY)
    if whole.get("version") != VERSION:
        raise source.error(f"another version of recorded traffic than {VERSION}", remedy=_REMEDY)
    ranks, calls = whole.get("ranks"), whole.get("calls")
    if not _is_count(ranks, MOST_RANKS) or ranks == 0 or not isinstance(calls, list):
        raise source.error("ranks or calls are missing", remedy=_REMEDY)
    return ranks, calls


def _chosen(source: Source, calls: list[Any]) -> Any:
    number = source.call
    if not calls:
        raise source.error("holds no calls", remedy="record a program that makes collective calls")
    if number is None and len(calls) > 1:
        listed = "; ".join(f"{i}: {_title(call)}" for i, call in enumerate(calls[:_MOST_LISTED], 1))
        more = "" if len(calls) <= _MOST_LISTED else "; …"
        raise source.error(
            f"holds {len(calls)} calls ({listed}{more})", remedy=f"name one, such as {source.name}:1"
        )
    if number is None:
        number = 1
    if not 1 <= number <= len(calls):
        raise source.error(f"there is no call {number}", remedy=f"calls count from 1 to {len(calls)}")
    return calls[number - 1]


def _title(call: Any) -> str:
    operation = call.get("operation") if isinstance(call, dict) else None
    members = call.get("members") if isinstance(call, dict) else None
    named = operation[:40] if isinstance(operation, str) else "?"
    return f"{named} of {len(members)} ranks" if isinstance(members, list) else named


def _traffic(source: Source, ranks: int, call: Any, number: int) -> Traffic:
    def bad(what: str) -> NoReturn:
        raise source.error(f"call {number}: {what}", remedy=_REMEDY)

    members = call.get("members") if isinstance(call, dict) else None
    rows = call.get("rows") if isinstance(call, dict) else None
    if not isinstance(members, list) or not isinstance(rows, list) or len(members) != len(rows):
        bad("members and rows are missing or differ in number")
    traffic = Traffic(ranks, source)
    senders: set[int] = set()
    for src, row in zip(members, rows, strict=True):
        if not _is_count(src, ranks - 1) or src in senders:
            bad("a member is not a rank, or listed twice")
        senders.add(src)
        if not isinstance(row, list):
            bad(f"the row of rank {src} is none")
        receivers: set[int] = set()
        for entry in row:
            if not isinstance(entry, list) or len(entry) != 2 or not _is_count(entry[0], ranks - 1):
                bad(f"the row of rank {src} names a receiver that is not a rank")
            dst, size = entry
            if not _is_count(size, MOST_BYTES):
                bad(f"rank {src} sends what is not a number of bytes to rank {dst}")
            if dst in receivers:
                bad(f"rank {src} sends twice to rank {dst}")
            receivers.add(dst)
            traffic.add(src, dst, size)
    return traffic


def _is_count(value: Any, most: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most
