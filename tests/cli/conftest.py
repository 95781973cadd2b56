"""The command line, called in this process or as a program of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hocket.cli import cli
from hocket.cli.sort import sort
from mpi_programs import mpi  # noqa: F401

SORT = "hocket-sort"  # in front of arguments: that program, not `hocket`
BEGIN_SORT = "import sys; from hocket.__main__ import sort; sys.exit(sort())"


@dataclass
class Answer:
    code: int
    out: str
    err: str

    def object(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.out)
        return parsed


Call = Callable[..., Answer]


@pytest.fixture
def hocket() -> Call:
    def call(*arguments: object) -> Answer:
        name, *rest = [str(a) for a in arguments] or [""]
        command, words = (sort, rest) if name == SORT else (cli, list(map(str, arguments)))
        result = CliRunner().invoke(command, words, prog_name=SORT if name == SORT else "hocket")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    return call


@pytest.fixture
def program() -> Call:
    def call(*arguments: object, **options: Any) -> Answer:
        begin = ["-m", "hocket"]
        if arguments[:1] == (SORT,):
            begin, arguments = ["-c", BEGIN_SORT], arguments[1:]
        done = subprocess.run(
            [sys.executable, *begin, *map(str, arguments)],
            capture_output=True, text=True, check=False, timeout=120, **options,
        )  # fmt: skip
        return Answer(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def plan(tmp_path: Path, hocket: Call) -> Path:
    """A plan for chain:3,2,2."""
    path = tmp_path / "plan.hkt"
    assert hocket("plan", "all-to-all", "--network", "chain:3,2,2", "-o", path).code == 0
    return path
