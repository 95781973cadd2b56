"""Tables of measurements: CSV of ``hocket bench`` and of the benches of this project."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

import plotly.graph_objects as go

from hocket.errors import HocketError, Where
from hocket.report.page.charts import COLOURS, diagonal, log_figure
from hocket.report.page.parts import Section, escaped, paragraph, table

MOST_FIGURES: Final = 12
# Column names by their role: candidate, size, time.
_CANDIDATES: Final = ("candidate", "arm", "algorithm", "scheme", "method")
_SIZES: Final = ("bytes", "size", "message_bytes", "n", "hosts")
_SECONDS: Final = ("seconds", "smpi_seconds", "plan_seconds")
_PREDICTED: Final = ("predicted", "predicted_seconds")
# Columns that number repetitions, or that follow from other columns.
_REPEATED: Final = frozenset(
    ["job", "pair", "calls", "repetition", "bound", "ratio", "error", "reason", "ours", "rank", "seed"]
)
_BENCH: Final = "native_us"


@dataclass(frozen=True, slots=True)
class Measured:
    """A table: what stands behind ``#`` above it, and its rows by column."""

    heading: dict[str, str]
    columns: tuple[str, ...]
    rows: list[dict[str, str]]


def looks_like(text: str) -> bool:
    """Return true if a text is a table: a line of column names, after lines with ``#``."""
    for line in text.split("\n", 200)[:200]:
        if line and not line.startswith("#"):
            names = line.split(",")
            return len(names) > 1 and any(name in (*_SECONDS, _BENCH) for name in names)
    return False


def read(text: str, where: Where) -> Measured:
    """Raises HocketError, with the line, for rows that do not fit the names."""
    heading: dict[str, str] = {}
    lines = text.splitlines()
    first = next((n for n, line in enumerate(lines) if line and not line.startswith("#")), len(lines))
    for line in lines[:first]:
        words = line.lstrip("# ").split(": ", 1) if ": " in line else line.lstrip("# ").split(None, 1)
        if len(words) == 2:
            heading[words[0].strip()] = words[1].strip()
    reader = csv.reader(lines[first:])
    names = next(reader, [])
    rows = []
    for row in reader:
        if not row:
            continue
        if len(row) != len(names):
            raise HocketError(
                f"has {len(row)} cells under {len(names)} names",
                where=Where(where.file, first + reader.line_num),
                remedy="is the file cut off?",
            )
        rows.append(dict(zip(names, row, strict=True)))
    return Measured(heading, tuple(names), rows)


def measured_sections(title: str, found: Measured) -> Iterator[Section]:
    """The table with pictures of what its columns allow: time by size, and predicted against measured."""
    head = Section(f"Measurements {title}", 1)
    head.add(
        table(["of the file", ""], [[key, value] for key, value in found.heading.items()])
        if found.heading
        else None
    )
    yield head
    if _BENCH in found.columns:
        yield from _bench(found)
    else:
        yield from _compared(found)
    section = Section("The table", 2)
    numbers = [
        place
        for place, name in enumerate(found.columns)
        if all(_number(row[name]) is not None for row in found.rows[:20])
    ]
    section.add(
        table(
            found.columns,
            [[_shown(row[name]) for name in found.columns] for row in found.rows],
            numbers=numbers,
        )
    )
    yield section


def _bench(found: Measured) -> Iterator[Section]:
    """Sections for a table of ``hocket bench``: microseconds by size."""
    names = [
        name.removesuffix("_us") for name in found.columns if name.endswith("_us") and name.count("_") == 1
    ]
    section = Section("Time of a call by size", 2)
    lines = []
    for number, name in enumerate(names):
        points = [
            (size, us, _number(row.get(f"{name}_p10_us")), _number(row.get(f"{name}_p90_us")))
            for row in found.rows
            if (size := _number(row["bytes"])) and (us := _number(row[f"{name}_us"]))
        ]
        if points:
            lines.append(_line(name, [(x, y) for x, y, *_ in points], number, dash=name == "bound"))
            if all(low is not None and high is not None for *_, low, high in points):
                lines[-1].error_y = {
                    "symmetric": False,
                    "thickness": 1,
                    "width": 3,
                    "array": [(high or 0) - y for _, y, _, high in points],
                    "arrayminus": [y - (low or 0) for _, y, low, _ in points],
                }
    sizes = [size for row in found.rows if (size := _number(row["bytes"]))]
    section.add(
        log_figure(lines, 480, "message", "microseconds of a call", sizes, ""),
        paragraph(
            "Median; bars reach from the 10th to the 90th percentile. Bound: no schedule on these routes is faster.",
            "note",
        ),
    )
    yield section


