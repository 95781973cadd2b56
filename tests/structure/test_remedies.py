"""Every error that is raised says what to do about it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from hocket import errors

PYTHON = Path(errors.__file__).parent
ERRORS = {
    name
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.HocketError)
}


def without_remedy(source: str) -> Iterator[int]:
    """Lines of errors that are made of a text of their own and have no remedy."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or getattr(node.func, "id", "") not in ERRORS or not node.args:
            continue
        own_text = isinstance(node.args[0], (ast.Constant, ast.JoinedStr))
        if own_text and not any(keyword.arg == "remedy" for keyword in node.keywords):
            yield node.lineno


def test_every_error_has_a_remedy() -> None:
    found = [
        f"{path.relative_to(PYTHON)}:{line}"
        for path in sorted(PYTHON.rglob("*.py"))
        for line in without_remedy(path.read_text())
    ]
    assert found == []


def test_one_without_is_found() -> None:
    assert list(without_remedy('raise UsageError("wrong")\nraise UsageError(f"{a} wrong", remedy="b")')) == [
        1
    ]
    assert list(without_remedy("raise HocketError(message['error'])")) == []
