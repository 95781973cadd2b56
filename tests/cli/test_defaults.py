"""Defaults that commands find: the network of the user or of the site, the ranks of the job."""

from __future__ import annotations

from pathlib import Path

import pytest

from hocket.launch.mpi import TELL_RANKS, ranks_of_job
from refusals import refused


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The network file of the site: four hosts."""
    path = tmp_path / "network.toml"
    path.write_text('[[switch]]\nname = "s0"\nhosts = ["n[0-3]"]\n')
    monkeypatch.setattr("hocket.cli._shared.options.SITE_NETWORK", path)
    monkeypatch.delenv("HOCKET_NETWORK", raising=False)
    return path


PLAN = ("plan", "alltoall", "--json")


def test_the_order_of_networks(hocket, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hocket(*PLAN).object()["ranks"] == 4
    monkeypatch.setenv("HOCKET_NETWORK", "star:5")
    assert hocket(*PLAN).object()["ranks"] == 5
    assert hocket(*PLAN, "--network", "star:6").object()["ranks"] == 6
    monkeypatch.setenv("HOCKET_NETWORK", "")
    assert hocket(*PLAN).object()["ranks"] == 4


@pytest.mark.parametrize(
    "command", [("plan", "all-to-all"), ("verify", "p.hkt"), ("simulate",), ("run", "-n", "2", "x")]
)
def test_without_any_network(hocket, site: Path, command: tuple[str, ...]) -> None:
    site.unlink()
    refused(hocket(*command), "--network NETWORK is missing; give it, set HOCKET_NETWORK or write")


@pytest.mark.parametrize(
    "command",
    [("simulate", "--json"), ("env", "--mpi", "no-such-mpi"), ("run", "-n", "2", "no-such-program")],
)
def test_other_commands_find_it(hocket, site: Path, command: tuple[str, ...]) -> None:
    """They go on to what they need next."""
    answer = hocket(*command)
    assert "--network" not in answer.err
    assert answer.code == 0 or "no-such" in answer.err


def test_a_default_network_that_cannot_be_read(hocket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOCKET_NETWORK", "none.toml")
    refused(hocket("plan", "all-to-all"), "none.toml: no such file")


@pytest.mark.parametrize(
    ("environment", "ranks"),
    [
        ({}, None),
        ({"SLURM_NTASKS": "24"}, 24),
        ({"PBS_NP": "8"}, 8),
        ({"LSB_DJOB_NUMPROC": "16"}, 16),
        ({"NSLOTS": "4"}, 4),
        ({"SLURM_NTASKS": "", "NSLOTS": "3"}, 3),
        ({"SLURM_NTASKS": "many"}, None),
        ({"SLURM_NTASKS": "٣"}, None),
        ({"SLURM_NPROCS": "6"}, 6),
        ({"PBS_NODEFILE": "nodes"}, 3),
        ({"PBS_NODEFILE": "nodes", "PBS_NP": "8"}, 8),
        ({"PBS_NODEFILE": "nowhere"}, None),
    ],
)
def test_ranks_of_a_job(
    environment: dict[str, str], ranks: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nodes").write_text("n0\nn0\nn1\n")
    assert ranks_of_job(environment) == ranks


def test_run_takes_the_ranks_of_the_job(
    hocket, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (*TELL_RANKS, "PBS_NODEFILE"):
        monkeypatch.delenv(name, raising=False)
    launcher = tmp_path / "mpiexec"
    launcher.write_text("#!/bin/sh\necho HYDRA build details: Version: 4.2\nexit 3\n")
    launcher.chmod(0o755)
    started: list[list[str]] = []
    monkeypatch.setattr("hocket.launch.environment.scheduled_environment", lambda *_, **__: {})
    monkeypatch.setattr("hocket.launch.exit_code", lambda command: started.append(command) or 0)
    run = ("run", "--mpi", launcher, "--placement", "order", "true")
    refused(hocket(*run), "-n is missing; give the number of ranks", *TELL_RANKS, "PBS_NODEFILE")
    monkeypatch.setenv("SLURM_NTASKS", "3")
    assert hocket(*run).code == 0
    assert hocket("run", "-n", 2, *run[1:]).code == 0
    assert [command[command.index("-n") + 1] for command in started] == ["3", "2"]
    for name, value in {
        "JOB_NODELIST_HET_GROUP_0": "a",
        "JOB_NODELIST_HET_GROUP_1": "b",
        "HET_SIZE": "2",
    }.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    said = hocket(*run).err
    assert (
        "has 2 groups, and mpiexec starts ranks on group 0 alone" in said
        and "srun --het-group=0-1 true" in said
    )
