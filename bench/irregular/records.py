"""Results of a bench, kept as they come: bench/results/NAME.json and NAME.md."""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "results"


def stamp(command: str) -> dict[str, Any]:
    return {"command": command, "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat()}


def measured(command: str) -> dict[str, Any]:
    """The stamp of figures that depend on the machine."""
    machine = f"{os.cpu_count()} × {platform.machine()}"
    return stamp(command) | {"machine": machine, "python": platform.python_version()}


def keep(name: str, record: dict[str, Any], table: Callable[[dict[str, Any]], str]) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, ensure_ascii=False, indent=1)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    (RESULTS / f"{name}.md").write_text(table(record), encoding="utf-8")
