"""docs/c-and-python.md: every example gives what it shows, and every public name of planning is told."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

import hocket

PAGE = (Path(__file__).parents[2] / "docs" / "c-and-python.md").read_text()
TOLD = ["Network", "Plan", "plan", "simulate", "verify"]


def sections() -> dict[str, str]:
    """Text of each section with examples, by its title."""
    parts = [part.partition("\n") for part in re.split(r"^#+ ", PAGE, flags=re.MULTILINE)[1:]]
    return {title: text for title, _, text in parts if ">>>" in text}


@pytest.mark.parametrize("title", sections())
def test_examples(title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = sections()[title]
    for module in re.findall(r"^>>> import (\w+)", text, re.MULTILINE):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(text, {}, title, "docs/c-and-python.md", 0)
    said: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert result.attempted and not result.failed, "".join(said)


@pytest.mark.parametrize("name", TOLD)
def test_public_members_are_told(name: str) -> None:
    assert f"hocket.{name}" in PAGE
    thing = getattr(hocket, name)
    members = [m for m in vars(thing) if not m.startswith("_")] if isinstance(thing, type) else []
    members += [] if isinstance(thing, type) else [p for p in thing.__annotations__ if p != "return"]
    assert members
    for member in members:
        assert re.search(rf"\b{member}\b", PAGE), member
