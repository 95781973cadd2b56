"""The files of the ranks become one list of calls.

Every rank counts runs of equal calls by itself (runtime/record/record.cpp). A call of the merged list is a stretch of a
communicator's calls during which no rank's row changes."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hocket.demand.recorded import RecordedCall
from hocket.errors import HocketError, Where
from hocket.system.files import as_error
from hocket.system.text import ranks_named

_NOTHING: Final = "no collective call was recorded"
_REMEDY: Final = "record again; on several hosts the directory of -o must be one that all of them see"

Row = tuple[tuple[int, int], ...]
Communicator = tuple[tuple[int, ...], int]  # members in their order, and which of those with these members


@dataclass(frozen=True, slots=True)
class Run:
    """Calls ``first`` … ``first + repeated - 1`` of a communicator sent the same."""

    first: int
    repeated: int
    operation: str
    row: Row


@dataclass(slots=True)
class RankRecord:
    """Record of one rank's calls."""

    rank: int
    ranks: int
    runs: dict[Communicator, list[Run]] = field(default_factory=dict)
    skipped: set[str] = field(default_factory=set)
    ended: bool = False  # by MPI_Finalize


@dataclass(slots=True)
class Recording:
    """Recorded calls, in the order of communicators and of time, and what may be missing."""

    ranks: int
    calls: list[RecordedCall]
    remarks: list[str]


def merge(folder: Path) -> Recording:
    """Reads the ranks' files. Raises HocketError if there are none, if they hold no call, or if they contradict
    each other."""
    records = {}
    for path in folder.glob("rank-*"):
        record = _read(path)
        records[record.rank] = record
    if not records:
        raise HocketError(
            _NOTHING,
            remedy="is it a program of this MPI that calls MPI_Finalize, and its MPI a shared library?",
        )
    ranks = next(iter(records.values())).ranks
    if any(record.ranks != ranks or record.rank >= ranks for record in records.values()):
        raise HocketError(f"the files in {folder} are of different programs", remedy=_REMEDY)
    remarks = []
    if died := [rank for rank in sorted(records) if not records[rank].ended]:
        remarks.append(f"{ranks_named(died)} ended without MPI_Finalize: the last calls may be missing")
    if skipped := sorted({operation for record in records.values() for operation in record.skipped}):
        remarks.append(f"calls between two groups of ranks are not recorded ({', '.join(skipped)})")
    calls: list[RecordedCall] = []
    for communicator in dict.fromkeys(c for rank in sorted(records) for c in records[rank].runs):
        if absent := [rank for rank in communicator[0] if rank not in records]:
            remarks.append(f"{ranks_named(absent)} left no record; {_REMEDY}")
            continue
        calls += _calls(communicator, records, remarks)
    if not calls and not remarks:
        raise HocketError(_NOTHING, remedy="record a program that makes collective calls")
    return Recording(ranks, calls, list(dict.fromkeys(remarks)))


def _calls(
    communicator: Communicator, records: dict[int, RankRecord], remarks: list[str]
) -> Iterator[RecordedCall]:
    members = communicator[0]
    runs = [records[rank].runs.get(communicator, []) for rank in members]
    made = [of_rank[-1].first + of_rank[-1].repeated if of_rank else 0 for of_rank in runs]
    if (end := min(made)) < max(made):
        short = [rank for rank, n in zip(members, made, strict=True) if n == end]
        remarks.append(
            f"{ranks_named(short)} made {end} of {max(made)} calls of {len(members)} ranks: the rest is left out"
        )
    if end == 0:
        return
    starts = sorted({run.first for of_rank in runs for run in of_rank if run.first < end})
    at = [0] * len(members)
    for start, stop in zip(starts, [*starts[1:], end], strict=True):
        for i, of_rank in enumerate(runs):
            while of_rank[at[i]].first + of_rank[at[i]].repeated <= start:
                at[i] += 1
        current = [of_rank[i] for of_rank, i in zip(runs, at, strict=True)]
        operations = sorted({run.operation for run in current})
        if len(operations) > 1:
            raise HocketError(
                f"ranks disagree: at the same time {' and '.join(operations)} on {len(members)} ranks",
                remedy="the program is in error: all ranks must make the same collective call",
            )
        yield RecordedCall(operations[0], members, stop - start, tuple(run.row for run in current))


def _read(path: Path) -> RankRecord:
    """A rank that was killed while it wrote may leave half a line, which counts for nothing."""
    with as_error("cannot be read", _REMEDY, where=Where(str(path))):
        lines = path.read_bytes().split(b"\n")
    if len(lines) == 1:  # not even the first line, which is written before any call
        raise HocketError(
            f"{path.name.replace('-', ' ')} could not write its record",
            remedy="make room where -o is, and record again",
        )
    number = 0
    try:
        head, *rest = lines[:-1]
        record = _head(head)
        communicators: dict[int, Communicator] = {}
        for number, line in enumerate(rest, 2):  # noqa: B007
            _add(record, communicators, line.split())
        return record
    except (ValueError, IndexError, KeyError):
        raise HocketError("is damaged", where=Where(str(path), number), remedy=_REMEDY) from None


def _head(line: bytes) -> RankRecord:
    words = line.split()
    if words[:2] != [b"hocket-rank", b"1"]:
        raise ValueError(line)
    rank, ranks = _numbers(words[2:])
    return RankRecord(rank, ranks)


def _add(record: RankRecord, communicators: dict[int, Communicator], words: list[bytes]) -> None:
    """Add one line; ValueError, IndexError or KeyError for a malformed one."""
    match words[0]:
        case b"comm":
            number, ordinal, size, *members = _numbers(words[1:])
            if len(members) != size or max(members) >= record.ranks or record.rank not in members:
                raise ValueError(words)
            communicators[number] = tuple(members), ordinal
            record.runs[communicators[number]] = []
        case b"call":
            number, first, repeated = _numbers(words[1:4])
            count, *entries = _numbers(words[5:])
            runs = record.runs[communicators[number]]
            expected = runs[-1].first + runs[-1].repeated if runs else 0
            row = tuple(zip(entries[::2], entries[1::2], strict=True))
            if (
                first != expected
                or repeated < 1
                or len(row) != count
                or any(d >= record.ranks for d, _ in row)
            ):
                raise ValueError(words)
            runs.append(Run(first, repeated, words[4].decode("ascii"), row))
        case b"skip":
            record.skipped.add(words[2].decode("ascii"))
        case b"end":
            record.ended = True
        case _:
            raise ValueError(words)


def _numbers(words: list[bytes]) -> list[int]:
    if not all(word.isdigit() and len(word) <= 20 for word in words):
        raise ValueError(words)
    return [int(word) for word in words]
