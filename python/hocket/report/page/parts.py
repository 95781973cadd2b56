"""Parts of pages: text, tables and figures. All text from files is escaped here."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_hex
from numpy.typing import NDArray

from hocket.pictures import style

FONT: Final = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
# Colours that a reader can tell apart, after Okabe and Ito.
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b6670", "#8a6d00")
MOST_ROWS: Final = 400  # of a table
_SHADES: Final = 12


@dataclass(frozen=True, slots=True)
class Html:
    """A piece of the page."""

    text: str


@dataclass(frozen=True, slots=True)
class Figure:
    """Traces and layout as plotly.js reads them; ``height`` in pixels."""

    data: list[dict[str, Any]]
    layout: dict[str, Any]
    height: int = 420


@dataclass(slots=True)
class Section:
    """A heading of the page with what is below it; ``level`` 1 is a file, 2 a part of it."""

    title: str
    level: int
    parts: list[Html | Figure] = field(default_factory=list)

    def add(self, *parts: Html | Figure | None) -> None:
        self.parts += [part for part in parts if part is not None]


def escaped(text: object) -> str:
    return html.escape(str(text))


def paragraph(text: str, kind: str = "") -> Html:
    """``kind``: a class of page.css, such as note or alarm."""
    return Html(f'<p class="{kind}">{escaped(text)}</p>' if kind else f"<p>{escaped(text)}</p>")


def bullets(lines: Iterable[str]) -> Html | None:
    items = "".join(f"<li>{escaped(line)}</li>" for line in lines)
    return Html(f"<ul>{items}</ul>") if items else None


def facts(pairs: Iterable[tuple[str, object]]) -> Html:
    """Names with their values, next to each other."""
    cells = "".join(f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>" for name, value in pairs)
    return Html(f'<dl class="facts">{cells}</dl>')


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    numbers: Sequence[int] = (),
    dim: Iterable[int] = (),
) -> Html:
    """``numbers``: columns to be set to the right; ``dim``: rows that matter less.
    Long tables are cut, which is said.
    """
    right, faint = set(numbers), set(dim)

    def cell(kind: str, column: int, text: object) -> str:
        return f"<{kind}{' class=n' if column in right else ''}>{escaped(text)}</{kind}>"

    head = "".join(cell("th", column, title) for column, title in enumerate(header))
    body = "".join(
        f"<tr{' class=dim' if number in faint else ''}>"
        + "".join(cell("td", column, text) for column, text in enumerate(row))
        + "</tr>"
        for number, row in enumerate(rows[:MOST_ROWS])
    )
    left = len(rows) - MOST_ROWS
    more = f'<p class="note">{left:,} more rows are not shown.</p>' if left > 0 else ""
    return Html(
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{more}'
    )


def packed(values: Any, kind: str = "f4") -> dict[str, str]:
    """An array of numbers as plotly.js reads it fastest; NaN is nothing."""
    array: NDArray[Any] = np.ascontiguousarray(values, dtype=kind)
    data = {"dtype": kind, "bdata": base64.b64encode(array.tobytes()).decode()}
    return data if array.ndim == 1 else {**data, "shape": ", ".join(map(str, array.shape))}


def layout(**more: Any) -> dict[str, Any]:
    """The look that all figures share."""
    axis = {"gridcolor": style.FAINT, "linecolor": style.MUTED, "zeroline": False, "automargin": True}
    base: dict[str, Any] = {
        "font": {"family": FONT, "size": 13, "color": style.INK},
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "margin": {"l": 70, "r": 30, "t": 30, "b": 55},
        "hoverlabel": {"font": {"family": FONT, "size": 13}, "align": "left"},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "hovermode": "closest",
    }
    for name, value in more.items():
        base[name] = {**axis, **value} if name.startswith(("xaxis", "yaxis")) else value
    for name in ("xaxis", "yaxis"):
        base.setdefault(name, dict(axis))
    return base


def shades(name: str, low: float, high: float) -> list[list[float | str]]:
    """A colour map of matplotlib, from one end to the other, as a scale of plotly's."""
    colours = mpl.colormaps[name](np.linspace(low, high, _SHADES))
    return [[place / (_SHADES - 1), to_hex(colour)] for place, colour in enumerate(colours)]


# Where a legend of many lines does not cover the figure.
BESIDE: Final = {"x": 1.02, "y": 1, "orientation": "v"}
# Same colour scales as in plots.gantt and plots.busy.
PHASE_SCALE: Final = shades("viridis", 0.12, 0.93)
BUSY_SCALE: Final = shades("YlGnBu", 0.2, 1.0)
