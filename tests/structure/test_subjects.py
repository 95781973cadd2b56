"""Docstrings and doc comments begin with their subject or an imperative verb, so that they are read once."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("core", "runtime", "sort", "bindings", "papers", "python", "bench", "examples", "tests")
C_SUFFIXES = {".c", ".cpp", ".h", ".hpp", ".in"}
WITHOUT_SUBJECT = re.compile(r"\s*(?:Of|What|By|As|Whether)\b")
DOC_COMMENT = re.compile(r"\s*(?://[/!]|/\*[*!])<?(.*)")


def docstrings(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of each docstring in a Python file."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            doc = ast.get_docstring(node)
            if doc is not None:
                yield node.body[0].lineno, doc


def doc_comments(text: str) -> Iterator[tuple[int, str]]:
    """Line and first words of each doc comment in a C or C++ file: ``///`` and ``/**`` on lines of their own."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        found = DOC_COMMENT.match(line)
        if found and not inside:
            yield number, found[1]
        inside = found is not None


def openings(language: str) -> list[str]:
    """Places in the repository whose docstring or doc comment opens without a subject, with its first words."""
    suffixes, read = ({".py"}, docstrings) if language == "Python" else (C_SUFFIXES, doc_comments)
    return [
        f"{path.relative_to(ROOT)}:{number}: {text.strip()[:60]}"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in suffixes
        for number, text in read(path.read_text(encoding="utf-8"))
        if WITHOUT_SUBJECT.match(text)
    ]


def test_docstrings_begin_with_their_subject() -> None:
    assert not openings("Python")


def test_doc_comments_begin_with_their_subject() -> None:
    assert not openings("C")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("/// What it is.\nint a;\n", 1),
        ("/// The size.\n/// As bytes.\nint a;\n", 1),
        ("  /** Of all ranks. */\nint a;\n/// Bytes.\nint b;\n", 2),
        ("int a;  ///< What it is.\n// Of all.\n", 0),
    ],
)
def test_only_the_first_line_of_a_doc_comment_counts(text: str, found: int) -> None:
    assert len(list(doc_comments(text))) == found
