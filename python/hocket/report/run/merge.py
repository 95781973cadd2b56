"""The accounts of all ranks as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hocket.report.run.ranks import ChoiceRow, RankReport, RankRow, Site

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
    call, site, communicator, scheduled, why, detail = kind
    return Line(
        call=call,
        site=site,
        communicator=communicator,
        scheduled=scheduled,
        why=why,
        detail=detail,
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
