"""MPI_Alltoallv and MPI_Neighbor_alltoallv by schedules made at run time: every byte checked, under both
MPI families."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from call_rows import neighbours, typed, vectors
from reported_calls import Said
from scheduled_calls import ALL, scheduled

# What an MPI does with a call, in any form and layout, is in test_call_grid with both.
pytestmark = pytest.mark.by_turns

Check = Callable[..., Said]
Launched = Callable[..., subprocess.CompletedProcess[str]]

ROUNDS = "vector_rounds"


def test_every_byte_arrives(check: Check) -> None:
    said = check(vectors(30000, parts=True), "chain:3,3", 6, env=ALL)
    assert "irregular exchange of 30 messages between 6 ranks on 6 hosts" in said
    assert "irregular exchange of 20 messages between 5 ranks on 5 hosts" in said
    assert said.scheduled("MPI_Alltoallv", ranks=6) > 0 < said.scheduled("MPI_Alltoallv", ranks=5)


def test_sizes_that_change_by_default(check: Check) -> None:
    check("alltoallv_check 30000", "chain:3,3", 6)


def test_sizes_that_change_or_disagree(check: Check) -> None:
    said = check("alltoallv_check 30000", "chain:3,3", 6, env=ALL)
    assert said.scheduled("MPI_Alltoallv", ranks=6) > 0
    # Counts that disagree: left to the MPI library, with one warning however often they come.
    assert len(re.findall("rank [0-9] sends [0-9]+ bytes to rank [0-9], which expects", said)) == 1


@pytest.mark.parametrize(
    ("network", "ranks", "options", "env"),
    [
        ("torus:3x2", 6, [], {"HOCKET_SEGMENT": "1031"}),
        ("star:3*2", 5, ["--flow", "window:2"], {"HOCKET_ALGORITHM": "RS_NLH"}),
        ("chain:2,2", 4, ["--flow", "barrier"], {}),
        ("chain:2,2", 4, ["--flow", "free"], {}),
    ],
)
def test_every_flow_control(
    check: Check, network: str, ranks: int, options: list[str], env: dict[str, str]
) -> None:
    said = check(vectors(20000), network, ranks, *options, env={**ALL, **env})
    assert said.scheduled("MPI_Alltoallv", ranks=ranks) > 0


def test_neighbours(check: Check) -> None:
    """Graphs, several edges between two ranks or to oneself, grids with edges to nobody."""
    said = check(neighbours(30000), "chain:3,3", 6, env=ALL)
    assert said.count("irregular exchange of 15 messages") == 2  # the graph, made in two ways
    assert said.count("irregular exchange of 14 messages") == 1  # the mesh
    assert said.count("irregular exchange of 12 messages") >= 1  # several edges are one message


def calls_of(
    launch: Launched, program: str, network: str = "chain:2,2", **env: str
) -> list[tuple[int, int, int, int]]:
    """Per call: bytes asked for, and the reductions, bytes in them and matrices of sizes that it made."""
    done = launch(f"{ROUNDS} {program}", network, 4, env={**ALL, **env})
    assert done.returncode == 0 and "ok 0 wrong" in done.stdout, done.stdout + done.stderr
    found = re.findall(r"call (\d+) reductions (\d+) bytes (\d+) matrices (\d+)", done.stdout)
    return [tuple(map(int, call)) for call in found]  # type: ignore[misc]


def test_the_same_counts_again_cost_one_small_reduction(launch: Launched, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    calls = calls_of(launch, "30000x6 20000x4 30000x2", HOCKET_TRACE=str(trace))
    one = (1, 40, 0)
    planned = [calls[1], calls[7]]  # when they come a second time
    assert all(call[3] == 1 for call in planned)
    assert [call[1:] for call in calls[2:6] + calls[8:]] == [one] * 8
    assert scheduled(trace) == 10


def test_counts_that_change_are_not_planned(launch: Launched, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    calls = calls_of(launch, "20000c40", HOCKET_TRACE=str(trace))
    assert max(call[3] for call in calls[1:]) == 0
    assert scheduled(trace) == 0


def test_large_exchanges_are_planned_when_first_seen(check: Check, tmp_path: Path) -> None:
    """Where the wires are so slow that planning takes nothing beside the exchange."""
    trace = tmp_path / "trace"
    check(f"{ROUNDS} 30000c4", "chain:2,2@1Mbit", 4, env=ALL | {"HOCKET_TRACE": str(trace)})
    assert scheduled(trace) == 4


def test_small_exchanges_soon_ask_nobody(launch: Launched) -> None:
    calls = calls_of(launch, "300x150 30000x80", HOCKET_MIN_BYTES="10000")
    small, large = calls[:150], calls[150:]
    asked = [i for i, call in enumerate(small) if call[1] > 0]
    assert asked == [0, 1, 3, 6, 11, 20, 37, 70, 135]
    assert all(call[1:] == (1, 40, 0) for call in large[-2:])  # noticed by and by
    assert [call[1] > 0 for call in large].index(True) <= 64


@pytest.mark.parametrize("ranks", [2, 4])
def test_where_nothing_can_collide_nobody_is_asked(launch: Launched, ranks: int) -> None:
    done = launch(f"{ROUNDS} 30000x3", "star:1*4" if ranks == 4 else "star:4", ranks, env=ALL)
    assert done.returncode == 0
    # The first call of a communicator of three or more finds out what its ranks have in common.
    first = "1" if ranks > 2 else "0"
    assert re.findall(r"reductions (\d+)", done.stdout) == [first, "0", "0"]


def test_a_limit_passes_on_what_is_smaller(check: Check) -> None:
    for least, calls in (("4000", 3), ("8000", 0)):
        said = check(f"{ROUNDS} 9000x3", "chain:2,2", 4, env={"HOCKET_MIN_BYTES": least})
        assert said.scheduled("MPI_Alltoallv") == calls


def test_one_schedule_serves_all_sizes(launch: Launched, tmp_path: Path) -> None:
    """The phases of the equal all-to-all, whatever messages weigh: nothing is planned, nobody is asked for sizes."""
    trace = tmp_path / "trace"
    calls = calls_of(
        launch, "30000c10 300x5", HOCKET_ALGORITHM="", HOCKET_CHOOSE="window-1", HOCKET_TRACE=str(trace)
    )
    assert [call[1:] for call in calls[1:]] == [(0, 0, 0)] * 14  # the first finds out where the ranks are
    assert trace.with_name("trace.0").read_text().count("all-to-all ") == 15


@pytest.mark.parametrize(
    ("candidate", "program"),
    [
        ("window-1", vectors(9000, parts=True)),
        ("window-1", "alltoallv_check 30000"),
        ("window-4-large", "alltoallw_check transpose bottom far part alone"),
        ("order", neighbours(9000)),
        ("planned", "alltoallv_check 30000"),
        ("planned", typed(2000)),
    ],
)
def test_every_byte_arrives_by_any_candidate(check: Check, candidate: str, program: str) -> None:
    said = check(program, "chain:3,3", 6, env={"HOCKET_CHOOSE": candidate})
    assert said.scheduled(ranks=6) > 0
    assert ("irregular exchange of" in said) == (candidate == "planned")


def test_options_of_the_launcher(launch: Launched, check: Check) -> None:
    said = check(f"{ROUNDS} 9000x3", "chain:2,2", 4, "--min-bytes", "1KiB", "--algorithm", "LP")
    assert said.served("MPI_Alltoallv")["scheduled: LP"] == 2  # from the second time on
    refused = launch(f"{ROUNDS} 9000x3", "chain:2,2", 4, "--algorithm", "fastest")
    assert refused.returncode == 2 and "no irregular algorithm is called 'fastest'" in refused.stderr


def test_an_unknown_algorithm_is_one_warning(check: Check) -> None:
    said = check(f"{ROUNDS} 9000x4", "chain:2,2", 4, env=ALL, exports={"HOCKET_ALGORITHM": "fastest"})
    assert said.count("no irregular algorithm is called 'fastest'") == 1


@pytest.mark.parametrize(
    ("network", "env"),
    [("chain:2,2@1Mbit", ALL), ("star:4@1Mbit", {**ALL, "HOCKET_ALGORITHM": "proposals"})],
    ids=["whole", "rounds"],
)
def test_more_than_the_receiver_expects_ends_the_job_as_without_hocket(
    launch: Launched, compiled: Callable[[str], Path], tmp_path: Path, network: str, env: dict[str, str]
) -> None:
    said = tmp_path / "said"  # launchers may lose what a rank says while another ends the job
    program = [str(compiled("alltoallv_check")), "30000", "truncate"]
    done = launch(["sh", "-c", 'exec "$@" 2>>"$0"', str(said), *program], network, 4, env=env)
    assert done.returncode not in (0, 1)
    assert said.read_text().count("the MPI library serves this exchange") == 1


@pytest.mark.parametrize("window", ["window-1", "window-4"])
def test_nonblocking_calls_follow_phases_that_serve_all_sizes(check: Check, window: str) -> None:
    """Six rounds: the first asks for communicators of the world's; on the graph, whose ranks have not met, for that."""
    said = check("nonblocking_vectors 6 5000", "chain:2,2", 4, env={"HOCKET_CHOOSE": window})
    assert (said.scheduled("MPI_Ialltoallv"), said.scheduled("MPI_Ialltoallw")) == (5 * 2, 5)
    assert (said.scheduled("MPI_Ineighbor_alltoallv"), said.scheduled("MPI_Alltoallv")) == (4, 2)


def test_nonblocking_calls_whose_sizes_nobody_knows_by_default(check: Check) -> None:
    said = check("nonblocking_vectors 6 5000", "chain:2,2", 4)
    assert said.scheduled() == 0 and set(said.served("MPI_Ialltoallv")) == {"native: sizes_unknown"}
