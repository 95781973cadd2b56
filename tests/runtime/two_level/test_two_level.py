"""Calls for which the ranks of a host act together: every byte checked, under both MPI families."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from builds import compile_once
from call_rows import LARGE_SIZE, USUAL_SIZES, all_gathers, all_to_alls, vectors
from reported_calls import Said, all_scheduled

# What an MPI does with a call, in any form and layout, is in test_call_grid with both.
pytestmark = pytest.mark.by_turns

Check = Callable[..., Said]
Launched = Callable[..., subprocess.CompletedProcess[str]]
Told = Callable[..., tuple[subprocess.CompletedProcess[str], Said]]

PROGRAMS = Path(__file__).parents[1] / "programs"
NETWORK = "chain:2,1*3"  # three hosts
# Ranks of a host side by side; one on each host in turn; hosts that are not full, in no order. Not 9 ranks: there Open
# MPI's own Reduce_scatter_block and Reduce_local disagree.
PLACEMENTS = {
    "block": [0, 0, 1, 1, 2, 2],
    "cyclic": [0, 1, 2, 0, 1, 2, 0, 1],
    "unequal": [2, 0, 2, 1, 0, 2],
}
CALLS = {
    all_to_alls(rounds=2): ["MPI_Alltoall"],
    all_gathers(1000, 100003): ["MPI_Allgather", "MPI_Allgatherv"],
    "reduce_check 1 1000 20001": ["MPI_Allreduce"],
}
TWO_LEVEL = "aggregates by "
# Reasons that the checks cause on purpose: erroneous calls, and operations that are not to be combined in any
# order.
USUAL = ("erroneous", "operation")


@pytest.fixture(scope="module", autouse=True)
def ranks_yield() -> Iterator[None]:
    """Ranks that wait inside MPICH here do so within Hocket's timers, which keep sleeps short: to sleep costs more than
    to yield."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("MPIR_CVAR_ENABLE_HEAVY_YIELD", "0")
        yield


@pytest.fixture
def two_level(check: Check, tmp_path: Path) -> Callable[..., Said]:
    """Runs a check on the hosts of a placement; returns what Hocket and its ranks said."""

    def run(program: str, placement: str, candidate: str, **env: str) -> Said:
        places = tmp_path / "places"
        places.write_text("".join(f"n{host}\n" for host in PLACEMENTS[placement]))
        ranks = len(PLACEMENTS[placement])
        given = {"HOCKET_CHOOSE": candidate, **env}
        return check(program, NETWORK, ranks, placement=str(places), env=given)

    return run


@pytest.mark.parametrize("program", CALLS, ids=["all-to-all", "all-gather", "reduce"])
@pytest.mark.parametrize(
    ("placement", "candidate"),
    [
        ("cyclic", "two-level-1"),
        ("unequal", "two-level-order"),
        ("block", "two-level-native"),
        ("unequal", "two-level-native"),
    ],
)
def test_every_byte_arrives(
    two_level: Callable[..., Said], program: str, placement: str, candidate: str
) -> None:
    """Communicators of parts of the hosts may have one rank on each: rank by rank."""
    said = two_level(program, placement, candidate)
    all_scheduled(said, *CALLS[program], but=USUAL)
    by = TWO_LEVEL + ("the MPI library" if candidate == "two-level-native" else "")
    all_scheduled(said, *CALLS[program], by=by, ranks=len(PLACEMENTS[placement]), but=USUAL)


@pytest.mark.parametrize("placement", ["block", "cyclic"])
def test_all_ranks_lead_in_all_to_alls(two_level: Callable[..., Said], placement: str) -> None:
    said = two_level(all_to_alls(rounds=2), placement, "two-level-leaders")
    by = TWO_LEVEL + "all ranks"
    all_scheduled(said, "MPI_Alltoall", by=by, ranks=len(PLACEMENTS[placement]), but=USUAL)


@pytest.mark.parametrize(
    "program", [all_gathers(1000, 100003), "reduce_check 1 1000 20001"], ids=["all-gather", "reduce"]
)
@pytest.mark.parametrize("placement", ["block", "cyclic"])
def test_of_what_goes_to_all_hosts_one_leader_is_enough(
    two_level: Callable[..., Said], program: str, placement: str
) -> None:
    """Rank by rank, where all are to lead."""
    said = two_level(program, placement, "two-level-leaders")
    all_scheduled(said, *CALLS[program], but=USUAL)
    assert not said.by_two_level()


EVERY_CANDIDATE = pytest.mark.parametrize(
    "candidate", ["two-level-1", "two-level-order", "two-level-native", "two-level-leaders"]
)


@EVERY_CANDIDATE
def test_messages_of_many_segments(two_level: Callable[..., Said], candidate: str) -> None:
    said = two_level(all_to_alls(LARGE_SIZE, groups="world"), "block", candidate)
    all_scheduled(said, "MPI_Alltoall", by=TWO_LEVEL, ranks=6, but=USUAL)


@pytest.mark.slow
@EVERY_CANDIDATE
def test_many_rounds(two_level: Callable[..., Said], candidate: str) -> None:
    all_scheduled(
        two_level(all_to_alls(*USUAL_SIZES, LARGE_SIZE, rounds=40), "cyclic", candidate),
        "MPI_Alltoall",
        by=TWO_LEVEL,
        ranks=8,
        but=USUAL,
    )


@pytest.mark.parametrize("candidate", ["two-level-1", "two-level-native"])
def test_every_operation_on_each_of_its_types(two_level: Callable[..., Said], candidate: str) -> None:
    said = two_level("reduce_check each 1000", "block", candidate)
    all_scheduled(said, "MPI_Allreduce", by=TWO_LEVEL, ranks=6, but=USUAL)


