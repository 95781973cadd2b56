"""Which reductions ranks do among themselves, and which the MPI library does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Launch = Callable[..., CompletedProcess[str]]


def served(launch: Launch, trace: Path, case: str, *options: str, **env: str) -> bool:
    done = launch(f"reduce_case {case}", "chain:2,2", 4, *options, env={"HOCKET_TRACE": str(trace)} | env)
    assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr
    first = trace.with_name(trace.name + ".0")
    return first.exists() and "\nall-reduce " in "\n" + first.read_text()


@pytest.mark.parametrize("case", ["sum-int", "sum-double", "minloc", "land", "complex", "commutative"])
def test_what_is_scheduled(launch: Launch, tmp_path: Path, case: str) -> None:
    assert served(launch, tmp_path / "trace", case)


@pytest.mark.parametrize("case", ["ordered", "later", "count"])
def test_what_the_library_does(launch: Launch, tmp_path: Path, case: str) -> None:
    """Operations that do not commute, the program's own in a call that lasts, and a block of less than an element."""
    assert not served(launch, tmp_path / "trace", case, HOCKET_MIN_GATHER_BYTES="1")


@pytest.mark.parametrize(
    ("case", "kept"),
    [("sum-double", True), ("complex", True), ("commutative", True), ("sum-int", False), ("minloc", False)],
)
def test_the_order_of_ranks(launch: Launch, tmp_path: Path, case: str, kept: bool) -> None:
    assert served(launch, tmp_path / "trace", case, HOCKET_SUMS="rank-order") != kept


@pytest.mark.parametrize(("rate", "is_long"), [("1Gbit", True), ("10Gbit", False)])
def test_rounding_sums_are_scheduled_where_wires_take_long(
    launch: Launch, tmp_path: Path, rate: str, is_long: bool
) -> None:
    """Selection is not by timings here: blocks of 100 KB take 0.8 ms or 0.08 ms on a link."""
    options = ("--choose", "learn", "--rate", rate)
    assert served(launch, tmp_path / "trace", "sum-double", *options) == is_long


# MPI-4.1, section 6.9.2: the predefined operations, and how many of the types below allow each.
TYPES = {"MAX": 34, "SUM": 45, "LAND": 22, "BAND": 28, "MAXLOC": 9}


def test_every_predefined_operation_on_every_type_that_allows_it(launch: Launch) -> None:
    """All are scheduled, also where the library combines them, and come to the same elements."""
    done = launch("reduce_types", "chain:2,1", 3, env={"HOCKET_MIN_GATHER_BYTES": "1"})
    assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr
    found = re.findall(r"^(\w+) (\w+) (scheduled|native)$", done.stdout, re.MULTILINE)
    assert [(kind, operation) for kind, operation, who in found if who == "native"] == []
    counts = Counter(operation for _, operation, _ in found)
    assert {operation: counts[operation] for operation in TYPES} == TYPES
    assert {"CXX_FLOAT_COMPLEX", "CXX_BOOL", "INTEGER8", "REAL4", "COMPLEX16", "COUNT"} <= {
        kind for kind, *_ in found
    }
