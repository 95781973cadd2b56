"""bench/results and papers/*/results: what is written is read back as it was; summaries say what the CSV files say."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
from results_file import RESULTS, ROOT, pairs, read, values, write


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    heading = {"date": "2026-01-31", "rate": 2.5, "sizes": [8, 1024], "env": {}}
    rows = [
        {"mpi": "mpich", "size": 8, "seconds": [0.1, 1e-17], "ratio": 1, "right": True, "why": "late, lost"},
        {"mpi": "openmpi", "size": None, "seconds": [3.0], "ratio": 1.5, "right": False, "calls": {"a b": 3}},
    ]
    write(tmp_path / "some.csv", heading, rows)
    told, found = read(tmp_path / "some.csv")
    assert told == {"date": "2026-01-31", "rate": 2.5, "sizes": "8;1024"}
    assert [values(row["seconds"]) for row in found] == [[0.1, 1e-17], [3.0]]
    assert [pairs(row["calls"]) for row in found] == [{}, {"a b": "3"}]
    assert [(row["size"], row["ratio"], row["right"], row["why"]) for row in found] == [
        (8, 1.0, True, "late, lost"),
        (None, 1.5, False, None),
    ]


# Results whose script is gone, and the script.
ONCE = dict(
    re.findall(r"^\| \[([\w-]+)\].* \| `(.*)` \|$", (RESULTS / "README.md").read_text(), re.MULTILINE)
)
FILES = [*RESULTS.glob("*.csv"), *ROOT.glob("papers/*/results/*.csv")]
WRITTEN = sorted(path for path in FILES if path.stem not in ONCE)


# What Python and its libraries take to start is most of what a summary takes.
ALL_OF_A_SCRIPT = """
import runpy, sys, traceback
script, *files = sys.argv[1:]
sys.path[0] = script.rpartition("/")[0]
for file in files:
    sys.argv = [script, "--summary", "--output", file]
    try:
        runpy.run_path(script, run_name="__main__")
    except BaseException as end:
        if getattr(end, "code", 1):
            open(file.removesuffix(".csv") + ".md", "w").write(traceback.format_exc())
"""


@functools.cache
def script_of(path: Path) -> Path:
    """The script that has written a file of results."""
    return ROOT / read(path)[0]["command"].split()[1]


@pytest.fixture(scope="module")
def summaries(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """The folder with the summaries of all files of a script, made in one process; of one that fails, why."""

    @functools.cache
    def made(script: Path) -> Path:
        folder = tmp_path_factory.mktemp(script.stem)
        copies = [shutil.copy(path, folder) for path in WRITTEN if script_of(path) == script]
        command = [sys.executable, "-c", ALL_OF_A_SCRIPT, str(script), *map(str, copies)]
        subprocess.run(command, check=True, timeout=200)
        return folder

    return made


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.stem)
def test_a_summary_is_made_from_its_file(path: Path, summaries: Callable[[Path], Path]) -> None:
    made = summaries(script_of(path)) / f"{path.stem}.md"
    assert made.read_text() == path.with_suffix(".md").read_text()


def test_results_whose_script_is_gone_are_listed() -> None:
    gone = {path.stem: script_of(path) for path in FILES if not script_of(path).exists()}
    assert {name: str(script.relative_to(ROOT)) for name, script in gone.items()} == ONCE
