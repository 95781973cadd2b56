"""The page: one HTML file with its style, its script and the library that draws."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from hocket import __version__
from hocket.errors import MissingToolError
from hocket.report.page.parts import Html, Section, escaped

if TYPE_CHECKING:
    import plotly.graph_objects as go

_LIBRARY: Final = "package_data/plotly.min.js"


def library() -> str:
    """plotly.js, which comes with plotly's package. Raises MissingToolError where that is not installed."""
    found = importlib.util.find_spec("plotly")
    places = found.submodule_search_locations if found is not None else None
    path = Path(places[0]) / _LIBRARY if places else None
    if path is None or not path.is_file():
        raise MissingToolError(
            "pages are drawn by plotly, which is not installed", remedy="pip install 'hocket[report]'"
        )
    return path.read_text(encoding="utf-8")


def page(title: str, made: str, sections: Sequence[Section]) -> str:
    """The whole file. ``made``: of what it was made, and when."""
    script = library().replace("</script", "<\\/script")
    values = {
        "TITLE": escaped(title),
        "MADE": escaped(made),
        "VERSION": escaped(__version__),
        "STYLE": _template("page.css"),
        "SCRIPT": _template("page.js"),
        "PLOTLY": script,
        "CONTENTS": _contents(sections),
        "BODY": "\n".join(_body(sections)),
    }
    return re.sub(r"@([A-Z]+)@", lambda match: values[match[1]], _template("page.html"))


def _template(name: str) -> str:
    return resources.files("hocket.report.page").joinpath("templates", name).read_text(encoding="utf-8")


def _contents(sections: Sequence[Section]) -> str:
    lines = "".join(
        f'<li class="l{section.level}"><a href="#s{number}">{escaped(section.title)}</a></li>'
        for number, section in enumerate(sections)
    )
    return f"<ul>{lines}</ul>"


def _body(sections: Sequence[Section]) -> Iterator[str]:
    figures = 0
    for number, section in enumerate(sections):
        tag = f"h{section.level + 1}"
        yield f'<section id="s{number}"><{tag}>{escaped(section.title)}</{tag}>'
        for part in section.parts:
            if isinstance(part, Html):
                yield part.text
            else:
                yield _figure(part, f"f{figures}")
                figures += 1
        yield "</section>"


def _figure(figure: go.Figure, name: str) -> str:
    # Arrays become base64, which plotly.js reads fastest, but for empty ones.
    data = json.dumps(figure.to_dict(), separators=(",", ":"), allow_nan=False, default=np.ndarray.tolist)
    # Nothing in a text of JSON may end the element that it stands in.
    data = data.replace("<", "\\u003c")
    return (
        f'<div class="figure" data-figure="{name}" style="min-height:{figure.layout.height}px"></div>'
        f'<script type="application/json" id="{name}">{data}</script>'
    )
