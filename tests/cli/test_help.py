"""``hocket help``: every page is there, and every page that messages name."""

from __future__ import annotations

import ast
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hocket.cli import COMMANDS
from hocket.cli import help as guide
from hocket.errors import HocketError
from hocket.network import read_network
from refusals import refused

ROOT = Path(__file__).parents[2]
PAGES = {path.stem: path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))}


def test_the_topics_with_their_titles(hocket) -> None:
    answer = hocket("help")
    listed = dict(line.split(maxsplit=1) for line in answer.out.splitlines())
    assert listed == {name: text.partition("\n")[0].removeprefix("# ") for name, text in PAGES.items()}
    assert all(title and not title.startswith("#") for title in listed.values())


@pytest.mark.parametrize("topic", ["networks", "networks.md", "docs/networks.md", "Networks"])
def test_a_page_through_a_pipe_is_the_file(hocket, topic: str) -> None:
    answer = hocket("help", topic)
    assert (answer.code, answer.out, answer.err) == (0, PAGES["networks"], "")


def test_every_page_comes_with_the_package(hocket) -> None:
    assert [hocket("help", topic).out for topic in PAGES] == list(PAGES.values())


def on_a_terminal(*arguments: str) -> str:
    """Output of the command on a terminal, without styles."""
    main, end = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "PAGER": "cat", "COLUMNS": "120"}
    process = subprocess.Popen(
        [sys.executable, "-m", "hocket", *arguments], stdin=end, stdout=end, stderr=end, env=env
    )
    os.close(end)
    text = b""
    until = time.monotonic() + 60
    while time.monotonic() < until and select.select([main], [], [], 60)[0]:
        try:
            text += os.read(main, 65536)
        except OSError:  # the other end is closed
            break
    os.close(main)
    assert process.wait(timeout=60) == 0
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text.decode()).replace("\r\n", "\n")


@pytest.mark.parametrize("topic", ["networks", "commands", "troubleshooting"])
def test_a_terminal_gets_it_set(topic: str) -> None:
    shown = on_a_terminal("help", topic)
    assert "```" not in shown and "](" not in shown and f"# {PAGES[topic][2:10]}" not in shown
    heading = next(line for line in PAGES[topic].splitlines() if line.startswith("## ")).removeprefix("## ")
    assert PAGES[topic].partition("\n")[0][2:] in shown and heading in shown
    assert all(len(line) <= 120 for line in shown.splitlines())


def test_the_options_of_a_command(hocket) -> None:
    answer = hocket("help", "verify")
    assert answer.code == 0 and answer.out.startswith("Usage: hocket verify ")
    assert answer.out == hocket("verify", "--help").out


@pytest.mark.parametrize("group", ["bench", "calibrate", "lab", "network", "plan", "tune"])
def test_lists_of_commands_have_whole_sentences(hocket, group: str) -> None:
    listed = hocket(group, "--help").out.partition("\nCommands:\n")[2]
    assert listed and "..." not in listed


@pytest.mark.parametrize(
    ("topic", "says"),
    [
        ("networx", "or networks?"),
        ("simulat", "did you mean simulate"),
        ("zzz", "'hocket help' lists them"),
    ],
)
def test_an_unknown_topic(program, topic: str, says: str) -> None:
    refused(program("help", topic), f"there is no topic '{topic}'", says)


def test_an_installation_without_pages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(guide, "_folder", lambda: tmp_path / "docs")
    with pytest.raises(HocketError, match="install it again"):
        guide.pages()


def texts() -> Iterator[tuple[str, str]]:
    """Texts of the package that users may read: strings of its modules except docstrings, and its headers."""
    for path in sorted((ROOT / "python").rglob("*.py")):
        if path.name == "help.py":
            continue
        tree = ast.parse(path.read_text())
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                yield f"{path}:{node.lineno}", node.value
    for path in sorted((ROOT / "runtime" / "include").glob("*.h")):
        yield str(path), path.read_text()


def test_messages_name_only_pages_that_are_there() -> None:
    named = [
        (where, topic) for where, text in texts() for topic in re.findall(r"hocket help ([a-z-]+)", text)
    ]
    assert {topic for _, topic in named} >= {"networks", "formats", "c-and-python"}
    assert [found for found in named if found[1] not in PAGES] == []
    assert [where for where, text in texts() if re.search(r"\bdocs/", text)] == []


def test_a_message_names_the_page(tmp_path: Path) -> None:
    file = tmp_path / "net.conf"
    file.write_text("what is this\n")
    with pytest.raises(HocketError, match="see 'hocket help networks'"):
        read_network(str(file))


def test_no_command_hides_a_page_of_another_subject() -> None:
    """A name that is both shows the page, which describes the command."""
    for name in set(COMMANDS) & set(PAGES):
        assert f"hocket {name}" in PAGES[name]
