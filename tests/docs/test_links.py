"""Every link of the documentation leads to a file, and to a heading of it where it names one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for pattern in (
        "*.md",
        "*/README.md",
        "docs/**/*.md",
        "bench/**/*.md",
        "papers/**/*.md",
        "examples/**/*.md",
    )
    for path in ROOT.glob(pattern)
)


def prose(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The headings as links name them."""
    titles = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).lower() for title in titles)
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in plain}


def broken(page: Path) -> list[str]:
    wrong = []
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        name, _, heading = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if re.match(r"\w+:", link):
            continue
        if not target.exists() or (heading and heading not in anchors(target)):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_broken_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text("# One `of` two\n[a](#one-of-two) [b](#three) [c](b.md) [d](https://example.org/x)\n")
    assert broken(page) == ["#three", "b.md"]
