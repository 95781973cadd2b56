"""Measurements in a process of their own, so that memory and caches are those of one case."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, Final

LIMIT: Final = 600  # seconds


def answer_of(*arguments: str) -> dict[str, Any]:
    """The JSON object that Python prints when it is called with these arguments."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=LIMIT)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
