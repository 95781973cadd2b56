"""Pages keep the rules of prose: sentences of at most 30 words, no double negation, no private words."""

from __future__ import annotations

from pathlib import Path

import pytest

from prose import faults

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("packaging/**/*.md"),
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    ]
)


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
