"""Broadcasts and reduces of all sizes: in how many phases and messages their one block flows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from hocket.cli.plan import plan
from hocket.network import read_network
from hocket.planning.plan import plan_collective
from reported_calls import Said, all_scheduled

# What an MPI does with a call, in any form and layout, is in test_call_grid with both.
pytestmark = pytest.mark.by_turns

NETWORK, RANKS = "star:4@8Kbit", 4
#: Bytes of a call, and of those as which it is planned.
SIZES = {4: 1024, 2044: 1024, 2048: 16384, 65532: 16384, 65536: 1 << 20, 1 << 20: 1 << 20}


def sent(trace: Path, rank: int) -> list[tuple[str, list[int]]]:
    """Pattern of each call of a rank, and the phases of the messages that the rank is to send."""
    calls: list[tuple[str, list[int]]] = []
    for line in trace.with_name(f"{trace.name}.{rank}").read_text().splitlines():
        what, *numbers = line.split()
        if what in ("all-gather", "reduce-scatter"):
            calls.append((what, []))
        elif what == "to":
            calls[-1][1].append(int(numbers[1]))
    return calls


@pytest.mark.parametrize("file", [False, True], ids=["planned in the run", "by a plan file"])
def test_phases_and_messages(check: Callable[..., Said], tmp_path: Path, file: bool) -> None:
    """Short blocks are not cut, or into few pieces; a plan file serves all sizes."""
    trace = tmp_path / "trace"
    network, root = read_network(NETWORK), RANKS - 1
    options = []
    if file:
        saved = tmp_path / "broadcast.hkt"
        asked = ["broadcast", "--network", NETWORK, "--root", str(root), "--bytes", "4KiB", "-o", str(saved)]
        assert CliRunner().invoke(plan, asked).exit_code == 0
        options = ["--plan", str(saved)]
    env = {"HOCKET_MIN_BYTES": "1", "HOCKET_TRACE": str(trace)}
    said = check(f"rooted_sizes {' '.join(map(str, SIZES))}", NETWORK, RANKS, *options, env=env)
    all_scheduled(said, "MPI_Bcast", "MPI_Reduce")
    of_ranks = [sent(trace, rank) for rank in range(RANKS)]
    found, expected = [], []
    for call, (name, pattern, bytes) in enumerate(
        (name, pattern, bytes)
        for bytes in SIZES.values()
        for name, pattern in (("broadcast", "all-gather"), ("reduce", "reduce-scatter"))
    ):
        assert {calls[call][0] for calls in of_ranks} == {pattern}
        phases = [phase for calls in of_ranks for phase in calls[call][1]]
        found.append((len(phases), max(phases) + 1))
        by_file = file and name == "broadcast"
        schedule = plan_collective(name, network, 4096 if by_file else bytes, root=root).schedule
        expected.append((len(schedule.rows()), schedule.phases))
    assert found == expected
    assert file or (found[0][0] == found[1][0] == RANKS - 1 and found[-1][1] > 60)
