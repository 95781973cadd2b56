"""Help and messages keep the rules of prose that pages keep."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from bad_input import commands
from prose import faults

ROOT = Path(__file__).parents[2]
EVERY = dict(commands())


def texts_of(command: click.Command) -> Iterator[str]:
    """Description and options, without lines that are shown as they are and without defaults."""
    yield re.sub(r"\b\n.*?(?:\n\n|\Z)", "", command.help or "", flags=re.DOTALL)
    context = click.Context(command)
    for option in command.get_params(context):
        record = option.get_help_record(context)
        if record is not None:
            yield re.sub(r"\[default:.*?\]", "", record[1])


def strings_of_python(path: Path) -> Iterator[str]:
    """Texts that are no docstrings; what a program puts into them is one word."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        for field in getattr(node, "body", []) if not isinstance(node, (ast.Lambda, ast.IfExp)) else []:
            if isinstance(field, ast.Expr) and isinstance(field.value, ast.Constant):
                field.value.value = ""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def strings_of_c(path: Path) -> Iterator[str]:
    """Literals, those that stand side by side joined."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    yield from re.findall(r'"((?:[^"\\\n]|\\.)*)"', re.sub(r'"\s*\n\s*"', "", text))


@pytest.mark.parametrize("name", EVERY)
def test_help(name: str) -> None:
    assert [fault for text in texts_of(EVERY[name]) for fault in faults(text)] == []


@pytest.mark.parametrize(
    ("folder", "pattern"), [("python/hocket", "*.py"), ("runtime", "*.[ch]*"), ("sort/mpi", "*.[ch]*")]
)
def test_messages(folder: str, pattern: str) -> None:
    read = strings_of_python if folder.startswith("python") else strings_of_c
    found = {
        f"{path.relative_to(ROOT)}: {fault}"
        for path in sorted((ROOT / folder).rglob(pattern))
        for text in read(path)
        if len(text.split()) > 2
        for fault in faults(text)
    }
    assert found == set()


def test_faults_in_sources_are_found(tmp_path: Path) -> None:
    python, c = tmp_path / "a.py", tmp_path / "a.c"
    python.write_text('"""A trunk in a docstring."""\nraise E(f"the {x} bundled a message")\n')
    c.write_text('/* a trunk */ say("the trunk"\n    " is unknown");\n')
    assert next(fault for text in strings_of_python(python) for fault in faults(text)).startswith(
        "private word"
    )
    assert faults(next(strings_of_c(c))) == ["private word 'trunk': the trunk is unknown"]