def test_what_does_not_fit_goes_rank_by_rank(two_level: Callable[..., Said]) -> None:
    """The decision is the same on all ranks, so sizes may change from call to call."""
    said = two_level(all_to_alls(rounds=2), "block", "two-level-1", HOCKET_HOST_MEMORY="65536")
    all_scheduled(said, "MPI_Alltoall", but=USUAL)
    assert 0 < said.by_two_level() < said.scheduled("MPI_Alltoall")


def test_without_memory_all_go_rank_by_rank(two_level: Callable[..., Said]) -> None:
    said = two_level(all_to_alls(), "block", "two-level-1", HOCKET_HOST_MEMORY="0")
    all_scheduled(said, "MPI_Alltoall", but=USUAL)
    assert not said.by_two_level()


@pytest.mark.parametrize(
    ("what", "program"),
    [
        ("memfd_create", all_to_alls(400, 20000)),
        ("open", all_to_alls(400, 20000)),
        ("open", "alltoallv_check 200 changing"),
    ],
    ids=["no call", "hidden", "hidden, sizes that change"],
)
def test_ranks_that_cannot_share_memory_say_so_once(check: Check, what: str, program: str) -> None:
    """Containers are like that: no such system call, or processes that are hidden from each other."""
    refusing = compile_once(["cc", "-shared", "-fPIC", str(PROGRAMS / "no_memory.c")], "no_memory.so")
    env = {"HOCKET_CHOOSE": "two-level-1", "LD_PRELOAD": str(refusing), "HOCKET_TEST_REFUSED": what}
    # UCX's shared memory, which is hidden, too, is not all that MPICH has.
    said = check(program, NETWORK, 9, env=env | {"UCX_TLS": "all"})
    assert said.count("the ranks of a host cannot share memory") == 1
    assert "messages of a host's ranks are not aggregated" in said
    assert not said.by_two_level() and (program.startswith("alltoallv") or said.scheduled("MPI_Alltoall"))


@pytest.mark.parametrize(
    ("how", "candidate"), [("kill", "two-level-1"), ("exit", "two-level-1"), ("kill", "two-level-leaders")]
)
@pytest.mark.parametrize("count", [20000, 20])  # of these Alltoallv is aggregated, too
def test_a_rank_dies(told: Told, how: str, candidate: str, count: int) -> None:
    """The launcher ends the others. Memory without a name cannot stay behind."""
    before = sorted(path.name for path in Path("/dev/shm").glob("*hocket*"))
    done, said = told(f"killed {how} {count}", "chain:2,2*2", 8, env={"HOCKET_CHOOSE": candidate})
    assert done.returncode != 0
    assert said.by_two_level() > 0, said
    assert sorted(path.name for path in Path("/dev/shm").glob("*hocket*")) == before


def test_an_unknown_candidate_is_one_warning(check: Check) -> None:
    exports = {"HOCKET_CHOOSE": "aggregates", "HOCKET_MIN_BYTES": "1"}  # with it ranks meet
    said = check(all_to_alls(rounds=3), "chain:2,2", 4, exports=exports)
    wrong = "HOCKET_CHOOSE='aggregates' is not learn, predict, off, native, window-1 or 13 more; using learn"
    assert said.count(wrong) == 1


def test_communicators_that_hold_parts_of_hosts(check: Check) -> None:
    """In other orders, every second rank, neighbours, all but one: each has memory of its own."""
    said = check("subsets 300", NETWORK, 8, env={"HOCKET_CHOOSE": "two-level-1"})
    all_scheduled(said, "MPI_Alltoall", but=USUAL)
    assert said.by_two_level() > 0


@pytest.mark.parametrize(
    "mpi", ["mpich"], indirect=True
)  # Open MPI may hang where threads make communicators
def test_threads_on_communicators_of_their_own(told: Told) -> None:
    done, said = told("threads 3 3 300", "chain:1,1*2", 4, env={"HOCKET_CHOOSE": "two-level-1"})
    assert done.returncode == 0 and "ok " in done.stdout, done.stdout + done.stderr
    all_scheduled(said, "MPI_Alltoall", by=TWO_LEVEL)


def test_memory_does_not_grow_with_calls(told: Told) -> None:
    done, said = told("flat_memory 2000", NETWORK, 6, env={"HOCKET_CHOOSE": "two-level-1"})
    assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr
    assert said.by_two_level() > 1800
    early, late = (int(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("after "))
    assert late - early < 512, "KiB; 1,800 calls lie between"


@pytest.mark.parametrize(
    "program",
    [all_to_alls(rounds=2), vectors(2000), "alltoallv_check 2000 changing"],
    ids=["all-to-all", "vectors", "changing"],
)
def test_leaders_carry_to_several_hosts_each(check: Check, program: str) -> None:
    said = check(program, "chain:3,2*2", 10, env={"HOCKET_CHOOSE": "two-level-leaders"})
    assert said.by_two_level() > 0


def test_where_a_host_has_one_rank_not_all_lead(two_level: Callable[..., Said]) -> None:
    said = two_level(all_to_alls(), "unequal", "two-level-leaders")
    all_scheduled(said, "MPI_Alltoall", but=USUAL)
    assert not said.by_two_level()


@pytest.mark.parametrize("candidate", ["two-level-1", "two-level-native", "two-level-leaders"])
def test_messages_move_while_ranks_of_a_host_wait(check: Check, candidate: str) -> None:
    """Late ranks send to one that waits for them in the memory of the host, and on another host."""
    all_scheduled(
        check("needed_meanwhile 300000", NETWORK, 6, env={"HOCKET_CHOOSE": candidate}),
        "MPI_Alltoall",
        by=TWO_LEVEL,
    )
