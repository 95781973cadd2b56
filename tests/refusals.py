"""Form of every command's answer to bad input."""

from __future__ import annotations

from typing import Any


def refused(answer: Any, *says: str) -> None:
    """One line on stderr, exit code 2, no traceback."""
    assert answer.code == 2, answer
    assert answer.out == ""
    assert answer.err.startswith("hocket: ") and answer.err.count("\n") == 1, answer.err
    assert "Traceback" not in answer.err
    for part in says:
        assert part in answer.err
