"""Memory that control groups leave of a machine's."""

from __future__ import annotations

from pathlib import Path

import pytest

from hocket.system.memory import available_memory, left_by_groups


def group(path: Path, **files: object) -> None:
    path.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (path / name.replace("__", ".")).write_text(f"{content}\n")


def test_version_2(tmp_path: Path) -> None:
    job = tmp_path / "slurm/job"
    group(job, memory__max=1000, memory__current=700, memory__stat="anon 5\ninactive_file 150")
    group(tmp_path / "slurm", memory__max="max", memory__current=900)
    group(job / "step", memory__max=5000, memory__current=100)
    assert sorted(left_by_groups(tmp_path, "0::/slurm/job/step\n")) == [450, 4900]


def test_version_1(tmp_path: Path) -> None:
    names = {"memory__limit_in_bytes": 800, "memory__usage_in_bytes": 900}
    group(tmp_path / "memory/job", **names, memory__stat="total_inactive_file 10")
    assert left_by_groups(tmp_path, "3:cpu:/job\n4:memory:/job\n0::/\n") == [0]


@pytest.mark.parametrize("membership", ["", "0::/\n", "0::/../..\n", "4:memory:/none\n"])
def test_no_limits(tmp_path: Path, membership: str) -> None:
    assert left_by_groups(tmp_path, membership) == []


def test_this_machine() -> None:
    assert available_memory() > 0
