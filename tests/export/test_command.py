"""``hocket export``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hocket.cli import main
from hocket.export import FORMATS


@pytest.fixture
def plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    path = str(tmp_path / "plan.hkt")
    assert main(["plan", "all-to-all", "--network", "star:3", "--bytes", "8", "-o", path]) == 0
    capsys.readouterr()
    return path


@pytest.mark.parametrize("form", FORMATS)
def test_files_are_written(form: str, plan: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "out.txt"
    assert main(["export", "--to", form, plan, "-o", str(output), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["format"], told["messages"]) == (form, 6)
    assert told["files"][0] == str(output) and all(Path(path).is_file() for path in told["files"])
    assert main(["export", "--to", form, plan, "-o", str(output)]) == 0
    assert capsys.readouterr().out.startswith(f"wrote {output}")


def test_standard_output(plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--to", "goal", plan, "-o", "-"]) == 0
    assert "num_ranks 3\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "smpi-trace", "PLAN", "-o", "-"], "smpi-trace takes 6 files; name the first"),
        (["--to", "goal", "PLAN", "-o", "-", "--json"], "both go to standard output"),
        (["--to", "goal", "PLAN", "-o", "no/such/folder"], "there is no directory no/such"),
        (["--to", "goal", "no-such-plan", "-o", "x"], "cannot read the plan no-such-plan"),
        (["--to", "gaol", "PLAN", "-o", "x"], "--to 'gaol' is not accepted"),
    ],
)
def test_refusals(arguments: list[str], message: str, plan: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", *[plan if word == "PLAN" else word for word in arguments]]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
