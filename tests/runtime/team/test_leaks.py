"""Communicators that come and go leave nothing behind."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable

import pytest

from reported_calls import Said
from scheduled_calls import EVERYTHING

Told = Callable[..., tuple[subprocess.CompletedProcess[str], Said]]


@pytest.mark.parametrize("communicators", [350, pytest.param(1100, marks=pytest.mark.slow)])
def test_memory_is_flat_after_a_hundred_communicators(told: Told, communicators: int) -> None:
    """A KiB for each would show. MPICH has about 2,000 at once: 1,100 of the program's and as many of ours are more.
    There are 24 orders of ranks: what was made for one is no longer kept when it comes again."""
    done, said = told(f"many_comms {communicators} 8 24", "chain:2,2", 4, env=EVERYTHING)
    assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr[-3000:]
    assert done.stderr.count("all-to-all of 4 ranks on 4 hosts") == communicators
    assert said.scheduled("MPI_Alltoall") + said.scheduled("MPI_Alltoall_init") >= communicators
    resident = {int(step): int(kib) for step, kib in re.findall(r"rss (\d+) (\d+)", done.stdout)}
    assert resident[communicators] - resident[100] < communicators - 100, resident


def test_communicators_of_the_same_ranks_are_planned_for_once(told: Told) -> None:
    """Plans and communicators of a freed one serve the next. Ranks 0 and 1 meet in eight others before the last one
    and no longer keep them, ranks 2 and 3 in fewer and do: all plan anew.
    So they do after a call that has failed."""
    done, said = told("many_comms 6 50 1", "chain:2,2", 4, env=EVERYTHING)
    assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr[-3000:]
    assert done.stderr.count("all-to-all of 4 ranks on 4 hosts") == 3
    assert said.scheduled("MPI_Alltoall", ranks=4) >= 6
