"""Parts of pages: text, tables and figures. All text from files is escaped here."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST_ROWS: Final = 400  # of a table


@dataclass(frozen=True, slots=True)
class Html:
    """A piece of the page."""

    text: str


@dataclass(slots=True)
class Section:
    """A heading of the page with what is below it; ``level`` 1 is a file, 2 a part of it."""

    title: str
    level: int
    parts: list[Html | go.Figure] = field(default_factory=list)

    def add(self, *parts: Html | go.Figure | None) -> None:
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
