"""Results of a measurement: as a table like that of the OSU benchmarks, as CSV, as JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hocket.measure.bench.statistics import Row, Times

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
        value = self.value(row)
        if value is None:
            return _NONE
        return f"{value:.{self.digits}f}" if isinstance(value, float) else str(value)


def _us(seconds: float | None) -> float | None:
    return None if seconds is None else 1e6 * seconds


def _of(times: Callable[[Row], Times | None], figure: str) -> Callable[[Row], float | None]:
    def value(row: Row) -> float | None:
        found = times(row)
        return None if found is None else _us(getattr(found, figure))

    return value


def _native(row: Row) -> Times | None:
    return row.native


def _scheduled(row: Row) -> Times | None:
    return row.scheduled


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
    Column("Native(us)", "native_us", _of(_native, "median")),
    Column("Scheduled(us)", "scheduled_us", _of(_scheduled, "median")),
    Column("Ratio", "ratio", lambda row: row.ratio, 3),
    Column("Bound(us)", "bound_us", lambda row: _us(row.bound)),
    Column("  Served by", "served", lambda row: row.served),
    *(
        Column(f"{title} {figure}", f"{key}_{figure}_us", _of(times, figure), shown=figure in ("p10", "p90"))
        for title, key, times in (("Native", "native", _native), ("Sched.", "scheduled", _scheduled))
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
    return json.dumps({**header, "rows": [row.as_dict() for row in rows]}, indent=2)
