"""Sections for the calls of a run: the JSON of ``hocket run --report``."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from hocket.errors import ReportError, Where
from hocket.pictures import style
from hocket.pictures.curves import COLOURS, Curve, draw_curves
from hocket.report.html import Section, bullets, facts, paragraph, picture, section, table
from hocket.report.ranks import ChoiceRow
from hocket.report.summary import CALLS, CHOICES, TEXTS, call_cells, choice_cells, size_of, where_of
from hocket.system.text import ranks_named
from hocket.units import format_time, format_total

MOST_BARS: Final = 24
VERSION: Final = 1
_FROM: Final = "is it from 'hocket run --report=FILE.json'?"
_KINDS: Final[dict[str, tuple[type, ...]]] = {
    **dict.fromkeys(("call", "object", "function", "file", "served", "why"), (str,)),
    **dict.fromkeys(("offset", "line", "communicator", "calls", "exchanges", "bytes"), (int,)),
    "message_bytes": (list,),
    "seconds": (dict,),
}
_CHOICE: Final = {
    field.name: (str,) if field.type is str else (int, float) if field.type is float else (int,)
    for field in fields(ChoiceRow)
}
SCHEDULED: Final = "scheduled"


def run_sections(title: str, document: Mapping[str, Any], where: Where) -> Iterator[Section]:
    """Raises ReportError for a report of another version, or damaged."""
    lines, choices = _lines_and_choices(document, where)
    yield _head(title, document, lines)
    if lines:
        yield section(
            "Calls and their time",
            picture("Time of the calls", partial(_draw_times, lines)),
            table(
                CALLS,
                list(map(call_cells, lines)),
                numbers=_numbers(CALLS),
                dim=[number for number, line in enumerate(lines) if line["served"] != SCHEDULED],
            ),
            paragraph(
                "Calls: of a rank. Bytes: of all ranks to others. Time: measured, mean of ranks, and the slowest. "
                "Predicted and bound: by the network file.",
                "note",
            ),
        )
    if curves := _predictions(lines):
        draw = partial(draw_curves, curves, x="predicted or bound", y="measured, mean of ranks", sizes=False,
                       diagonal=True)  # fmt: skip
        yield section(
            "Predicted against measured",
            picture("Predicted and measured times", draw),
            paragraph(
                "On the line a call takes what was predicted; above it, longer. Waiting for late ranks is part of "
                "the measured times.",
                "note",
            ),
        )
    if choices:
        yield section(
            "Who serves them",
            paragraph("As the ranks found out while the program ran: by trials, within a bounded loss."),
            table(
                CHOICES,
                list(map(choice_cells, choices)),
                numbers=_numbers(CHOICES),
                dim=[n for n, choice in enumerate(choices) if choice["candidate"].startswith("native")],
            ),
            paragraph("Native: a call by the MPI library. Gain: native over measured.", "note"),
        )


def _head(title: str, document: Mapping[str, Any], lines: list[dict[str, Any]]) -> Section:
    every = sum(line["seconds"]["mean"] for line in lines)
    scheduled = sum(line["seconds"]["mean"] for line in lines if line["served"] == SCHEDULED)
    parts = [
        facts(
            ("ranks", document.get("ranks", "-")),
            ("time in collective calls", format_time(every, 4)),
            ("of it scheduled", f"{100 * scheduled / every:.0f} %" if every else "-"),
            ("bytes to other ranks", format_total(sum(line["bytes"] for line in lines))),
            ("call sites", len({(line["object"], line["offset"]) for line in lines})),
        )
    ]
    for name, text in (
        ("silent", "Nothing is known of"),
        ("cut_short", "Ended without MPI_Finalize:"),
    ):
        if ranks := document.get(name) or []:
            parts.append(paragraph(f"{text} {ranks_named(ranks, 20)}.", "alarm"))
    said = bullets([*document.get("problems", []), *document.get("advice", [])])
    nothing = None if lines else paragraph("No rank has made a call that may be scheduled.", "note")
    return section(f"Run {title}", *parts, said, nothing, level=1)


def _name(line: Mapping[str, Any]) -> str:
    return f"{line['call'].removeprefix('MPI_')}, {size_of(line)}, {where_of(line)}"


def _numbers(columns: Sequence[str]) -> list[int]:
    return [place for place, name in enumerate(columns) if name not in TEXTS]


def _draw_times(lines: list[dict[str, Any]], path: Path) -> None:
    """The calls that take the longest, with the least and the most of a rank, by who served them."""
    shown = sorted(lines, key=lambda line: -line["seconds"]["mean"])[:MOST_BARS]
    factor, unit = style.time_unit(max(line["seconds"]["mean"] for line in lines))
    height = 0.9 + 0.3 * len(shown)
    with style.context():
        figure = style.new_figure(11.0, height)
        axes = figure.add_axes((0.36, 0.55 / height, 0.62, 1 - 0.9 / height))
        for scheduled, name, colour in ((True, SCHEDULED, COLOURS[2]), (False, "native", COLOURS[1])):
            if not (of := [n for n, line in enumerate(shown) if (line["served"] == SCHEDULED) == scheduled]):
                continue
            least, mean, most = (
                np.array([shown[n]["seconds"][each] * factor for n in of])
                for each in ("least", "mean", "most")
            )
            spread = np.maximum([mean - least, most - mean], 0)
            axes.barh(of, mean, xerr=spread, color=colour, ecolor=style.MUTED, label=name)
        axes.invert_yaxis()
        axes.set_yticks(range(len(shown)), [_name(line) for line in shown], fontsize=8)
        axes.set_xlabel(f"time of a rank: mean, from the least to the most ({unit})", color=style.MUTED)
        axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=2, borderaxespad=0)
        style.plain(axes)
        style.save(figure, path)


def _predictions(lines: list[dict[str, Any]]) -> list[Curve]:
    """Marks by what was predicted, or the bound, and what was measured."""
    curves = []
    for key, name, marker in (("predicted_seconds", "predicted", "o"), ("bound_seconds", "bound", "x")):
        of = [
            (line[key], line["seconds"]["mean"])
            for line in lines
            if line[key] and line["seconds"]["mean"] > 0
        ]
        if of:
            curves.append(Curve(name, of, (), "", marker=marker))
    return curves


def _lines_and_choices(
    document: Mapping[str, Any], where: Where
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Calls by place, and who was chosen to serve them.

    Raises ReportError for a report of another version, or damaged."""
    if document.get("hocket_report") != VERSION:
        raise ReportError(
            f"is a report of version {document.get('hocket_report')!r}, and this Hocket reads {VERSION}",
            where=where,
            remedy="write it again with 'hocket run --report=FILE.json'",
        )
    return _checked(document, "lines", _KINDS, where), _checked(document, "choices", _CHOICE, where)


def _checked(
    document: Mapping[str, Any], key: str, kinds: Mapping[str, tuple[type, ...]], where: Where
) -> list[dict[str, Any]]:
    found = document.get(key, [])
    if not isinstance(found, list):
        raise ReportError(f"'{key}' is not a list", where=where, remedy=_FROM)
    for number, line in enumerate(found):
        for name, kind in kinds.items():
            value = line.get(name) if isinstance(line, dict) else None
            if not isinstance(value, kind) or isinstance(value, bool):
                raise ReportError(f"entry {number + 1} of '{key}' has no '{name}'", where=where, remedy=_FROM)
        if "seconds" in kinds:
            seconds, sizes = line["seconds"], line["message_bytes"]
            numbers = [*(seconds.get(name) for name in ("least", "mean", "most")), *sizes]
            numbers += [
                value
                for value in (line.setdefault(f"{name}_seconds", None) for name in ("predicted", "bound"))
                if value is not None
            ]
            if len(sizes) != 2 or not all(
                isinstance(number, int | float) and number >= 0 for number in numbers
            ):
                raise ReportError(
                    f"entry {number + 1} of '{key}' has times or sizes that are none",
                    where=where,
                    remedy=_FROM,
                )
    return found
