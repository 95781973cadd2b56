"""bench/results and papers/*/results: what is written is read back as it was; summaries say what the CSV files say."""

from __future__ import annotations

import shutil
import subprocess
import sys
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


WRITTEN = sorted([*RESULTS.glob("*.csv"), *ROOT.glob("papers/*/results/*.csv")])


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.stem)
def test_a_summary_is_made_from_its_file(path: Path, tmp_path: Path) -> None:
    script = ROOT / read(path)[0]["command"].split()[1]
    shutil.copy(path, tmp_path)
    command = [sys.executable, str(script), "--summary", "--output", str(tmp_path / path.name)]
    subprocess.run(command, check=True, timeout=100)
    assert (tmp_path / f"{path.stem}.md").read_text() == path.with_suffix(".md").read_text()
