"""Choices that runs have learned: the files that ``hocket tune show`` reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from hocket.report.page.charts import COLOURS, log_figure
from hocket.report.page.parts import Section, escaped, facts, paragraph, table

if TYPE_CHECKING:
    from hocket.measure.kept import Choice


def learned_sections(title: str, choices: Sequence[Choice]) -> Iterator[Section]:
    """Sections with all choices of a file as a table, and a picture for each call and place."""
    head = Section(f"Learned {title}", 1)
    gains = [choice.gain for choice in choices if choice.gain]
    head.add(
        facts(
            [
                ("calls and sizes known", len(choices)),
                ("places", len({choice.timings.place for choice in choices})),
                ("faster than native", sum(gain > 0 for gain in gains)),
                ("largest gain", f"{100 * max(gains):.0f} %" if gains else "-"),
            ]
        ),
        paragraph(
            "A place is a network, its hosts, ranks and MPI library. Gain: what the winner saves of the library's "
            "own time."
        ),
        _table(choices) if choices else None,
    )
    yield head
    groups: defaultdict[tuple[str, ...], list[Choice]] = defaultdict(list)
    for choice in choices:
        one = choice.timings
        groups[one.place, one.call, one.layout].append(choice)
    places = {place for place, *_ in groups}
    for (place, call, layout), of in groups.items():
        one = of[0].timings
        where = f"{one.ranks} ranks on {one.hosts} hosts, {one.mpi}" if one.ranks else one.mpi
        section = Section(f"{call}{'' if layout == 'any' else f', {layout}'}: {where}", 2)
        if len(places) > 1:
            section.add(paragraph(f"Place {place}.", "note"))
        section.add(_figure(of))
        yield section


def _table(choices: Sequence[Choice]) -> Any:
    from hocket.measure.kept import COLUMNS

    native = [number for number, choice in enumerate(choices) if choice.timings.winner == "native"]
    return table(COLUMNS, [choice.cells() for choice in choices], numbers=(1, 4, 6, 7, 8), dim=native)


def _figure(choices: Sequence[Choice]) -> go.Figure:
    """Seconds of a call by the size of its messages, a candidate a line; winners have a ring."""
    candidates: defaultdict[str, list[tuple[int, float, float]]] = defaultdict(list)
    for choice in sorted(choices, key=lambda choice: choice.least):
        for candidate in choice.timings.candidates:
            if candidate.calls and candidate.seconds > 0:
                candidates[candidate.name].append(
                    (max(choice.least, 1), candidate.seconds, candidate.seconds * candidate.spread)
                )
    lines = []
    order = sorted(candidates, key=lambda name: (name != "native", not name.startswith("native"), name))
    for number, name in enumerate(order):
        sizes, seconds, spread = zip(*candidates[name], strict=True)
        colour = "#5b6670" if name == "native" else COLOURS[(number - 1) % 6]
        lines.append(
            go.Scatter(
                mode="lines+markers",
                name=escaped(name),
                x=sizes,
                y=seconds,
                error_y={"array": spread, "thickness": 1, "width": 3},
                line={"color": colour, "width": 2},
                marker_size=7,
                hovertemplate="%{x:,} B: %{y:.4g} s<extra>%{fullData.name}</extra>",
            )
        )
    won = [
        (max(choice.least, 1), winner.seconds, choice.timings.winner)
        for choice in choices
        if (winner := choice.candidate(choice.timings.winner)) is not None and winner.seconds > 0
    ]
    if won:
        lines.append(
            go.Scatter(
                mode="markers",
                name="winner",
                x=[x for x, *_ in won],
                y=[y for _, y, _ in won],
                text=[escaped(name) for *_, name in won],
                hovertemplate="winner: %{text}<extra></extra>",
                marker={"size": 15, "symbol": "circle-open", "color": "#d55e00", "line_width": 2.2},
            )
        )
    ticks = [x for of in candidates.values() for x, *_ in of]
    return log_figure(lines, 440, "message, at least", "time of a call", ticks, "y")
