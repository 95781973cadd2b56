"""Persistent all-to-alls among the program's own requests, every byte checked, under both MPI families."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from reported_calls import Said, all_scheduled

Check = Callable[..., Said]

BLOCKING = "persistent_blocking"
ALL_TO_ALLS = (4 + 7 + 20) + (4 + 2)  # persistent and blocking
VECTORS = 5
IRREGULAR = {"HOCKET_MIN_BYTES": "8", "HOCKET_ALGORITHM": "LP"}


def test_every_kind_of_call_on_requests(check: Check) -> None:
    all_scheduled(check("persistent_check", "chain:2,2", 4), "MPI_Alltoall_init", ranks=4)


def recorded(trace: Path, rank: int) -> Counter[str]:
    """Number of events on a rank, by kind."""
    return Counter(line.split()[0] for line in trace.with_name(f"trace.{rank}").read_text().splitlines())


@pytest.mark.parametrize(("env", "irregular"), [({}, 0), (IRREGULAR, 4)])  # planned when they come again
def test_a_rank_that_waits_for_another_lets_the_exchange_go_on(
    check: Check, tmp_path: Path, env: dict[str, str], irregular: int
) -> None:
    trace = tmp_path / "trace"
    check(BLOCKING, "chain:2,1", 3, env=env | {"HOCKET_TRACE": str(trace)})
    for rank in range(3):
        events = recorded(trace, rank)
        assert (events["all-to-all"], events["irregular"]) == (ALL_TO_ALLS + VECTORS - irregular, irregular)


def test_recognised_exchanges_leave_the_others_in_order(check: Check, tmp_path: Path) -> None:
    """Every send of what is active waits for its tokens: nobody posts what remains early."""
    trace = tmp_path / "trace"
    check(f"{BLOCKING} vector", "chain:2,2", 4, env=IRREGULAR | {"HOCKET_TRACE": str(trace)})
    for rank in range(4):
        events = recorded(trace, rank)
        assert (events["all-to-all"], events["irregular"]) == (3 + 2, 10)
        assert events["tokens"] == 3 * (5 + 10)  # one to each of the others


@pytest.mark.parametrize("flow", ["window:2", "barrier", "free"])
def test_every_flow_control(check: Check, flow: str) -> None:
    check(BLOCKING, "chain:2,2", 4, "--flow", flow, env={"HOCKET_SEGMENT": "1031"})


def test_freed_while_active(check: Check) -> None:
    check("persistent_check freed", "chain:2,2", 4)


def test_freed_while_active_just_before_the_end(check: Check) -> None:
    check(
        "persistent_check last",
        "chain:2,2",
        4,
        env={"HOCKET_FLOW_CONTROL": "barrier", "HOCKET_SEGMENT": "1031"},
    )


def test_small_messages_are_passed_on(check: Check) -> None:
    env = {"HOCKET_MIN_BYTES": "1000000"}
    assert check(BLOCKING, "chain:2,2", 4, env=env).scheduled() == 0


def test_communicators_of_freed_requests_serve_again(check: Check) -> None:
    """Ranks free their requests in different orders."""
    check("persistent_check made 30", "chain:2,2", 4)


def test_several_threads(check: Check) -> None:
    all_scheduled(check("persistent_check threads", "chain:2,1", 3), "MPI_Alltoall_init", ranks=3)
