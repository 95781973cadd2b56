"""Requests for measurements, and the figures and tables of what was measured; needs no MPI."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from operator import attrgetter
from typing import Any, Final, Literal, Self

import numpy as np
import numpy.typing as npt

from hocket import _core
from hocket.demand import collectives
from hocket.errors import UsageError
from hocket.units import parse_bytes

MOST_BYTES: Final = 1 << 30  # of a message
_LEAST_FACTOR: Final = 2
_REMEDY: Final = "write a range such as 8:1M or 8:1M:4, or a list such as 8,64,1K"
_BINARY: Final = {"K": 10, "M": 20, "G": 30}
_SHORT: Final = re.compile(r"(\d{1,18})([KMG])", re.IGNORECASE | re.ASCII)


def parse_sizes(text: str) -> tuple[int, ...]:
    """Bytes of a message, for each row of the table: ``8:1M`` doubles, ``8:1M:4`` takes four times as
    much from row to row, ``8,64,1K`` is a list. K, M and G are powers of 1024, as in OSU's
    benchmarks; units such as KiB and MB mean what they mean everywhere. Raises UsageError."""
    if ":" not in text:
        return tuple(dict.fromkeys(_size(word) for word in text.split(",")))
    words = text.split(":")
    if len(words) > 3:
        raise UsageError(f"--sizes {text!r} is not a range", remedy=_REMEDY)
    size, last = _size(words[0]), _size(words[1])
    factor = int(words[2]) if len(words) == 3 and words[2].isdecimal() and len(words[2]) < 10 else 2
    if len(words) == 3 and words[2] != str(factor):
        raise UsageError(f"--sizes {text!r}: {words[2]!r} is not a factor", remedy=_REMEDY)
    if factor < _LEAST_FACTOR:
        raise UsageError(f"--sizes {text!r}: sizes would not grow", remedy="give a factor of at least 2")
    if size > last:
        raise UsageError(f"--sizes {text!r} ends before it begins", remedy=_REMEDY)
    sizes = []
    while size <= last:
        sizes.append(size)
        size *= factor
    return tuple(sizes)


def _size(word: str) -> int:
    if short := _SHORT.fullmatch(word.strip()):
        size = int(short[1]) << _BINARY[short[2].upper()]
    else:
        try:
            size = parse_bytes(word)
        except UsageError as error:
            raise UsageError(f"--sizes: {error.what}", remedy=_REMEDY) from None
    if not 1 <= size <= MOST_BYTES:
        problem = "nothing to send" if size < 1 else "too much for one message"
        raise UsageError(f"--sizes: {word.strip()[:32]} is {problem}", remedy="give sizes from 1 to 1G")
    return size


def irregular_sizes(ranks: int, average: int, density: float, seed: int) -> npt.NDArray[np.int64]:
    """Bytes from each rank (row) to each rank (column): the same on all ranks and machines.

    A pair has a message with probability ``density``; it has 0.5 to 1.5 times ``average`` bytes, and at least one.
    Which pairs these are and by what factor does not depend on ``average``."""
    random = np.random.default_rng(seed)
    factors = random.uniform(0.5, 1.5, (ranks, ranks))
    exists = random.random((ranks, ranks)) < density
    return np.where(exists, np.maximum(np.rint(factors * average), 1), 0).astype(np.int64)


# Collectives that are measured, and the call; what is called is in bench_exchanges.py.
EQUAL_CALLS: Final = {entry.name: entry.mpi_calls.partition(",")[0] for entry in collectives.EQUAL}


@dataclass(frozen=True, slots=True)
class Request:
    """Measurement to make. ``sizes``: bytes of a message; ``seconds``: for each size, of both together.

    ``candidates``: all that calls are chosen from. ``density`` and ``seed``: of irregular exchanges. ``network``: for
    the bound; else that of the job's plan."""

    pattern: str
    sizes: tuple[int, ...]
    seconds: float = 1.0
    density: float = 1.0
    seed: int = 1
    candidates: bool = False
    network: str | None = None


SCHEDULED: Final = "schedule"
PASSED_ON: Final = "MPI library"
PARTLY: Final = "partly"

By = Literal["schedule", "MPI library", "partly"]


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of calls; percentiles are interpolated linearly. ``calls``: how many there were."""

    median: float
    p10: float
    p90: float
    p99: float
    least: float
    most: float
    calls: int

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Self:
        """Compute the statistics of one or more calls, given in seconds."""
        p10, median, p90, p99 = (float(x) for x in np.percentile(seconds, (10, 50, 90, 99)))
        return cls(median, p10, p90, p99, float(min(seconds)), float(max(seconds)), len(seconds))


@dataclass(frozen=True, slots=True)
class Row:
    """Results of one size. ``bytes``: of a message, on average. Times are seconds.

    ``scheduled`` is None where the job runs without Hocket's runtime. ``served``: what served the calls in
    ``scheduled``. ``ratio``: median of native / scheduled of calls measured in turn. ``bound``: None if unknown.
    ``wrong``: what is wrong with the data that arrived; empty if nothing is. ``candidates``: those that were measured;
    then ``choice`` is the one that is chosen in the end, given these times, and ``regret`` what its median takes beyond
    the least, as a share of that."""

    bytes: int
    native: Times
    scheduled: Times | None = None
    ratio: float | None = None
    bound: float | None = None
    served: By | None = None
    wrong: str = ""
    candidates: dict[str, Times] = field(default_factory=dict)
    choice: str | None = None
    regret: float | None = None


def paired_ratio(native: Sequence[float], scheduled: Sequence[float]) -> float:
    """The median of native / scheduled, call by call: what slows both down cancels out."""
    return float(np.median(np.asarray(native) / np.asarray(scheduled)))


def served_by(scheduled: int, calls: int) -> By:
    """Server of a size's calls, by how many of them were scheduled."""
    if scheduled == 0:
        return PASSED_ON
    return SCHEDULED if scheduled == calls else PARTLY


