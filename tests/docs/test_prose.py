"""Few rules of prose: sentences of at most 30 words, no double negation, no private words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("packaging/**/*.md"),
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    ]
)
LONGEST = 30  # words
# What the words of the field replace: candidate, inter-switch link, two-level, component, kept timings.
PRIVATE = re.compile(r"\b(arms?|guards?|trunks?|bundl\w+|islands?|startups?|sisters)\b", re.IGNORECASE)
OURS = re.compile(r"(?<!batch )(?<!job )\bschedulers?\b", re.IGNORECASE)
NEGATION = r"(?:not|no|never|nothing|nobody|none|cannot|without|nor)"
DOUBLE = re.compile(
    rf"\b{NEGATION}\b(?: \w+){{0,2}} (?:un(?:like|common|usual|likely|able)|not|never|nothing|nobody|none|without)\b",
    re.IGNORECASE,
)


def sentences(text: str) -> Iterator[str]:
    """Sentences of paragraphs, list items and cells of tables, without code, links and emphasis."""
    text = re.sub(r"^```.*?^```|^::: .*?(?=^\S|\Z)|^ {4}.*?$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "CODE", text)
    text = re.sub(r"^\|(.*)\|$", lambda row: "\n\n".join(row[1].split("|")) + "\n", text, flags=re.MULTILINE)
    text = re.sub(r"^(?:#+|[-*]|\d+\.) (.*)$", r"\n\1", text, flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n", text):
        plain = " ".join(paragraph.replace("*", "").split())
        yield from re.split(r"(?<=[.!?]) (?=\S)", plain)


def faults(text: str) -> list[str]:
    found = []
    for sentence in sentences(text):
        if len(sentence.split()) > LONGEST:
            found.append(f"{len(sentence.split())} words: {sentence}")
        for rule, name in ((PRIVATE, "private word"), (OURS, "private word"), (DOUBLE, "double negation")):
            if match := rule.search(sentence):
                found.append(f"{name} '{match[0]}': {sentence}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_prose(page: Path) -> None:
    assert faults(page.read_text()) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("word " * 31 + ".", "32 words"),
        ("- " + "word, " * 31, "31 words"),
        ("Each arm of a [trunk](x.md) is timed.", "private word 'arm'"),
        ("| a | the scheduler decides |", "private word 'scheduler'"),
        ("That is not uncommon.", "double negation 'not uncommon'"),
        ("Nobody has nothing.", "double negation 'Nobody has nothing'"),
    ],
)
def test_faults_are_found(text: str, fault: str) -> None:
    assert faults(text)[0].startswith(fault)


def test_what_is_no_fault() -> None:
    assert faults(f"{'word ' * 29}end. The batch scheduler starts.\n\n```\n{'trunk ' * 40}\n```\n") == []
