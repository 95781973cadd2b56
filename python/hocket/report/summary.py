"""The summary after a job: a table for people, JSON for programs."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from hocket.errors import HocketError
from hocket.report.advice import (
    REASONS,
    Launched,
    OrderAdvice,
    Place,
    advice,
    order_advice,
    places,
    same_places,
)
from hocket.report.ranks import Account, Line, Site, merge, read_ranks
from hocket.system.files import opened
from hocket.system.text import console, picked, printable, ranks_named
from hocket.units import format_bytes, format_time, format_total

_MOST_LINES: Final = 40  # in the table
_LEAST_WIDTH: Final = 170  # where there is no terminal


def tell(
    directory: Path, ranks: int, code: int, file: Path | None = None, job: Launched | None = None
) -> None:
    """Prints on standard error what the ranks have left; writes it to ``file``, too. Raises HocketError.

    ``code``: of the job's end. ``job``: how it was launched, to judge the order of its ranks."""
    place: object = directory
    try:
        reports, problems = read_ranks(directory)
        found = places(row.site for report in reports for row in report.rows)
        account = merge(reports, ranks, problems, same_places(found))
        order = None if job is None else order_advice(reports, account, ranks, job)
        place = "standard error"
        told = document(account, found, ranks, order)
        _print(told, account, order, code)
        if file is not None:
            place = file
            text = json.dumps(told, indent=1, ensure_ascii=False)
            with opened(file) as made:
                made.write(f"{text}\n".encode())
    except OSError as error:
        raise HocketError(
            f"no report: {place}: {error.strerror}",
            remedy="make room there, or name another place, and run again",
        ) from None


def document(
    account: Account, found: Mapping[Site, Place], ranks: int, order: OrderAdvice | None = None
) -> dict[str, Any]:
    """The machine-readable form (docs/formats.md)."""
    return {
        "hocket_report": 1,
        "ranks": ranks,
        **{name: list(getattr(account, name)) for name in ("silent", "cut_short", "problems")},
        "lines": [_object(line, found[line.site]) for line in account.lines],
        "choices": [asdict(choice) for choice in account.choices],
        "advice": advice(account),
        "order": None if order is None else order.as_json(),
    }


def _object(line: Line, place: Place) -> dict[str, Any]:
    least, mean, most = line.seconds
    return {
        "call": line.call,
        **picked(line.site, "object", "offset"),
        **picked(place, "function", "file", "line"),
        **picked(line, "communicator", "ranks"),
        "message_bytes": [line.least, line.most],
        **picked(line, "calls", "exchanges", "bytes"),
        "served": "scheduled" if line.scheduled else "native",
        **picked(line, "why", "detail"),
        "seconds": {"least": least, "mean": mean, "most": most},
        "predicted_seconds": line.predicted,
        "bound_seconds": line.bound,
    }


CALLS: Final = (
    *("call", "where", "ranks", "message", "calls", "bytes", "served", "time", "slowest", "predicted", "bound"),
    "time/bound",
)  # fmt: skip
CHOICES: Final = (
    *("collective", "ranks", "hosts", "message", "served by", "calls", "trials", "native", "predicted", "measured"),
    "gain",
)  # fmt: skip
TEXTS: Final = ("call", "where", "served", "collective", "served by")  # of the columns; others are numbers


def where_of(line: Mapping[str, Any]) -> str:
    """``transpose (fft.c:120)``, ``transpose (libfft.so)`` or ``libfft.so+0x11d8``."""
    name = line["object"].rpartition("/")[2] or "an unknown place"
    if line["file"]:
        where = f"{line['file'].rpartition('/')[2]}:{line['line']}"
        return f"{line['function']} ({where})" if line["function"] else where
    if line["function"]:
        return f"{line['function']} ({name})"
    return f"{name}+{line['offset']:#x}" if line["object"] else name


def size_of(line: Mapping[str, Any]) -> str:
    least, most = line["message_bytes"]
    return format_bytes(least) if least == most else f"{format_total(least)} … {format_total(most)}"