CALLS: Final = 200  # that it decides in


def choice_and_regret(times: Mapping[str, Sequence[float]]) -> tuple[str, float]:
    """Name of the candidate that is used in the end where nothing is known beforehand, and what its median takes beyond
    the least, as a share of that.

    ``times``: seconds of calls by each candidate, measured in turn, as many of each; the library's own first. They are
    repeated where they are too few."""
    names = list(times)
    costs = np.array([times[name] for name in names]).T
    chooser = _core.choose.Chooser([float("nan")] * len(names))
    for of_call in np.resize(costs, (CALLS, len(names))):
        chooser.learn(float(of_call[chooser.next().candidate]))
    medians = np.median(costs, axis=0)
    return names[chooser.best], float(medians[chooser.best] / medians.min() - 1)


_SIZE_WIDTH: Final = 10
_GAP: Final = 2
_LEAST_WIDTH: Final = 10
_NONE: Final = "-"


@dataclass(frozen=True, slots=True)
class Column:
    """``key``: its name in CSV files."""

    title: str
    key: str
    value: Callable[[Row], float | int | str | None]
    digits: int = 2
    shown: bool = True  # in the table, too

    @property
    def width(self) -> int:
        return max(len(self.title), _LEAST_WIDTH) + _GAP

    def cell(self, row: Row) -> str:
        if (value := self.value(row)) is None:
            return _NONE
        return f"{value:.{self.digits}f}" if isinstance(value, float) else str(value)


def _us(seconds: float | None) -> float | None:
    return None if seconds is None else 1e6 * seconds


def _of(times: Callable[[Row], Times | None], figure: str) -> Callable[[Row], float | None]:
    def value(row: Row) -> float | None:
        found = times(row)
        return None if found is None else _us(getattr(found, figure))

    return value


def _candidate_columns(names: Sequence[str]) -> tuple[Column, ...]:
    """Columns of a table with the time of every candidate."""

    def median_of(name: str) -> Callable[[Row], float | None]:
        return _of(lambda row: row.candidates.get(name), "median")

    return (
        *(Column(f"{name}(us)", f"{name}_us", median_of(name)) for name in names),
        Column("Bound(us)", "bound_us", lambda row: _us(row.bound)),
        Column("       Choice", "choice", lambda row: row.choice),
        Column("Regret(%)", "regret", lambda row: None if row.regret is None else 100 * row.regret, 1),
        Column("Calls", "calls", lambda row: row.native.calls),
        _VALIDATION,
    )


_VALIDATION: Final = Column("Validation", "validation", lambda row: "Fail" if row.wrong else "Pass")
COLUMNS: Final = (
    Column("Native(us)", "native_us", _of(attrgetter("native"), "median")),
    Column("Scheduled(us)", "scheduled_us", _of(attrgetter("scheduled"), "median")),
    Column("Ratio", "ratio", lambda row: row.ratio, 3),
    Column("Bound(us)", "bound_us", lambda row: _us(row.bound)),
    Column("  Served by", "served", lambda row: row.served),
    *(
        Column(
            f"{title} {figure}",
            f"{key}_{figure}_us",
            _of(attrgetter(key), figure),
            shown=figure in ("p10", "p90"),
        )
        for title, key in (("Native", "native"), ("Sched.", "scheduled"))
        for figure in ("least", "p10", "p90", "p99", "most")
    ),
    Column("Calls", "calls", lambda row: row.native.calls),
    _VALIDATION,
)


def columns_of(header: Mapping[str, Any]) -> tuple[Column, ...]:
    """Columns of the table that a header begins."""
    return _candidate_columns(header["Candidates"].split()) if header.get("Candidates") else COLUMNS


def comment_lines(header: Mapping[str, Any]) -> list[str]:
    """Lines with the circumstances of a measurement, behind ``#``."""
    wide = max(map(len, header))
    return [f"# {name:<{wide}}  {value}" for name, value in header.items() if value is not None]


def title_line(columns: Sequence[Column] = COLUMNS) -> str:
    return f"{'# Size':<{_SIZE_WIDTH}}" + "".join(f"{c.title:>{c.width}}" for c in columns if c.shown)


def row_line(row: Row, columns: Sequence[Column] = COLUMNS) -> str:
    return f"{row.bytes:<{_SIZE_WIDTH}}" + "".join(f"{c.cell(row):>{c.width}}" for c in columns if c.shown)


def as_csv(header: Mapping[str, Any], rows: Iterable[Row]) -> str:
    """Comment lines, a line of names, a line per size; an empty cell is what does not exist."""
    out = io.StringIO()
    out.writelines(line + "\n" for line in comment_lines(header))
    writer = csv.writer(out, lineterminator="\n")
    columns = columns_of(header)
    writer.writerow(["bytes", *(column.key for column in columns)])
    for row in rows:
        values = (column.value(row) for column in columns)
        writer.writerow([row.bytes, *("" if value is None else value for value in values)])
    return out.getvalue()


def as_json(header: Mapping[str, Any], rows: Iterable[Row]) -> str:
    return json.dumps({**header, "rows": [asdict(row) for row in rows]}, indent=2)
