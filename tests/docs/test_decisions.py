"""Decisions are listed by their titles in docs/decisions/README.md; a superseded one names its successor."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DECISIONS = Path(__file__).parents[2] / "docs/decisions"
RECORDS = sorted(DECISIONS.glob("0*.md"))
LISTED = re.findall(
    r"^- (\d+)\. \[(.+)\]\((\S+)\)(?: \((?:in part )?superseded by (\d+)\))?$",
    (DECISIONS / "README.md").read_text(),
    re.MULTILINE,
)


def test_every_record_is_listed_by_its_title() -> None:
    titles = [(path.name, path.read_text().split("\n", 1)[0]) for path in RECORDS]
    assert [(name, f"# {number}. {title}") for number, title, name, _ in LISTED] == titles
    assert all(int(name[:4]) == int(number) for number, _, name, _ in LISTED)


@pytest.mark.parametrize("number", [each[0] for each in LISTED])
def test_a_superseded_record_names_its_successor(number: str) -> None:
    _, _, name, successor = next(each for each in LISTED if each[0] == number)
    text = (DECISIONS / name).read_text()
    named = re.findall(r"^Superseded (?:in part )?by \[decision (\d+)\]\((\d+)-\S+\)", text, re.MULTILINE)
    assert [other for other, _ in named] == ([successor] if successor else [])
    for other, file in named:
        assert int(other) == int(file) > int(number)


def test_a_record_that_replaces_another_is_named_by_it() -> None:
    """Records that are gone have no file to say it in."""
    successors = {number: successor for number, _, _, successor in LISTED}
    for path in RECORDS:
        told = " ".join(re.findall(r"^(?:Replaces|In place of)\b.*", path.read_text(), re.MULTILINE))
        replaced = re.findall(r"\d+", re.sub(r"\(\S+\)", "", told))
        assert all(successors[old] == str(int(path.name[:4])) for old in replaced if old in successors)
