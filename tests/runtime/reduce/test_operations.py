"""Which reductions ranks do among themselves, and which the MPI library does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from hocket.launch.mpi import Mpi, MpiFamily

pytestmark = pytest.mark.by_turns

Launch = Callable[..., CompletedProcess[str]]


def served(launch: Launch, trace: Path, case: str, *options: str, **env: str) -> bool:
    done = launch(f"reduce_case {case}", "chain:2,2", 4, *options, env={"HOCKET_TRACE": str(trace)} | env)
    assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr
    first = trace.with_name(trace.name + ".0")
    return first.exists() and "\nall-reduce " in "\n" + first.read_text()


@pytest.mark.parametrize("case", ["sum-int", "sum-double", "minloc", "land", "complex", "commutative"])
def test_what_is_scheduled(launch: Launch, tmp_path: Path, case: str) -> None:
    assert served(launch, tmp_path / "trace", case)


def test_fewer_elements_than_ranks(launch: Launch, tmp_path: Path) -> None:
    assert served(launch, tmp_path / "trace", "count", HOCKET_MIN_BYTES="1")


@pytest.mark.parametrize("case", ["ordered", "later"])
def test_what_the_library_does(launch: Launch, tmp_path: Path, case: str) -> None:
    """Operations that do not commute, and the program's own in a call that lasts."""
    assert not served(launch, tmp_path / "trace", case, HOCKET_MIN_BYTES="1")


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


NARROW = {"SHORT", "UNSIGNED_SHORT", "SIGNED_CHAR", "UNSIGNED_CHAR", "INTEGER1", "INTEGER2"} | {
    f"{sign}INT{bits}_T" for sign in ("", "U") for bits in (8, 16)
}


@pytest.mark.parametrize("sums", ["placement", "rank-order"])
def test_every_predefined_operation_on_every_type_that_allows_it(mpi: Mpi, launch: Launch, sums: str) -> None:
    """Elements are those of MPI_Reduce_local, also where numbers overflow or are none, and if another order comes to
    others they are of a class that HOCKET_SUMS speaks of. The library serves what Open MPI makes other things of at
    other places of a vector."""
    env = {"HOCKET_MIN_BYTES": "1", "HOCKET_SUMS": sums}
    done = launch("reduce_types", "chain:2,1", 3, env=env)
    assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr
    found = re.findall(r"^(\w+) (\w+) (scheduled|native) (exact|by-order)$", done.stdout, re.MULTILINE)
    counts = Counter(operation for _, operation, *_ in found)
    assert {operation: counts[operation] for operation in TYPES} == TYPES
    assert {"CXX_FLOAT_COMPLEX", "CXX_BOOL", "INTEGER8", "REAL4", "COMPLEX16", "COUNT"} <= {
        kind for kind, *_ in found
    }
    narrow = NARROW if mpi.family is MpiFamily.OPENMPI else set()
    for kind, operation, who, depends in found:
        floating = re.search("FLOAT|DOUBLE|REAL|COMPLEX", kind)
        assert depends == "exact" or floating or (kind in narrow and operation == "SUM")
        library = (floating and sums == "rank-order") or (kind in narrow and operation == "SUM")
        assert who == ("native" if library else "scheduled"), (kind, operation)
