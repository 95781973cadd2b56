"""Answers in ``console`` blocks of pages are those of the commands, but for durations; ``…`` stands for anything.

The commands of a page run one after the other in one folder, as a reader would type them in a clone.
"""

from __future__ import annotations

import importlib
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import pytest

ROOT = Path(__file__).parents[2]
PAGES = [path for path in sorted(ROOT.glob("docs/*.md")) if "```console\n" in path.read_text()]
DURATION = re.compile(r"(took|checked in|runtime in) .*")


def shown(text: str, kind: str = "console") -> list[tuple[str, str]]:
    """Commands of the blocks of this kind, and their answers."""
    blocks = re.findall(rf"^```{kind}\n(\$ .*?)^```", text, re.DOTALL | re.MULTILINE)
    return [
        pair for block in blocks for pair in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    ]


def is_answered(answer: str, said: str) -> bool:
    """True if the text is the same, durations aside, with anything for ``…``."""
    pattern = re.escape(DURATION.sub("", answer)).replace("…\\\n", "(?:.*\n)*").replace("…", ".*")
    return re.fullmatch(pattern, DURATION.sub("", said)) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_answer_as_shown(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    # A list of fonts that takes long to make is a line of output.
    importlib.import_module("matplotlib.font_manager")
    monkeypatch.setenv("MPLCONFIGDIR", mpl.get_cachedir())
    commands = shown(page.read_text())
    assert commands
    for command, answer in commands:
        words = [sys.executable, "-m", *shlex.split(command)]
        done = subprocess.run(
            words,
            cwd=tmp_path,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        assert is_answered(answer, done.stdout), f"$ {command}\n{done.stdout}"


def test_the_readme_shows_an_answer_of_the_tutorial() -> None:
    told = dict(shown((ROOT / "docs/first-plan.md").read_text()))
    commands = shown((ROOT / "README.md").read_text(), kind="")
    assert commands
    for command, answer in commands:
        lines = iter(told[command].splitlines())
        assert all(line in lines for line in answer.splitlines() if line != "…")


def test_other_answers_are_noticed() -> None:
    assert is_answered("phases 9\n…\ntook 1 s\n", "phases 9\nbound 9\nratio 1\ntook 2 s\n")
    assert not is_answered("phases 9\ntook 1 s\n", "phases 8\ntook 1 s\n")
    assert not is_answered("phases 9\n", "phases 9\nbound 9\n")
