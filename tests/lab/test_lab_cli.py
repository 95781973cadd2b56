"""``hocket lab``: a lab that is left up, used, listed and removed from the command line."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from hocket.cli.lab import lab
from hocket.errors import HocketError, UsageError
from hocket.launch.mpi import find_mpi

needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("nsenter") is None, reason="the lab needs root and nsenter (util-linux)"
)


def invoke(*arguments: str) -> str:
    result = CliRunner().invoke(lab, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.lab
@needs_root
def test_a_lab_from_up_to_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        mpi = find_mpi()
    except HocketError as error:
        pytest.skip(str(error))
    made = json.loads(invoke("up", "chain:2,2", "--rate", "20Mbit", "--buffer", "50KB", "--json"))
    try:
        assert len(made["hosts"]) == 4 and made["owner"] is None
        assert made["options"]["rate"] == 2.5e6 and made["options"]["buffer"] == 50_000
        assert made["id"] in invoke("status")
        assert made["id"] in [each["id"] for each in json.loads(invoke("status", "--json"))["labs"]]
        run = ("run", "--id", made["id"], "--mpi", mpi.mpiexec, "--native", "--timeout", "60", "--json")
        report = json.loads(invoke(*run, "-n", "3", "--", "hostname"))
        assert report["exit_code"] == 0 and report["ranks"] == 3 and not report["timed_out"]
        assert 0 <= report["fidelity"]["busiest"] <= 1.2 and report["fidelity"]["buffer"] == 50_000
        assert sorted(report["output"].split())[:3] == ["n0", "n1", "n2"]
    finally:
        assert made["id"] in invoke("down", made["id"])
    assert made["id"] not in invoke("status")


def test_requests_that_make_no_sense() -> None:
    for arguments in (
        ("run", "--", "true"),
        ("run", "--network", "star:4", "--id", "0", "--", "true"),
        ("down",),
        ("down", "abc", "--all"),
        ("down", "nosuchlab"),
        ("down", "../../etc"),
        ("up", "star:4", "--rate", "fast"),
        ("up", "star:4", "--buffer", "1B"),
    ):
        with pytest.raises(UsageError):
            CliRunner().invoke(lab, list(arguments), catch_exceptions=False)
