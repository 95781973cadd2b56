"""Files of `hocket run` and its ranks cannot be changed by others, whatever the umask."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from hocket.system.cache import cache_dir

# The schedule is faster by the clock of this program, which is learned.
PROGRAM = "choice_calls blocking 8192 40 600000 600 1000"


@pytest.fixture
def no_mask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def test_files_of_ranks(no_mask: None, launch: Callable[..., CompletedProcess[str]], tmp_path: Path) -> None:
    """Traces, choices with the folders above them, the report; run twice, as the second reads what the first wrote."""
    out = tmp_path / "out"
    out.mkdir(mode=0o755)
    env = {"HOCKET_TRACE": str(out / "trace"), "HOCKET_CHOICES": str(out / "new" / "choices")}
    options = ["--choose", "learn", f"--report={out / 'report.json'}"]
    for _ in range(2):
        done = launch(PROGRAM, "chain:2,2", 4, *options, env=env)
        assert done.returncode == 0, done.stderr
        assert "cannot" not in done.stderr
    made = sorted(out.rglob("*"))
    assert {"trace", "new", "choices", "lock", "report"} <= {path.name.partition(".")[0] for path in made}
    assert list((out / "new" / "choices").glob("*.txt"))
    plans = list(cache_dir().glob("plan-*"))
    assert plans and [path for path in [*made, *plans] if path.stat().st_mode & 0o022] == []
