"""``--measure`` and ``--network measure`` where nothing is to be measured."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hocket.cli._shared.measured import keep
from hocket.launch.mpi import find_mpi
from hocket.launch.runtime.build import build_runtime
from hocket.measure.discovered import Bottleneck, Found
from hocket.system.cache import cache_dir
from refusals import refused

Call = Callable[..., Any]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--measure"], "-n is missing"),
        (["--measure", "--slurm"], "--measure asks nobody but the ranks"),
        (["--slurm", "-n", "4"], "-n is for --measure; leave -n out"),
        (["--measure", "-n", "4", "--hostfile", "/no/such"], "--hostfile /no/such"),
        (["--measure", "-n", "4", "--seconds", "1"], "--seconds 1"),
    ],
)
def test_refusals(hocket: Call, tmp_path: Path, words: list[str], complaint: str) -> None:
    refused(hocket("network", "discover", *words, "-o", tmp_path / "net.toml"), complaint)
    assert not list(tmp_path.iterdir())


def test_no_toml(hocket: Call) -> None:
    refused(hocket("network", "discover", "--measure", "-n", "2", "-o", "net.json"), "name it FILE.toml")


def test_one_host_has_no_network(hocket: Call, tmp_path: Path) -> None:
    """Ranks of its own on this host: a sentence that is true, and no file."""
    answer = hocket("network", "discover", "--measure", "-n", "3", "-o", tmp_path / "net.toml")
    refused(answer, "One host, ", "start ranks on several hosts")
    assert not list(tmp_path.iterdir())


def test_kept_networks_serve_without_measuring(
    hocket: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = build_runtime(find_mpi(None).mpicc).library.parent  # that of other tests, not one compiled anew
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    shutil.copytree(runtime, cache_dir() / runtime.name)
    hosts = [f"n{host}" for host in range(8)]
    four = Bottleneck([0, 1, 2, 3], 1e6, 1e6)
    keep(Found("2026-11-29", "", hosts, [1] * 8, [1e6] * 8, [1e6] * 8, [four]))
    answer = hocket("order", "--network", "measure", "--hosts", "n[0-7]")
    assert answer.code == 0, answer
    assert sorted(answer.out.split()) == hosts
    refused(hocket("order", "--network", "measure"), "give --hosts or --slurm")
    domains = hocket("order", "--network", "measure", "--hosts", "n[0-3].cluster.example")
    assert "measuring" not in domains.err
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[2-5]")
    answer = hocket("env", "--network", "measure")
    assert answer.code == 0 and "HOCKET_PLAN=" in answer.out, answer
    monkeypatch.delenv("SLURM_JOB_NODELIST")
    refused(hocket("env", "--network", "measure"), "between which hosts is not said")
