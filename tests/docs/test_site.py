"""The site has all pages in its order, and keeps its size."""

from __future__ import annotations

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
PAGES = sorted(ROOT.glob("docs/*.md"))


def test_every_page_has_its_place() -> None:
    groups = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    assert [name for group in groups for name in group] == ["Tutorial", "How-to", "Reference", "Explanation"]
    entries = [entry for group in groups for pages in group.values() for entry in pages]
    titles = {path: title for entry in entries for title, path in entry.items()}
    assert sorted(titles) == [str(page.relative_to(ROOT)) for page in PAGES]
    for path, title in titles.items():
        assert (ROOT / path).read_text().startswith(f"# {title}\n")


def test_the_pages_can_be_read_in_an_afternoon() -> None:
    assert len(PAGES) <= 15
    assert sum(len(page.read_text().split()) for page in PAGES) <= 35_000
    assert len((ROOT / "README.md").read_text().split()) <= 450
