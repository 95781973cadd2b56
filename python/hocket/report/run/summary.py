"""The summary after a job: a table for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from hocket.errors import HocketError
from hocket.report.run.advice import REASONS, advice
from hocket.report.run.better import Launched, OrderAdvice, order_advice
from hocket.report.run.merge import Account, Line, merge
from hocket.report.run.ranks import ChoiceRow, Site, read_ranks
from hocket.report.run.sites import Place, places, same_places
from hocket.system.files import opened
from hocket.system.terminal import console
from hocket.system.text import printable
from hocket.units import format_bytes, format_time, format_total

_MOST_LINES: Final = 40  # in the table
_LEAST_WIDTH: Final = 170  # where there is no terminal


def tell(
    directory: Path, ranks: int, code: int, file: Path | None = None, job: Launched | None = None
) -> None:
    """Prints on standard error what the ranks have left; writes it to ``file``, too. Raises HocketError.

    ``code``: of the job's end. ``job``: how it was launched, to judge the order of its ranks.
    """
    place: object = directory
    try:
        reports, problems = read_ranks(directory)
        found = places(row.site for report in reports for row in report.rows)
        account = merge(reports, ranks, problems, same_places(found))
        order = None if job is None else order_advice(reports, account, ranks, job)
        place = "standard error"
        _print(account, found, order, code)
        if file is not None:
            place = file
            text = json.dumps(document(account, found, ranks, order), indent=1, ensure_ascii=False)
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
        "silent": list(account.silent),
        "cut_short": list(account.cut_short),
        "problems": list(account.problems),
        "lines": [_object(line, found[line.site]) for line in account.lines],
        "choices": [asdict(choice) for choice in account.choices],
        "advice": advice(account),
        "order": None if order is None else order.as_json(),
    }


def _object(line: Line, place: Place) -> dict[str, Any]:
    least, mean, most = line.seconds
    return {
        "call": line.call,
        "object": line.site.object,
        "offset": line.site.offset,
        "function": place.function,
        "file": place.file,
        "line": place.line,
        "communicator": line.communicator,
        "ranks": line.ranks,
        "message_bytes": [line.least, line.most],
        "calls": line.calls,
        "exchanges": line.exchanges,
        "bytes": line.bytes,
        "served": "scheduled" if line.scheduled else "native",
        "why": line.why,
        "detail": line.detail,
        "seconds": {"least": least, "mean": mean, "most": most},
        "predicted_seconds": line.predicted,
        "bound_seconds": line.bound,
    }


def _calls(line: Line) -> str:
    starts = "" if line.exchanges in (0, line.calls) else f" ({line.exchanges:,} starts)"
    return f"{line.calls:,}{starts}"


def _size(line: Line) -> str:
    if line.least == line.most:
        return format_bytes(line.least)
    return f"{format_total(line.least)} … {format_total(line.most)}"


def _seconds(value: float | None) -> str:
    return "" if value is None else format_time(value, 3)


def _cells(line: Line, place: Place) -> list[str]:
    reason = REASONS.get(line.why, line.why)
    return [
        line.call.removeprefix("MPI_"),
        place.text(line.site),
        f"{line.communicator:,}",
        _size(line),
        _calls(line),
        format_total(line.bytes),
        f"scheduled: {line.detail}" if line.scheduled else f"native: {reason}",
        _seconds(line.mean),
        _seconds(line.seconds[2]),
        _seconds(line.predicted),
        _seconds(line.bound),
        "" if line.over_bound is None else f"{line.over_bound:.3g}",
    ]


def _choice_cells(choice: ChoiceRow) -> list[str]:
    gain = choice.native / choice.measured if choice.native and choice.measured else None
    return [
        choice.collective,
        f"{choice.communicator:,}",
        f"{choice.hosts:,}",
        format_bytes(choice.message),
        choice.candidate,
        f"{choice.calls:,}",
        f"{choice.trials:,}",
        _seconds(choice.native or None),
        _seconds(choice.predicted or None),
        _seconds(choice.measured or None),
        "" if gain is None else f"{gain:.3g}",
    ]


def _print(account: Account, found: Mapping[Site, Place], order: OrderAdvice | None, code: int) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    def titled(title: str) -> Table:
        return Table(box=SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)

    printer = console(highlight=False)
    if not printer.is_terminal:
        printer.width = max(printer.width, _LEAST_WIDTH)
    if account.lines:
        table = titled("collective calls")
        for name in ("call", "where"):
            table.add_column(name, overflow="fold")
        for name in ("ranks", "message", "calls", "bytes"):
            table.add_column(name, justify="right")
        table.add_column("served", overflow="fold")
        for name in ("time", "slowest", "predicted", "bound", "time/bound"):
            table.add_column(name, justify="right")
        for line in account.lines[:_MOST_LINES]:
            cells = (Text(printable(cell)) for cell in _cells(line, found[line.site]))
            table.add_row(*cells, style="" if line.scheduled else "dim")
        printer.print(table)
        print(
            "calls: of a rank; bytes: of all ranks to others; time: measured, mean of ranks and the slowest; "
            "predicted, bound: by the network file",
            file=sys.stderr,
        )
    if account.choices:
        table = titled("candidates selected during the run")
        for name in ("collective", "ranks", "hosts", "message", "served by", "calls", "trials"):
            table.add_column(name, justify="left" if name in ("collective", "served by") else "right")
        for name in ("native", "predicted", "measured", "gain"):
            table.add_column(name, justify="right")
        for choice in account.choices[:_MOST_LINES]:
            table.add_row(
                *map(Text, _choice_cells(choice)), style="dim" if choice.candidate == "native" else ""
            )
        printer.print(table)
        print(
            "native: a call by the MPI library; predicted, measured: by what serves it; gain: native over measured",
            file=sys.stderr,
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
        yield f"no report from {_ranks(account.silent)}: no such call was made, or the rank was killed in its first one"
    if account.cut_short:
        yield f"{_ranks(account.cut_short)} ended without MPI_Finalize: their last calls may be missing"
    yield from (f"left out: {problem}" for problem in account.problems)
    yield from advice(account)


def _ranks(ranks: tuple[int, ...], most: int = 10) -> str:
    """``rank 3``, ``ranks 1, 2, 5``, ``ranks 0, 1, … (64 in all)``."""
    listed = ", ".join(str(rank) for rank in ranks[:most])
    if len(ranks) > most:
        return f"ranks {listed}, … ({len(ranks)} in all)"
    return f"rank {listed}" if len(ranks) == 1 else f"ranks {listed}"
