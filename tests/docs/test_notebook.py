"""The cells of the notebook run one after the other, without Jupyter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib
import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples/plan.ipynb"


def test_the_cells_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    names: dict[str, Any] = {}
    cells = [
        "".join(cell["source"])
        for cell in json.loads(NOTEBOOK.read_text())["cells"]
        if cell["cell_type"] == "code"
    ]
    for cell in cells:
        exec(compile(cell, NOTEBOOK.name, "exec"), names)
    assert names["plan"].ratio == 1.0
    assert names["busy"].max() > 0.95
    assert names["collided"].seconds > names["simulation"].seconds
    assert (tmp_path / "plan.hkt").is_file()
