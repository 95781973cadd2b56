"""Ranks follow a plan that was saved, of any collective, algorithm and size: in what they say and in what they send."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from call_rows import all_gathers, all_to_alls, broadcasts, gathers_and_scatters, grid, rows
from hocket import _core
from hocket.cli import cli
from hocket.network import read_network
from scheduled_calls import EVERYTHING

EXAMPLES = Path(__file__).parents[3] / "examples" / "networks"
Check = Callable[..., str]
Sends = list[tuple[int, int, tuple[tuple[int, ...], ...]]]  # phase, receiver, pieces

# Types and operations are those of the first case: this plan has thousands of messages.
REDUCE_SCATTERS = grid((80044,), rows("reduce_scatter reduce_scatter_block", "dense in_place", "equal"))

# Collective, network, size, what else says which plan; the program, and for the runs that others have the library's.
CASES = (
    ("reduce-scatter", "mesh:3", "7", ("--algorithm", "spreading"), "reduce_check"),
    ("all-reduce", "star:5", "1000", ("--algorithm", "bruck", "--window", "3"), "reduce_check"),
    (
        "all-gather",
        "hypercube:2",
        "64KiB",
        ("--algorithm", "rails", "--window", "1"),
        all_gathers(20011),
    ),
    ("broadcast", "star:3", "1KiB", ("--root", "1"), broadcasts(20011)),
    ("scatter", "mesh:3", "1", ("--root", "1", "--window", "2"), gathers_and_scatters(20011)),
    ("all-to-all", "torus:3", "5", ("--algorithm", "packing", "--window", "2"), all_to_alls()),
    ("all-to-all", f"{EXAMPLES}/ports.toml", "1KiB", (), all_to_alls()),
    ("all-to-all", f"{EXAMPLES}/ring.toml", "5", (), all_to_alls()),
    ("all-to-all", f"{EXAMPLES}/dgx-1.toml", "1MiB", (), all_to_alls()),
    ("all-gather", f"{EXAMPLES}/fast-hosts.toml", "64KiB", (), all_gathers(20011)),
    ("reduce-scatter", f"{EXAMPLES}/fast-hosts.toml", "64KiB", (), REDUCE_SCATTERS),
)


def traced(trace: Path) -> list[tuple[str, Sends]]:
    """The pattern and the sends of everything that a rank had planned."""
    found: list[tuple[str, Sends]] = []
    patterns = {entry.pattern for entry in _core.Collective.all()}
    for line in trace.read_text().splitlines():
        what, *rest = line.split()
        if what in patterns:
            found.append((what, []))
        elif what == "to":
            _, phase, receiver = map(int, rest)
            found[-1][1].append((phase, receiver, ()))
        elif what == "piece":
            number, *piece = map(int, rest)
            phase, receiver, pieces = found[-1][1][number]
            found[-1][1][number] = (phase, receiver, (*pieces, tuple(piece)))
    return found


@pytest.mark.by_turns
@pytest.mark.parametrize(
    ("name", "network", "size", "more", "program"),
    CASES,
    ids=[f"{case[0]} {Path(case[1]).name}" for case in CASES],
)
def test_ranks_follow_a_saved_plan(
    check: Check, tmp_path: Path, name: str, network: str, size: str, more: tuple[str, ...], program: str
) -> None:
    path, trace = tmp_path / "plan.hkt", tmp_path / "trace"
    asked = ["plan", name, "--network", network, "--bytes", size, *more, "-o", str(path)]
    assert CliRunner().invoke(cli, asked).exit_code == 0
    assert CliRunner().invoke(cli, ["verify", str(path), "--network", network]).exit_code == 0
    plan = _core.Plan.decode(path.read_bytes())
    ranks = read_network(network).ranks
    env = EVERYTHING | {"HOCKET_TRACE": str(trace)}
    said = check(program, network, ranks, "--plan", str(path), env=env)
    phases = f"{plan.schedule.phases} phases by '{plan.algorithm}'"
    assert f"{name} of {ranks} ranks on {ranks} hosts: {phases}" in said, said
    for rank, row in enumerate(plan.schedule.programs(plan.waits)):
        planned: Sends = [
            (phase, receiver, tuple(pieces))
            for (phase, receiver, _), pieces in zip(row.sends, row.send_pieces, strict=True)
        ]
        assert (plan.demand.pattern, planned) in traced(trace.with_name(f"trace.{rank}"))


@pytest.mark.parametrize(
    "asked",
    [
        ("all-reduce", "--bytes", "3"),  # four ranks
        ("all-gather", "--contributions", "sizes"),
    ],
    ids=["empty blocks", "unequal blocks"],
)
def test_plans_that_no_call_can_follow_are_refused(
    asked: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranks would plan something else, and say nothing."""
    monkeypatch.chdir(tmp_path)
    Path("sizes").write_text("5\n0\n7\n9\n")
    assert (
        CliRunner().invoke(cli, ["plan", *asked, "--network", "chain:2,2", "-o", "plan.hkt"]).exit_code == 0
    )
    start = ["run", "--network", "chain:2,2", "-n", "4", "--plan", "plan.hkt", "--", "true"]
    done = CliRunner().invoke(cli, start)
    assert done.exit_code == 2
    assert "plan.hkt: calls of any size follow a plan" in done.stderr and "; plan it with" in done.stderr
