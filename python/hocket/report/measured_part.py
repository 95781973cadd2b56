"""Tables of ``hocket bench``, and the timings that runs have kept (``hocket tune show``)."""

import csv
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from hocket.errors import HocketError, Where
from hocket.measure.kept import COLUMNS, Choice
from hocket.pictures import style
from hocket.pictures.curves import COLOURS, Curve, draw_curves
from hocket.report.html import Html, Section, facts, paragraph, picture, section, table

_BENCH: Final = "native_us"  # a column of every table
_BOUND: Final = "bound"


@dataclass(frozen=True, slots=True)
class Measured:
    """A table: what stands behind ``#`` above it, and its rows by column."""

    heading: dict[str, str]
    columns: tuple[str, ...]
    rows: list[dict[str, str]]


def looks_like(text: str) -> bool:
    """Return true if a text is a table: a line of column names, after lines with ``#``."""
    lines = (line for line in text.split("\n", 200)[:200] if line and not line.startswith("#"))
    return _BENCH in next(lines, "").split(",")


def read(text: str, where: Where) -> Measured:
    """Raises HocketError, with the line, for rows that do not fit the names."""
    heading: dict[str, str] = {}
    lines = text.splitlines()
    first = next((n for n, line in enumerate(lines) if line and not line.startswith("#")), len(lines))
    for line in lines[:first]:
        words = line.lstrip("# ").split(None, 1)
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
    """The table, and a picture of the times by size."""
    of_file = [[key, value] for key, value in found.heading.items()]
    yield section(f"Measurements {title}", table(["of the file", ""], of_file) if of_file else None, level=1)
    names = [
        name.removesuffix("_us") for name in found.columns if name.endswith("_us") and name.count("_") == 1
    ]
    curves = [curve for name in names if (curve := _curve(found, name)).points]
    drawn: list[Html] = []
    if curves:
        draw = partial(draw_curves, curves, x="message", y="time of a call")
        drawn = [
            picture("Times by size", draw),
            paragraph(
                "Median; bands reach from the 10th to the 90th percentile. Bound: no schedule on these routes is "
                "faster.",
                "note",
            ),
        ]
    numbers = [
        place
        for place, name in enumerate(found.columns)
        if all(_number(row[name]) is not None for row in found.rows[:20])
    ]
    rows = [[_shown(row[name]) for name in found.columns] for row in found.rows]
    yield section("Time of a call by size", *drawn, table(found.columns, rows, numbers=numbers))


def _curve(found: Measured, name: str) -> Curve:
    """Times of a column, in seconds, and their percentiles where every row has them."""
    points, spread = [], []
    for row in found.rows:
        size, us = _number(row.get("bytes")), _number(row[f"{name}_us"])
        if size and us:
            points.append((size, 1e-6 * us))
            low, high = (_number(row.get(f"{name}_{part}_us")) for part in ("p10", "p90"))
            if low and high:
                spread.append((1e-6 * low, 1e-6 * high))
    line, colour = ("--", style.MUTED) if name == _BOUND else ("-", "")
    return Curve(name, points, spread if len(spread) == len(points) else (), line, colour)


def _shown(text: str) -> str:
    """A long number with six digits."""
    try:
        return f"{float(text):.6g}" if len(text) > 9 and "." in text else text
    except ValueError:
        return text


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def learned_sections(title: str, choices: Sequence[Choice]) -> Iterator[Section]:
    """Sections with all choices of a file as a table, and a picture for each call and place."""
    gains = [choice.gain for choice in choices if choice.gain]
    native = [number for number, choice in enumerate(choices) if choice.timings.winner == "native"]
    rows = [choice.cells() for choice in choices]
    yield section(
        f"Learned {title}",
        facts(
            ("calls and sizes known", len(choices)),
            ("places", len({choice.timings.place for choice in choices})),
            ("faster than native", sum(gain > 0 for gain in gains)),
            ("largest gain", f"{100 * max(gains):.0f} %" if gains else "-"),
        ),
        paragraph(
            "A place is a network, its hosts, ranks and MPI library. Gain: what the winner saves of the library's "
            "own time."
        ),
        table(COLUMNS, rows, numbers=(1, 4, 6, 7, 8), dim=native) if choices else None,
        level=1,
    )
    groups: defaultdict[tuple[str, ...], list[Choice]] = defaultdict(list)
    for choice in choices:
        one = choice.timings
        groups[one.place, one.call, one.layout].append(choice)
    places = {place for place, *_ in groups}
    for (place, call, layout), of in groups.items():
        one = of[0].timings
        where = f"{one.ranks} ranks on {one.hosts} hosts, {one.mpi}" if one.ranks else one.mpi
        yield section(
            f"{call}{'' if layout == 'any' else f', {layout}'}: {where}",
            paragraph(f"Place {place}.", "note") if len(places) > 1 else None,
            _learned_picture(of),
        )


def _learned_picture(choices: Sequence[Choice]) -> Html | None:
    """Seconds of a call by the size of its messages, a candidate a line; winners are diamonds."""
    found: defaultdict[str, list[tuple[int, float, float]]] = defaultdict(list)
    for choice in sorted(choices, key=lambda choice: choice.least):
        for each in choice.timings.candidates:
            if each.calls and each.seconds > 0:
                found[each.name].append((max(choice.least, 1), each.seconds, each.seconds * each.spread))
    if not found:
        return None
    curves = []
    for number, name in enumerate(sorted(found, key=lambda name: (not name.startswith("native"), name))):
        of = found[name]
        spread = [(max(seconds - by, seconds / 100), seconds + by) for _, seconds, by in of]
        colour = style.MUTED if name == "native" else COLOURS[number % 6]
        curves.append(Curve(name, [(size, seconds) for size, seconds, _ in of], spread, colour=colour))
    won = [
        (float(max(choice.least, 1)), winner.seconds)
        for choice in choices
        if (winner := choice.candidate(choice.timings.winner)) is not None and winner.seconds > 0
    ]
    if won:
        curves.append(Curve("winner", won, (), "", style.ALARM, "D"))
    draw = partial(draw_curves, curves, x="message, at least", y="time of a call")
    return picture("Times of the candidates by size", draw)
