"""Pages and result files, as tests compare them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
from results_file import RESULTS, ROOT, Row, read


def prose(page: str) -> str:
    """The page in one line, without emphasis and the targets of links."""
    text = re.sub(r"\]\([^)]*\)", "]", (ROOT / f"docs/{page}.md").read_text())
    return " ".join(text.replace("*", "").replace("[", "").replace("]", "").split())


def text_of(name: str) -> str:
    """A summary."""
    return (RESULTS / f"{name}.md").read_text()


def rows_of(name: str) -> list[Row]:
    return read(RESULTS / f"{name}.csv")[1]


def cells_of(name: str) -> list[list[str]]:
    """The rows of all tables of a summary."""
    lines = text_of(name).splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
