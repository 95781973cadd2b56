"""Files that ranks leave in the directory of HOCKET_REPORT, lines of JSON read with bounds checks, and their sums."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

from hocket.errors import HocketError, ReportError, Where
from hocket.system.files import decode, read_limited
from hocket.system.records import Limits, record, value
from hocket.system.text import where_is

_MOST_BYTES: Final = 64 << 20  # of a file
_REMEDY: Final = "run the program again; all hosts need the same Hocket, and room for the report"
_MOST_INT: Final = 2**31 - 1
Number: TypeAlias = Annotated[int, Limits(0, _MOST_INT)]  # of ranks or hosts, as C counts them


@dataclass(frozen=True, slots=True, order=True)
class Site:
    """Place in the program of a call, as its process saw it."""

    object: str  # path of program or library; empty: unknown
    offset: int  # in it, as addr2line wants it
    function: str  # empty: the object does not say
    into: int  # bytes from the function's beginning


@dataclass(frozen=True, slots=True)
class RankRow:
    """Calls of one rank with the same call, place, communicator size, order of message size and outcome."""

    call: str  # MPI_Alltoall
    site: Site
    communicator: Number  # ranks
    least: int  # bytes per message, as the next
    most: int
    scheduled: bool
    why: str  # of calls that the MPI library served
    detail: str  # of scheduled ones, by what: "switch-ring", "aggregates by switch-ring"; else why in words
    calls: int
    exchanges: int  # a persistent request makes many, or none
    bytes: int  # to other ranks
    seconds: float  # in the calls
    under_way: float  # seconds from starts to ends of requests
    predicted: float  # seconds; 0: this rank does not know
    bound: float  # seconds; 0: this rank does not know

    @property
    def time(self) -> float:
        """Seconds that exchanges took: in the call, or from start to end."""
        return self.under_way or self.seconds


@dataclass(frozen=True, slots=True)
class ChoiceRow:
    """Results of the trials for calls of one kind and size on one communicator, as its first rank reports them."""

    collective: str  # all-to-all
    candidate: str  # native, or the schedule that serves them by now
    communicator: Number  # ranks
    hosts: Number
    message: int  # bytes, in the first of the calls
    calls: int
    trials: int
    native: float  # seconds of a call; 0: not known, as the next
    predicted: float
    measured: float


@dataclass(frozen=True, slots=True)
class RankReport:
    rank: Annotated[int, Limits(-1, _MOST_INT)]  # in MPI_COMM_WORLD; -1: unknown
    host: str
    pid: int
    spawned: bool  # by other ranks
    finished: bool  # MPI has ended
    rows: tuple[RankRow, ...]
    choices: tuple[ChoiceRow, ...] = ()


def _fields(line: str, where: Where) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        raise ReportError("is not JSON", where=where, remedy=_REMEDY) from None
    if not isinstance(values, dict):
        raise ReportError("is not a JSON object", where=where, remedy=_REMEDY)
    return values


@contextmanager
def _placed(where: Where) -> Iterator[None]:
    """Raises as errors of this line what :func:`hocket.system.records.record` raises."""
    try:
        yield
    except ValueError as problem:
        raise ReportError(str(problem), where=where, remedy=_REMEDY) from None


def read_rank(path: Path) -> RankReport:
    """Read one file. Raises ReportError if it is damaged."""
    where = where_is(str(path))
    data = read_limited(str(path), _MOST_BYTES, "the report of a rank", ReportError)
    lines = decode(data, where, ReportError).split("\n")
    head = Where(where.file, 1)
    first = _fields(lines[0], head)
    with _placed(head):
        if value("hocket_report", int, first.get("hocket_report")) != 1:
            raise ReportError("is of another version", where=head, remedy=_REMEDY)
        rows, choices = (value(name, int, first.get(name)) for name in ("rows", "choices"))
        if len(lines) != rows + choices + 2 or lines[-1]:
            raise ReportError("does not have as many lines as it says", where=where, remedy=_REMEDY)
        report = record(RankReport, first, rows=(), choices=())
    of_rows: list[RankRow] = []
    of_choices: list[ChoiceRow] = []
    for number, line in enumerate(lines[1:-1], 2):
        told = _fields(line, Where(where.file, number))
        with _placed(Where(where.file, number)):
            if number < rows + 2:
                of_rows.append(record(RankRow, told, site=record(Site, told)))
            else:
                collective = value("choice", str, told.get("choice"))
                of_choices.append(record(ChoiceRow, told, collective=collective))
    return replace(report, rows=tuple(of_rows), choices=tuple(of_choices))


def read_ranks(directory: Path) -> tuple[list[RankReport], list[str]]:
    """Reports that ranks have left, by rank, and the problems of files that cannot be read."""
    reports, problems = [], []
    for path in sorted(directory.iterdir()):
        if path.suffix == ".new":  # never finished
            continue
        try:
            reports.append(read_rank(path))
        except HocketError as error:
            problems.append(str(error))
    return sorted(reports, key=lambda report: (report.spawned, report.rank, report.pid)), problems


_Kind = tuple[str, Site, int, bool, str, str]


@dataclass(frozen=True, slots=True)
class Line:
    """Calls of all ranks that have call, place, communicator size and outcome in common, and the order of
    their message size where every rank has the same of each order."""

    call: str
    site: Site
    communicator: int  # ranks
    scheduled: bool
    why: str
    detail: str  # as of a RankRow
    ranks: int  # that made these calls
    calls: int  # of a rank, at most
    exchanges: int  # of a rank, at most
    least: int  # bytes per message, as the next
    most: int
    bytes: int  # of all ranks, each to others
    seconds: tuple[float, float, float]  # least, mean and most of a rank
    predicted: float | None  # seconds by the model, of the communicator that takes longest
    bound: float | None  # seconds, of that communicator; no schedule on these routes is faster

    @property
    def mean(self) -> float:
        return self.seconds[1]


@dataclass(frozen=True, slots=True)
class Account:
    """Reports of all ranks, merged."""

    lines: tuple[Line, ...]  # the longest time first
    told: int  # processes
    silent: tuple[int, ...]  # ranks of which nothing is known
    cut_short: tuple[int, ...]  # ranks that have ended without MPI_Finalize
    problems: tuple[str, ...] = ()  # files that cannot be read
    choices: tuple[ChoiceRow, ...] = ()  # the longest time first


def _line(kind: _Kind, rows_of: Sequence[Sequence[RankRow]]) -> Line:
    """``rows_of``: of each rank that has any."""
    rows = [row for of_rank in rows_of for row in of_rank]
    times = [sum(row.time for row in of_rank) for of_rank in rows_of]
    call = kind[0]
    return Line(
        *kind,
        ranks=len(rows_of),
        calls=max(sum(row.calls for row in of_rank) for of_rank in rows_of),
        exchanges=max(sum(row.exchanges for row in of_rank) for of_rank in rows_of),
        least=min(row.least for row in rows),
        most=max(row.most for row in rows),
        bytes=sum(row.bytes for row in rows),
        seconds=(min(times), sum(times) / len(times), max(times)),
        predicted=_predicted(call, rows_of) or None,
        bound=None if _unequal(call, rows_of) else max(map(_bound, rows_of)) or None,
    )


def _predicted(call: str, rows_of: Sequence[Sequence[RankRow]]) -> float:
    seconds = [sum(row.predicted for row in of_rank) for of_rank in rows_of]
    if not _unequal(call, rows_of):
        return max(seconds)
    mean = sum(row.bytes for of_rank in rows_of for row in of_rank) / len(rows_of)
    own = [sum(row.bytes for row in of_rank) for of_rank in rows_of]
    return max((told * mean / sent for told, sent in zip(seconds, own, strict=True) if sent > 0), default=0.0)


def _bound(rows: Sequence[RankRow]) -> float:
    return sum(row.bound for row in rows)


def _unequal(call: str, rows_of: Sequence[Sequence[RankRow]]) -> bool:
    """An all-gather of contributions that differ: its ranks reckon as if all were like their own."""
    return "allgather" in call.lower() and len({sum(row.bytes for row in of_rank) for of_rank in rows_of}) > 1


def _lines_of(kind: _Kind, rows_of: Sequence[Sequence[RankRow]]) -> list[Line]:
    """Make one line per order of size if all ranks have made the same number of calls of each, else one for
    all: messages of different sizes may be of another order on every rank."""
    by_order = [_by_order(of_rank) for of_rank in rows_of]
    calls = [
        {order: sum(row.calls for row in rows) for order, rows in of_rank.items()} for of_rank in by_order
    ]
    if any(of_rank != calls[0] for of_rank in calls):
        return [_line(kind, rows_of)]
    return [_line(kind, [of_rank[order] for of_rank in by_order]) for order in calls[0]]


def _by_order(rows: Iterable[RankRow]) -> dict[int, list[RankRow]]:
    orders: defaultdict[int, list[RankRow]] = defaultdict(list)
    for row in rows:
        orders[row.least.bit_length()].append(row)
    return orders


def merge(
    reports: Iterable[RankReport],
    ranks: int,
    problems: Iterable[str] = (),
    same: Mapping[Site, Site] | None = None,
) -> Account:
    """``ranks``: how many were started. ``same``: what stands for places that are one to people."""
    same = same or {}
    reports = list(reports)
    kinds: defaultdict[_Kind, list[list[RankRow]]] = defaultdict(list)
    for report in reports:
        of_rank: defaultdict[_Kind, list[RankRow]] = defaultdict(list)
        for row in report.rows:
            site = same.get(row.site, row.site)
            of_rank[row.call, site, row.communicator, row.scheduled, row.why, row.detail].append(row)
        for kind, rows in of_rank.items():
            kinds[kind].append(rows)
    lines = [line for kind, rows_of in kinds.items() for line in _lines_of(kind, rows_of)]
    started = {report.rank for report in reports if not report.spawned}
    return Account(
        lines=tuple(sorted(lines, key=lambda line: (-line.mean, line.call, line.site, line.least))),
        told=len(reports),
        silent=tuple(rank for rank in range(ranks) if rank not in started),
        cut_short=tuple(report.rank for report in reports if not report.finished and not report.spawned),
        problems=tuple(problems),
        choices=tuple(
            sorted(
                (row for report in reports for row in report.choices),
                key=lambda row: (-row.calls * row.measured, row.collective, row.message),
            )
        ),
    )
