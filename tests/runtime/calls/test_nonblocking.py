"""Nonblocking all-to-alls and all-gathers among all sorts of calls, every byte checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from hocket.launch.mpi import Mpi, MpiFamily

Check = Callable[..., str]
Events = Callable[..., list[Counter[str]]]


@pytest.fixture
def events(check: Check, tmp_path: Path) -> Events:
    """Runs a case of nonblocking_check; how often each kind of event happened on each rank."""

    def run(case: str, ranks: int = 4, env: Mapping[str, str] | None = None) -> list[Counter[str]]:
        trace = tmp_path / "trace"
        check(
            f"nonblocking_check {case}", "chain:2,2", ranks, env={"HOCKET_TRACE": str(trace), **(env or {})}
        )
        return [counted(trace.with_name(f"trace.{rank}")) for rank in range(ranks)]

    return run


def counted(trace: Path) -> Counter[str]:
    if not trace.exists():
        return Counter()
    return Counter(line.split()[0] for line in trace.read_text().splitlines())


@pytest.mark.parametrize(("threads", "gathers"), [("", 0), (" threads", 3)])
def test_many_at_once_waited_for_in_every_way(events: Events, threads: str, gathers: int) -> None:
    """All-gathers forward: scheduled only where a thread can do that while the program waits elsewhere."""
    for rank in events("several" + threads):
        assert rank["all-to-all"] == 6 * (2 * 4 + 1)  # and a persistent one
        assert rank["all-gather"] == 6 * 2 * gathers


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)  # MPICH 5.0.2 fails by itself
def test_some_ranks_without_threads(events: Events) -> None:
    for rank in events("several mixed"):
        assert (rank["all-to-all"], rank["all-gather"]) == (6 * (2 * 4 + 1), 0)


@pytest.mark.parametrize("threads", ["", " threads"])
def test_ranks_that_wait_for_each_other_elsewhere(events: Events, threads: str) -> None:
    for rank in events("blocking" + threads):
        assert (rank["all-to-all"], rank["all-gather"]) == (9 * 3, 9 * 2 if threads else 0)


@pytest.mark.parametrize("flow", ["barrier", "free"])
def test_every_flow_control(events: Events, flow: str) -> None:
    for rank in events("blocking", env={"HOCKET_FLOW_CONTROL": flow, "HOCKET_SEGMENT": "4099"}):
        assert rank["all-to-all"] == 9 * 3


def test_what_the_program_frees_while_calls_are_under_way(events: Events) -> None:
    for rank in events("outlived threads"):
        assert (rank["all-to-all"], rank["all-gather"]) == (3, 3)


def test_a_request_freed_while_active(events: Events) -> None:
    for rank in events("freed"):
        assert rank["all-to-all"] == 2


def test_communicators_come_and_go(events: Events) -> None:
    for rank in events("made"):
        assert rank["all-to-all"] == 40


def test_what_only_the_mpi_library_can_judge(events: Events) -> None:
    assert events("passed threads") == [Counter()] * 4


def test_small_messages_are_passed_on(events: Events) -> None:
    assert all(rank["all-to-all"] == 0 for rank in events("made", env={"HOCKET_MIN_BYTES": "1000000"}))


def test_several_threads(events: Events) -> None:
    for rank in events("threads threads"):
        assert (rank["all-to-all"], rank["all-gather"]) == (3 * 10, 3 * 10)


def test_nobody_waits_for_a_rank_that_errs_where_the_call_does_not(
    mpi: Mpi, check: Check, tmp_path: Path
) -> None:
    """Communicators of the runtime's own are made in the next call in which all ranks wait for each other."""
    if mpi.family is MpiFamily.MPICH:
        pytest.skip("MPICH's wheel looks at no argument")
    env = {"HOCKET_CHOOSE": "learn", "HOCKET_CHOICES": str(tmp_path), "HOCKET_MIN_BYTES": "1000"}
    env["HOCKET_TRACE"] = str(tmp_path / "trace")
    check("errs_while_pending", "chain:2,2", 4, env=env, timeout=60)
    assert counted(tmp_path / "trace.0")["all-to-all"] > 0
