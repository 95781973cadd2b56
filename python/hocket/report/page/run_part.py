"""Sections for the calls of a run: the JSON of ``hocket run --report``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import plotly.graph_objects as go

from hocket.pictures import style
from hocket.report.page.charts import BESIDE, COLOURS, diagonal, figure, log_figure
from hocket.report.page.parts import Section, bullets, escaped, facts, paragraph, table
from hocket.report.page.run_document import lines_and_choices
from hocket.report.run.advice import REASONS
from hocket.units import format_bytes, format_time, format_total

if TYPE_CHECKING:
    from hocket.errors import Where

MOST_BARS: Final = 24
SCHEDULED: Final = "scheduled"


def run_sections(title: str, document: Mapping[str, Any], where: Where) -> Iterator[Section]:
    """Raises ReportError for a report of another version, or damaged."""
    lines, choices = lines_and_choices(document, where)
    yield _head(title, document, lines)
    if lines:
        section = Section("Calls and their time", 2)
        section.add(
            _time_figure(lines),
            _call_table(lines),
            paragraph(
                "Calls: of a rank. Bytes: of all ranks to others. Time: measured, mean of ranks, and the slowest. "
                "Predicted and bound: by the network file.",
                "note",
            ),
        )
        yield section
    if any(line["predicted_seconds"] or line["bound_seconds"] for line in lines):
        section = Section("Predicted against measured", 2)
        section.add(
            _prediction_figure(lines),
            paragraph(
                "On the line a call takes what was predicted; above it, longer. Waiting for late ranks is part of "
                "the measured times.",
                "note",
            ),
        )
        yield section
    if choices:
        section = Section("Who serves them", 2)
        section.add(
            paragraph("As the ranks found out while the program ran: by trials, within a bounded loss."),
            *_choices(choices),
        )
        yield section


def _head(title: str, document: Mapping[str, Any], lines: list[dict[str, Any]]) -> Section:
    section = Section(f"Run {title}", 1)
    every = sum(line["seconds"]["mean"] for line in lines)
    scheduled = sum(line["seconds"]["mean"] for line in lines if line["served"] == SCHEDULED)
    section.add(
        facts(
            [
                ("ranks", document.get("ranks", "-")),
                ("time in collective calls", format_time(every, 4)),
                ("of it scheduled", f"{100 * scheduled / every:.0f} %" if every else "-"),
                ("bytes to other ranks", format_total(sum(line["bytes"] for line in lines))),
                ("call sites", len({(line["object"], line["offset"]) for line in lines})),
            ]
        )
    )
    for name, text in (
        ("silent", "Nothing is known of ranks"),
        ("cut_short", "Ended without MPI_Finalize: ranks"),
    ):
        ranks = document.get(name) or []
        if ranks:
            section.add(
                paragraph(
                    f"{text} {', '.join(map(str, ranks[:20]))}{', …' if len(ranks) > 20 else ''}.", "alarm"
                )
            )
    section.add(bullets([*document.get("problems", []), *document.get("advice", [])]))
    if not lines:
        section.add(paragraph("No rank has made a call that may be scheduled.", "note"))
    return section


def _served(line: Mapping[str, Any]) -> str:
    return SCHEDULED if line["served"] == SCHEDULED else f"native: {REASONS.get(line['why'], line['why'])}"


def _place(line: Mapping[str, Any]) -> str:
    source = f"{line['file'].rsplit('/', 1)[-1]}:{line['line']}" if line["file"] else ""
    name = line["function"] or line["object"].rsplit("/", 1)[-1] or "unknown"
    return f"{name} ({source})" if source else name


def _size(line: Mapping[str, Any]) -> str:
    least, most = line["message_bytes"]
    return format_bytes(least) if least == most else f"{format_total(least)} … {format_total(most)}"


def _name(line: Mapping[str, Any]) -> str:
    return f"{line['call'].removeprefix('MPI_')}, {_size(line)}, {_place(line)}"


def _time_figure(lines: list[dict[str, Any]]) -> go.Figure:
    """The calls that take the longest, by who served them; the rest in a bar of its own."""
    longest = sorted(lines, key=lambda line: -line["seconds"]["mean"])
    shown, rest = longest[:MOST_BARS], longest[MOST_BARS:]
    most = max(line["seconds"]["mean"] for line in lines)
    factor, unit = style.time_unit(most)
    names = [f"{number + 1}  {_name(line)}" for number, line in enumerate(shown)]
    by: defaultdict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(shown):
        by[_served(line)].append(number)
    others = [colour for colour in COLOURS if colour != COLOURS[2]]
    bars = []
    for number, (served, of) in enumerate(sorted(by.items(), key=lambda item: item[0] != SCHEDULED)):
        colour = COLOURS[2] if served == SCHEDULED else others[(number - (SCHEDULED in by)) % len(others)]
        least, mean, most_of = (
            [shown[n]["seconds"][name] * factor for n in of] for name in ("least", "mean", "most")
        )
        bars.append(
            go.Bar(
                orientation="h",
                name=escaped(served),
                y=[escaped(names[n]) for n in of],
                x=mean,
                marker_color=colour,
                error_x={
                    "symmetric": False,
                    "thickness": 1.2,
                    "color": style.MUTED,
                    "array": np.subtract(most_of, mean),
                    "arrayminus": np.subtract(mean, least),
                },
                hovertemplate=f"%{{y}}<br>%{{x:.4g}} {unit}<extra>%{{fullData.name}}</extra>",
            )
        )
    title = f"time of a rank, least, mean and most ({unit})"
    if rest:
        title += (
            f"; {len(rest)} more lines take {format_time(sum(line['seconds']['mean'] for line in rest), 3)}"
        )
    return figure(
        bars,
        170 + 26 * len(shown),
        xaxis={"title_text": title, "rangemode": "tozero"},
        yaxis={
            "categoryorder": "array",
            "categoryarray": [escaped(n) for n in names][::-1],
            "tickfont_size": 11.5,
        },
        barmode="overlay",
        bargap=0.25,
        showlegend=True,
        legend=BESIDE,
    )


def _call_table(lines: list[dict[str, Any]]) -> Any:
    def seconds(value: float | None) -> str:
        return "" if value is None else format_time(value, 3)

    rows = []
    for line in lines:
        mean, bound = line["seconds"]["mean"], line["bound_seconds"]
        rows.append(
            [
                line["call"].removeprefix("MPI_"),
                _place(line),
                f"{line['communicator']:,}",
                _size(line),
                f"{line['calls']:,}",
                format_total(line["bytes"]),
                _served(line),
                seconds(mean),
                seconds(line["seconds"]["most"]),
                seconds(line["predicted_seconds"]),
                seconds(bound),
                f"{mean / bound:.3g}" if bound else "",
            ]
        )
    header = [
        "call",
        "where",
        "ranks",
        "message",
        "calls",
        "bytes",
        "served",
        "time",
        "slowest",
        "predicted",
        "bound",
        "time/bound",
    ]
    native = [number for number, line in enumerate(lines) if line["served"] != SCHEDULED]
    return table(header, rows, numbers=(2, 3, 4, 5, 7, 8, 9, 10, 11), dim=native)


def _prediction_figure(lines: list[dict[str, Any]]) -> go.Figure:
    """Figure with both axes logarithmic; the diagonal is where prediction and measurement agree."""
    points = []
    ends: list[float] = []
    for number, (key, name, symbol) in enumerate(
        (("predicted_seconds", "predicted", "circle"), ("bound_seconds", "bound", "x-thin"))
    ):
        of = [line for line in lines if line[key] and line["seconds"]["mean"] > 0]
        if not of:
            continue
        x, y = [line[key] for line in of], [line["seconds"]["mean"] for line in of]
        ends += [*x, *y]
        points.append(
            go.Scatter(
                mode="markers",
                name=name,
                x=x,
                y=y,
                text=[escaped(_name(line)) for line in of],
                marker={"size": 10, "symbol": symbol, "color": COLOURS[number]},
                marker_line={"width": 1.6, "color": COLOURS[number]},
                hovertemplate=f"%{{text}}<br>{name} %{{x:.3g}} s, measured %{{y:.3g}} s<extra></extra>",
            )
        )
    traces = [diagonal(min(ends), max(ends)), *points]
    return log_figure(traces, 480, "predicted or bound", "measured, mean of ranks")


def _choices(choices: list[dict[str, Any]]) -> list[Any]:
    rows = []
    for choice in choices:
        gain = choice["native"] / choice["measured"] if choice["native"] and choice["measured"] else None
        times = [
            format_time(choice[key], 3) if choice[key] else "" for key in ("native", "predicted", "measured")
        ]
        rows.append(
            [
                choice["collective"],
                f"{choice['communicator']:,}",
                f"{choice['hosts']:,}",
                format_bytes(choice["message"]),
                choice["candidate"],
                f"{choice['calls']:,}",
                f"{choice['trials']:,}",
                *times,
                "" if gain is None else f"{gain:.3g}",
            ]
        )
    header = [
        "collective",
        "ranks",
        "hosts",
        "message",
        "served by",
        "calls",
        "trials",
        "native",
        "predicted",
        "measured",
        "gain",
    ]
    native = [number for number, choice in enumerate(choices) if choice["candidate"].startswith("native")]
    return [
        table(header, rows, numbers=(1, 2, 3, 5, 6, 7, 8, 9, 10), dim=native),
        paragraph("Native: a call by the MPI library. Gain: native over measured.", "note"),
    ]