def _compared(found: Measured) -> Iterator[Section]:
    """Candidates by size in each setting, and predictions where there are any."""
    candidate, size, seconds = (_first(found, names) for names in (_CANDIDATES, _SIZES, _SECONDS))
    predicted = _first(found, _PREDICTED)
    if seconds and predicted:
        section = Section("Predicted against measured", 2)
        section.add(*_predictions(found, predicted, seconds, candidate))
        yield section
    if not (candidate and size and seconds):
        return
    settings = [
        name
        for name in found.columns
        if name not in (candidate, size, seconds, predicted)
        and name not in _REPEATED
        and not name.endswith(("_seconds", "_us"))
        and name not in ("placement", "choice")
    ]
    groups: defaultdict[tuple[str, ...], list[Mapping[str, str]]] = defaultdict(list)
    for row in found.rows:
        groups[tuple(row[name] for name in settings)].append(row)
    if len(groups) > 4 * MOST_FIGURES:
        return
    differ = {name for name in settings if len({row[name] for row in found.rows}) > 1}
    shown = sorted(groups.items(), key=lambda item: -len(item[1]))[:MOST_FIGURES]
    section = Section("Time by size", 2)
    for values, rows in shown:
        title = ", ".join(
            f"{name} {value}"
            for name, value in zip(settings, values, strict=True)
            if value and name in differ
        )
        section.add(paragraph(title) if title else None, _candidates(rows, candidate, size, seconds))
    if len(groups) > len(shown):
        section.add(paragraph(f"{len(groups) - len(shown)} more settings are in the table alone.", "note"))
    section.add(paragraph("Medians of repeated measurements.", "note"))
    yield section


def _candidates(rows: Sequence[Mapping[str, str]], candidate: str, size: str, seconds: str) -> go.Figure:
    found: defaultdict[str, defaultdict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        x, y = _number(row[size]), _number(row[seconds])
        if x and y:
            found[row[candidate]][x].append(y)
    lines = [
        _line(name, sorted((x, median(ys)) for x, ys in by.items()), number)
        for number, (name, by) in enumerate(found.items())
    ]
    sizes = [x for by in found.values() for x in by] if size != "hosts" else ()
    return log_figure(lines, 430, size, "time", sizes, "y")


def _predictions(found: Measured, predicted: str, seconds: str, candidate: str) -> list[Any]:
    by: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in found.rows:
        x, y = _number(row[predicted]), _number(row[seconds])
        if x and y:
            by[row[candidate] if candidate else ""].append((x, y))
    points = [point for of in by.values() for point in of]
    if not points:
        return []
    marks = [
        _line(name or seconds, of, number, mode="markers") for number, (name, of) in enumerate(by.items())
    ]
    errors = sorted(abs(x / y - 1) for x, y in points)
    return [
        log_figure(
            [diagonal(min(map(min, points)), max(map(max, points))), *marks], 520, "predicted", "measured"
        ),
        paragraph(
            f"{len(points):,} predictions; half are off by at most {100 * median(errors):.1f} %, nine in ten by "
            f"at most {100 * errors[math.ceil(0.9 * len(errors)) - 1]:.0f} %.",
            "note",
        ),
    ]


def _line(
    name: str,
    points: Sequence[tuple[float, float]],
    number: int,
    *,
    dash: bool = False,
    mode: str = "lines+markers",
) -> go.Scatter:
    symbols = ("circle", "square", "diamond", "triangle-up", "x")
    return go.Scatter(
        mode=mode,
        name=escaped(name),
        x=[x for x, _ in points],
        y=[y for _, y in points],
        line={"color": COLOURS[number % len(COLOURS)], "width": 2, "dash": "dash" if dash else None},
        marker={"size": 7, "symbol": symbols[number // len(COLOURS) % len(symbols)]},
        hovertemplate="%{x:.4g}: %{y:.4g}<extra>%{fullData.name}</extra>",
    )


def _first(found: Measured, names: Sequence[str]) -> str:
    return next((name for name in names if name in found.columns), "")


def _shown(text: str) -> str:
    """A long number with six digits."""
    try:
        return f"{float(text):.6g}" if len(text) > 9 and "." in text else text
    except ValueError:
        return text


def _number(text: str | None) -> float | None:
    """The number of a cell; of several with semicolons the median."""
    try:
        values = [float(part) for part in (text or "").split(";")]
    except ValueError:
        return None
    value = median(values)
    return value if math.isfinite(value) else None
