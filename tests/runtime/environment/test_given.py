"""Inputs of a run: plans of another network, invalid plans, variables beside options."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from hocket import _core
from hocket.errors import PlanError, UsageError
from hocket.launch.environment import RuntimeOptions, scheduled_environment, switch_links_to_measure
from hocket.network import read_known_network, read_network
from mpi_programs import hocket_here


def plan_of(network: str, path: Path, rows: slice = slice(None)) -> Path:
    """An all-to-all; of ``rows`` only."""
    built = read_network(network)
    demand = _core.Demand(built.ranks, 4096)
    schedule = _core.plan_exchange(built, demand).schedule
    kept = _core.Schedule.from_rows(built.ranks, demand.bytes, schedule.rows()[rows])
    waits = _core.Waits.derive(built, kept)
    path.write_bytes(_core.Plan(built, kept, waits, demand, "tree", 0, 0.0, 0.0).encode())
    return path


def run(*arguments: object, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return hocket_here(["run", *map(str, arguments)], env)


def shown(
    variable: str, file: Path, *arguments: object, env: dict[str, str] | None = None
) -> tuple[str, str]:
    """The variable in a rank, by way of a file, and what Hocket says. Of a program that ends at once MPICH's mpiexec
    loses the output now and then."""
    file.unlink(missing_ok=True)
    done = run(*arguments, "--", "sh", "-c", f"printenv {variable} > {file}; true", env=env)
    assert done.returncode == 0, done.stderr
    return file.read_text(), done.stderr


def refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 2 and done.stdout == "", done.stdout + done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and all(word in lines[0] for word in words), done.stderr


@pytest.mark.parametrize("network", ["star:8", "chain:4,4@10Mbit", "chain:3,5"])
def test_a_plan_of_another_network_is_refused(tmp_path: Path, network: str) -> None:
    plan = plan_of("chain:4,4", tmp_path / "plan.hkt")
    done = run("--network", network, "--plan", plan, "-n", 8, "--", "echo", "started")
    refused(done, str(plan), "made for another network", f"plan again with --network {network}")


def test_a_plan_that_does_not_hold_is_refused(tmp_path: Path) -> None:
    plan = plan_of("chain:2,2", tmp_path / "plan.hkt", slice(1, None))
    refused(run("--network", "chain:2,2", "--plan", plan, "-n", 4, "--", "echo", "started"), "does not hold")
    with pytest.raises(PlanError, match="does not hold: never delivered"):
        scheduled_environment("mpicc", read_network("chain:2,2"), RuntimeOptions(), [plan])


@pytest.mark.parametrize(
    ("variable", "value", "option"),
    [
        ("HOCKET_FLOW_CONTROL", "barrier", ("--flow", "free", "free")),
        ("HOCKET_MIN_BYTES", "77", ("--min-bytes", "5", "5")),
        ("HOCKET_ALGORITHM", "LP", ("--algorithm", "AC", "AC")),
        ("HOCKET_PLACEMENT", "order", ("--placement", "names", "")),
        ("HOCKET_LOG", "1", ("-vv", "2")),
    ],
)
def test_a_variable_counts_where_the_option_is_not_given(
    tmp_path: Path, variable: str, value: str, option: tuple[str, ...]
) -> None:
    *given, expected = option
    start = (variable, tmp_path / "shown", "--network", "chain:2,2", "-n", 1)
    assert shown(*start, env={variable: value})[0] == f"{value}\n"
    assert shown(*start, *given, env={variable: value})[0] == f"{expected}\n"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HOCKET_FLOW_CONTROL", "fast"),
        ("HOCKET_MIN_BYTES", "-3"),
        ("HOCKET_SEGMENT", "1"),
        ("HOCKET_ALGORITHM", "fastest"),
        ("HOCKET_PLACEMENT", "/nonexistent"),
        ("HOCKET_LOG", "9"),
    ],
)
def test_a_variable_that_holds_nonsense_is_named(variable: str, value: str) -> None:
    with pytest.raises(UsageError, match=variable):
        RuntimeOptions().completed({variable: value})


def test_one_line_and_no_start_for_such_a_variable() -> None:
    done = run(
        "--network", "chain:2,2", "-n", 1, "--", "echo", "started", env={"HOCKET_FLOW_CONTROL": "fast"}
    )
    refused(
        done, "HOCKET_FLOW_CONTROL='fast' is not token, barrier or free; correct or unset HOCKET_FLOW_CONTROL"
    )
    # It does not count beside the option.
    options = RuntimeOptions(flow_control="barrier").completed({"HOCKET_FLOW_CONTROL": "fast"})
    assert options.environment()["HOCKET_FLOW_CONTROL"] == "barrier"


def test_plans_that_a_variable_names(tmp_path: Path) -> None:
    plan = plan_of("chain:2,2", tmp_path / "plan.hkt")
    start = ("--network", "chain:2,2", "-n", 1)
    told, _ = shown("HOCKET_PLAN", tmp_path / "shown", *start, env={"HOCKET_PLAN": str(plan)})
    assert told.startswith(f"{plan}:")
    refused(
        run(*start, "--", "true", env={"HOCKET_PLAN": str(tmp_path / "none")}), "HOCKET_PLAN", "cannot read"
    )


SLURM = "SwitchName=s1 Nodes=a[0-1]\nSwitchName=s2 Nodes=b[0-1]\nSwitchName=top Switches=s[1-2]\n"


def test_uplinks_are_measured_where_they_are_assumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    network = tmp_path / "net.conf"
    network.write_text(SLURM)
    path = switch_links_to_measure(read_known_network(str(network)))
    assert path is not None and path.parent == tmp_path / "cache" / "hocket"
    assert switch_links_to_measure(read_known_network("chain:4,4")) is None
    assert switch_links_to_measure(read_known_network("star:8")) is None
    ring = "torus:2x2"
    assert switch_links_to_measure(read_known_network(ring)) is None


def test_run_says_that_it_measures(tmp_path: Path) -> None:
    network = tmp_path / "net.conf"
    network.write_text(SLURM.replace("=a[", "=never-measured["))
    start = ("HOCKET_SWITCH_LINKS", tmp_path / "shown", "--network", network, "-n", 1)
    path, said = shown(*start)
    assert path and f"kept in {path.strip()}" in said
    path, said = shown(*start, "--oversubscription", "1")
    assert path == "" and "measured by" not in said


def test_variables_without_an_option_reach_all_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Launchers hand on only what they are told, and ranks that differ would wait for each other."""
    monkeypatch.setattr("hocket.launch.environment.find_runtime", lambda _: SimpleNamespace(environment=dict))
    for name, value in (("HOCKET_REORDER", "1"), ("HOCKET_SUMS", "free")):
        monkeypatch.setenv(name, value)
        env = scheduled_environment("mpicc", read_network("chain:2,2"), RuntimeOptions())
        assert env[name] == value
    monkeypatch.setenv("HOCKET_REORDER", "yes")
    with pytest.raises(UsageError, match="HOCKET_REORDER='yes' is not 0 or 1"):
        scheduled_environment("mpicc", read_network("chain:2,2"), RuntimeOptions())
