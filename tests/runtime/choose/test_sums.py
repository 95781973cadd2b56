"""Selection for floating-point sums: one candidate in a job, decided before the first. The clock is the test
program's."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

# What an MPI does with a call, in any form and layout, is in test_call_grid with both.
pytestmark = pytest.mark.by_turns

Launched = Callable[..., subprocess.CompletedProcess[str]]

# Microseconds a call, and the calls of a job.
SLOW, FAST, LOSES, CALLS = "600000", "600", ("30000", "900000"), 24
LATE = CALLS // 4  # sums in forms that make other calls first
# Bytes of a block: 0.5 ms and more on a wire of 1 Gbit/s, and less.
LONG, SHORT = 1 << 17, 1 << 13


@pytest.fixture
def sums(launch: Launched, tmp_path: Path) -> Callable[..., int]:
    """Number of the job's sums that were scheduled; the program has checked that all have the same bits."""

    def run(
        form: str, native: str, scheduled: str, size: int, *options: str,
        env: Mapping[str, str] = MappingProxyType({}),
    ) -> int:  # fmt: skip
        program = f"choice_calls {form} {size} {CALLS} {native} {scheduled} 1"
        kept = {"HOCKET_CHOICES": str(tmp_path / "choices")}
        done = launch(program, "chain:2,2", 4, "--choose", "learn", *options, env={**kept, **env})
        assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr
        found = re.search(r"scheduled (\d+) first", done.stdout)
        assert found, done.stdout
        return int(found[1])

    return run


@pytest.mark.parametrize(("size", "rate", "expected"), [
    (LONG, "1Gbit", CALLS), (LONG, "10Gbit", 0), (SHORT, "1Gbit", 0), (SHORT, "10Mbit", CALLS),
])  # fmt: skip
def test_where_nothing_is_known_the_rate_of_the_network_decides(
    sums: Callable[..., int], size: int, rate: str, expected: int
) -> None:
    """Whoever would be faster, as the clock has it."""
    assert sums("sums", FAST, SLOW, size, "--rate", rate) == expected


@pytest.mark.parametrize(("native", "scheduled", "expected"), [(SLOW, FAST, LATE), (*LOSES, 0)])
@pytest.mark.parametrize("size", [LONG, SHORT])
def test_other_calls_of_the_job_decide(
    sums: Callable[..., int], native: str, scheduled: str, expected: int, size: int
) -> None:
    assert sums("sums-late", native, scheduled, size) == expected


@pytest.mark.parametrize("size", [LONG, SHORT])
def test_what_was_decided_stays(sums: Callable[..., int], size: int) -> None:
    """Timings of other calls after the first sum change nothing, and show in the next job."""
    native, scheduled = (SLOW, FAST) if size == SHORT else LOSES
    assert sums("sums-early", native, scheduled, size) == (1 + LATE if size == LONG else 0)
    assert sums("sums-early", native, scheduled, size) == (1 + LATE if size == SHORT else 0)


@pytest.mark.parametrize(("native", "scheduled", "expected"), [(SLOW, FAST, CALLS), (*LOSES, 0)])
@pytest.mark.parametrize("size", [LONG, SHORT])
def test_an_earlier_job_decides_from_the_first_call_on(
    sums: Callable[..., int], tmp_path: Path, native: str, scheduled: str, expected: int, size: int
) -> None:
    sums("all-reduce", native, scheduled, size)
    (kept,) = (tmp_path / "choices").glob("*.txt")
    assert (" winner=native " in kept.read_text()) is (expected == 0)
    assert sums("sums", FAST, FAST, size) == expected


@pytest.mark.parametrize(("size", "native", "scheduled"), [(SHORT, SLOW, FAST), (LONG, *LOSES)])
def test_sums_may_be_chosen_like_other_calls(
    sums: Callable[..., int], size: int, native: str, scheduled: str
) -> None:
    """Against what is decided before the first call."""
    env = {"HOCKET_CHOICES": ""}
    fixed = sums("sums", native, scheduled, size, env=env)
    free = sums("sums", native, scheduled, size, env=env | {"HOCKET_SUMS": "free"})
    assert fixed == (CALLS if size == LONG else 0)
    assert free <= 3 if size == LONG else free >= CALLS - 3


def test_nonblocking_sums_stay_where_the_first_was_served(sums: Callable[..., int]) -> None:
    """Its communicator was not ready then; it is later, which shows where they are chosen like other calls."""
    assert sums("sums-later", SLOW, FAST, LONG) == 0
    assert sums("sums-later", SLOW, FAST, LONG, env={"HOCKET_SUMS": "free"}) > 0


def test_in_the_order_of_ranks(sums: Callable[..., int]) -> None:
    assert sums("sums", SLOW, FAST, LONG, env={"HOCKET_SUMS": "rank-order"}) == 0
