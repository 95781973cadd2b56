"""A seeded sample of spoilt command lines for every command."""

from __future__ import annotations

from pathlib import Path

import pytest

from bad_input import NOT_TRIED, Answer, Case, commands, complaint, harmless, outcomes
from bad_values import VALID

SAMPLE = 300


def test_every_command_answers_in_one_clear_line(tmp_path: Path) -> None:
    with harmless(tmp_path):
        found = outcomes(tmp_path, "tests", SAMPLE)
    assert [f"{one.wrong}: {one.case} → {one.message}" for one in found if one.wrong] == []
    assert {one.code for one in found} >= {0, 2}
    assert sum(one.code == 2 for one in found) > SAMPLE / 2  # most are refused


def test_every_command_is_tried() -> None:
    assert {name for name, _ in commands()} == VALID.keys() | NOT_TRIED.keys()


@pytest.mark.parametrize(
    ("code", "out", "err", "says"),
    [
        (2, b"", b"hocket: wrong; right it\n", ""),
        (0, b"done\n", b"", ""),
        (2, b"", b"hocket: wrong\n", "names no remedy"),
        (2, b"", b"hocket: wrong; right it\nTraceback\n", "an exception that nobody"),
        (
            2,
            b"",
            b"hocket: a fault of Hocket: KeyError: 'x' (a.py:1); please report it\n",
            "an exception that nobody",
        ),
        (2, b"half", b"hocket: wrong; right it\n", "prints something"),
        (2, b"", b"hocket: wrong\x1b[2J; right it\n", "control characters"),
        (0, b"\xff", b"", "no UTF-8"),
        (70, b"", b"", "exit code 70"),
        (2, b"", b"wrong; right it\n", "is not one line"),
        (2, b"", b"hocket: " + b"x" * 3000 + b"; right it\n", "a message of 30"),
    ],
)
def test_a_bad_answer_is_found(code: int, out: bytes, err: bytes, says: str) -> None:
    wrong = complaint(Case("plan", []), Answer(code, out, err), {}, {})
    assert says in wrong and bool(says) == bool(wrong)


def test_files_that_are_changed_or_left_are_found() -> None:
    refused = Answer(2, b"", b"hocket: wrong; right it\n")
    assert "has changed a" in complaint(Case("plan", []), refused, {"a": b"1"}, {"a": b"2"})
    assert "leaves .p.hkt.x" in complaint(Case("plan", []), refused, {}, {".p.hkt.x": b""})