def call_cells(line: Mapping[str, Any]) -> list[str]:
    """Cells of a line of the document, by CALLS."""
    starts = "" if line["exchanges"] in (0, line["calls"]) else f" ({line['exchanges']:,} starts)"
    mean, bound = line["seconds"]["mean"], line["bound_seconds"]
    served = f"scheduled: {line.get('detail') or ''}".rstrip(": ")
    if line["served"] != "scheduled":
        served = f"native: {REASONS.get(line['why'], line['why'])}"
    return [
        line["call"].removeprefix("MPI_"),
        where_of(line),
        f"{line['communicator']:,}",
        size_of(line),
        f"{line['calls']:,}{starts}",
        format_total(line["bytes"]),
        served,
        *map(_seconds, (mean, line["seconds"]["most"], line["predicted_seconds"], bound)),
        f"{mean / bound:.3g}" if bound else "",
    ]


def choice_cells(choice: Mapping[str, Any]) -> list[str]:
    """Cells of a choice of the document, by CHOICES."""
    native, measured = choice["native"], choice["measured"]
    return [
        choice["collective"],
        f"{choice['communicator']:,}",
        f"{choice['hosts']:,}",
        format_bytes(choice["message"]),
        choice["candidate"],
        f"{choice['calls']:,}",
        f"{choice['trials']:,}",
        *(_seconds(choice[key] or None) for key in ("native", "predicted", "measured")),
        f"{native / measured:.3g}" if native and measured else "",
    ]


def _seconds(value: float | None) -> str:
    return "" if value is None else format_time(value, 3)


def _print(told: Mapping[str, Any], account: Account, order: OrderAdvice | None, code: int) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    printer = console(highlight=False)
    if not printer.is_terminal:
        printer.width = max(printer.width, _LEAST_WIDTH)

    def table(title: str, columns: Sequence[str], rows: Iterable[tuple[list[str], bool]], note: str) -> None:
        shown = Table(box=SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
        for name in columns:
            shown.add_column(
                name,
                justify="left" if name in TEXTS else "right",
                overflow="fold" if name in ("call", "where", "served") else "ellipsis",
            )
        for cells, native in rows:
            shown.add_row(*(Text(printable(cell)) for cell in cells), style="dim" if native else "")
        printer.print(shown)
        print(note, file=sys.stderr)

    if told["lines"]:
        table(
            "collective calls",
            CALLS,
            ((call_cells(line), line["served"] == "native") for line in told["lines"][:_MOST_LINES]),
            "calls: of a rank; bytes: of all ranks to others; time: measured, mean of ranks and the slowest; "
            "predicted, bound: by the network file",
        )
    if told["choices"]:
        table(
            "candidates selected during the run",
            CHOICES,
            ((choice_cells(each), each["candidate"] == "native") for each in told["choices"][:_MOST_LINES]),
            "native: a call by the MPI library; predicted, measured: by what serves it; gain: native over measured",
        )
    for sentence in (*_sentences(account, code), *([] if order is None else [order.text])):
        print(f"hocket: {sentence}", file=sys.stderr)


def _sentences(account: Account, code: int) -> Iterator[str]:
    if len(account.lines) > _MOST_LINES:
        yield f"{len(account.lines) - _MOST_LINES} more lines took less time (--report=FILE.json has all)"
    if not account.told and code:
        yield f"no report: the job ended with exit code {code} before a rank had ended a call that Hocket serves"
    elif not account.told:
        yield (
            "no report: no rank made a call that Hocket serves, or a line above says why the runtime was not active or "
            "could not write"
        )
    elif account.silent:
        silent = ranks_named(account.silent)
        yield f"no report from {silent}: no such call was made, or the rank was killed in its first one"
    if account.cut_short:
        yield f"{ranks_named(account.cut_short)} ended without MPI_Finalize: their last calls may be missing"
    yield from (f"left out: {problem}" for problem in account.problems)
    yield from advice(account)
