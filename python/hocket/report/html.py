"""The page: one HTML file of text, tables and pictures. All text from files is escaped here."""

import base64
import html
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

from hocket import __version__

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
    parts: list[Html]


def section(title: str, *parts: Html | None, level: int = 2) -> Section:
    """A section of those of the parts that there are."""
    return Section(title, level, [part for part in parts if part is not None])


def escaped(text: object) -> str:
    return html.escape(str(text))


def paragraph(text: str, kind: str = "") -> Html:
    """``kind``: a class of page.css, such as note or alarm."""
    return Html(f'<p class="{kind}">{escaped(text)}</p>' if kind else f"<p>{escaped(text)}</p>")


def bullets(lines: Iterable[str]) -> Html | None:
    items = "".join(f"<li>{escaped(line)}</li>" for line in lines)
    return Html(f"<ul>{items}</ul>") if items else None


def facts(*pairs: tuple[str, object]) -> Html:
    """Names with their values, next to each other."""
    cells = "".join(f"<div><dt>{escaped(name)}</dt><dd>{escaped(value)}</dd></div>" for name, value in pairs)
    return Html(f'<dl class="facts">{cells}</dl>')


def picture(about: str, draw: Callable[[Path], object], kind: str = "svg") -> Html:
    """Picture that ``draw`` writes into a file of this ``kind`` (svg, png); ``about`` tells those who do not see it."""
    with tempfile.TemporaryDirectory(prefix="hocket-") as folder:
        file = Path(folder) / f"picture.{kind}"
        draw(file)
        data = base64.b64encode(file.read_bytes()).decode()
    media = "svg+xml" if kind == "svg" else kind
    return Html(f'<img class="figure" alt="{escaped(about)}" src="data:image/{media};base64,{data}">')


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    numbers: Sequence[int] = (),
    dim: Iterable[int] = (),
) -> Html:
    """``numbers``: columns set to the right; ``dim``: rows that matter less. Long tables are cut, which is said."""
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


def page(title: str, made: str, sections: Sequence[Section]) -> str:
    """The whole file. ``made``: of what it was made, and when."""
    contents = "".join(
        f'<li class="l{section.level}"><a href="#s{number}">{escaped(section.title)}</a></li>'
        for number, section in enumerate(sections)
    )
    values = {
        "TITLE": escaped(title),
        "MADE": escaped(made),
        "VERSION": escaped(__version__),
        "STYLE": _template("page.css"),
        "SCRIPT": _template("page.js"),
        "CONTENTS": f"<ul>{contents}</ul>",
        "BODY": "\n".join(_body(sections)),
    }
    return re.sub(r"@([A-Z]+)@", lambda match: values[match[1]], _template("page.html"))


def _template(name: str) -> str:
    return resources.files("hocket.report").joinpath("templates", name).read_text(encoding="utf-8")


def _body(sections: Sequence[Section]) -> Iterator[str]:
    for number, section in enumerate(sections):
        tag = f"h{section.level + 1}"
        yield f'<section id="s{number}"><{tag}>{escaped(section.title)}</{tag}>'
        yield from (part.text for part in section.parts)
        yield "</section>"
