"""Persistent all-to-alls among the program's own requests, every byte checked, under both MPI families."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Check = Callable[..., str]

IN_A_ROW = "persistent_check row"
SCHEDULED_IN_A_ROW = 17 + 2  # persistent and blocking


def test_every_kind_of_call_on_requests(check: Check) -> None:
    assert "hocket: all-to-all of 4 ranks" in check("persistent_check", "chain:2,2", 4)


def test_a_rank_that_waits_for_another_lets_the_exchange_go_on(check: Check, tmp_path: Path) -> None:
    check(IN_A_ROW, "chain:2,1", 3, env={"HOCKET_TRACE": str(tmp_path / "trace")})
    for rank in range(3):
        begun = (tmp_path / f"trace.{rank}").read_text().split("\n").count(f"all-to-all 3 {rank}")
        assert begun == SCHEDULED_IN_A_ROW


@pytest.mark.parametrize("flow", ["window:2", "barrier", "free"])
def test_every_flow_control(check: Check, flow: str) -> None:
    check(IN_A_ROW, "chain:2,2", 4, "--flow", flow, env={"HOCKET_SEGMENT": "1031"})


def test_freed_while_active(check: Check) -> None:
    check("persistent_check freed", "chain:2,2", 4)


def test_small_messages_are_passed_on(check: Check) -> None:
    assert "all-to-all of" not in check(IN_A_ROW, "chain:2,2", 4, env={"HOCKET_MIN_BYTES": "1000000"})


def test_communicators_of_freed_requests_serve_again(check: Check) -> None:
    """Ranks free their requests in different orders."""
    check("persistent_check made 30", "chain:2,2", 4)


def test_several_threads(check: Check) -> None:
    assert "all-to-all of 3 ranks" in check("persistent_check threads", "chain:2,1", 3)
