"""Calls in which one rank gives other counts than the rest: every one ends on all ranks, the right ranks get the error,
and calls after it are right and scheduled."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hocket.launch.mpi import Mpi, MpiFamily
from mpi_programs import compile_with_hocket
from scheduled_calls import ALL, EVERYTHING

PROGRAMS = Path(__file__).parents[1] / "programs"
Launch = Callable[..., subprocess.CompletedProcess[str]]

RANKS = 4
OWN_SIZES = ("alltoallv", "alltoallw", "neighbor_alltoallv", "neighbor_alltoallw")
DIRECT = ("alltoall", "gather", "scatter")
TO_ALL = ("allgather", "allgatherv", "allreduce", "reduce_scatter", "reduce_scatter_block")
TRUNCATED = {MpiFamily.MPICH: 14, MpiFamily.OPENMPI: 15}  # MPI_ERR_TRUNCATE
EQUAL = ",".join((*DIRECT, *TO_ALL, "bcast", "reduce"))
SAID = "counts and types must agree on all ranks"


@pytest.fixture(scope="module")
def program(mpi: Mpi) -> Path:
    return compile_with_hocket(mpi, PROGRAMS / "differing_counts.c")


def told(done: subprocess.CompletedProcess[str]) -> dict[tuple[str, str, str, str, str, str], list[str]]:
    """Results of the ranks by form, call, count of all, of the odd rank, whether only of what it sends, its
    number."""
    cells = {}
    for line in done.stdout.splitlines():
        what, colon, codes = line.partition(": ")
        if colon:
            form, call, count, odd, rank = what.split()
            cells[form, call, count, odd.rstrip("s"), odd[len(odd.rstrip("s")) :], rank] = codes.split()
    return cells


def receivers_cut_off(call: str, count: int, odd: int, only_sends: bool, rank: int) -> set[int]:
    """Ranks for which more is sent than they expect, where nobody passes anything on."""
    sends = [odd if i == rank else count for i in range(RANKS)]
    expects = [odd if i == rank and not only_sends else count for i in range(RANKS)]
    pairs = {
        "gather": [(a, 0) for a in range(RANKS)],
        "scatter": [(0, b) for b in range(RANKS)],
    }.get(call, [(a, b) for a in range(RANKS) for b in range(RANKS)])
    return {b for a, b in pairs if sends[a] > expects[b]}


@pytest.mark.by_turns
@pytest.mark.parametrize(("flow", "form"), [("token", "b"), ("barrier", "b"), ("token", "n"), ("token", "p")])
def test_every_call_ends_on_all_ranks(mpi: Mpi, launch: Launch, program: Path, flow: str, form: str) -> None:
    """Ten calls with eight mismatches on two ranks, in three forms; with small segments, too."""
    more = {"HOCKET_SEGMENT": "4099"} if flow == "barrier" else {}
    env = {**EVERYTHING, "SCHEDULED": "1", "HOCKET_FLOW_CONTROL": flow, **more}
    done = launch([str(program), form, EQUAL], "chain:2,2", RANKS, env=env)
    assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr
    error = str(TRUNCATED[mpi.family])
    cells = told(done)
    assert len(cells) > 100
    for (_, call, count, odd, sends, rank), codes in cells.items():
        assert set(codes) <= {"0", error}, (call, count, odd, sends, rank, codes)  # '!': handlers
        failed = {i for i, code in enumerate(codes) if code == error}
        if call in DIRECT:
            assert failed == receivers_cut_off(call, int(count), int(odd), bool(sends), int(rank))
        elif call in TO_ALL:
            shorter_own = sends and int(odd) < int(count)  # a block that is not filled: libraries let it pass
            assert failed == (set() if shorter_own else set(range(RANKS)))
        else:  # to or from the root, by others who pass it on
            assert failed
    of_form = {"b": "MPI_{}", "n": "MPI_I{}", "p": "MPI_{}_init"}[form].format
    gather, bcast, allgather = (
        (of_form(call) if form != "n" else of_form(call.lower()))
        for call in ("Gather", "Bcast", "Allgatherv?")
    )
    assert f"hocket: {gather}: rank 0 expects 12000 bytes from rank 1 and gets 12040; {SAID}" in done.stderr
    assert re.search(
        f"hocket: {bcast}: rank [1-3] expects [0-9]+ bytes from rank [0-3] and gets [0-9]+; {SAID}",
        done.stderr,
    )
    blamed = re.findall(rf"{allgather}: rank (\d) expects \d+ bytes from rank (\d)", done.stderr)
    assert blamed and all({"0", "1"} & {*pair} for pair in blamed), "only these give other counts"


@pytest.mark.by_turns
@pytest.mark.parametrize(
    ("forms", "calls", "env"),
    [
        ("bp", OWN_SIZES, {"HOCKET_CHOOSE": "window-1"}),
        ("b", OWN_SIZES[1:3], {"HOCKET_CHOOSE": "order"}),
        ("b", OWN_SIZES[1:3], {"HOCKET_CHOOSE": "window-4-large", "HOCKET_SEGMENT": "4099"}),
        ("b", OWN_SIZES[:1], ALL),
        ("b", OWN_SIZES[2:], {"HOCKET_MIN_BYTES": "1"}),
    ],
    ids=["window-1", "order", "window-4-large", "planned", "asked"],
)
def test_messages_of_their_own_sizes(
    mpi: Mpi, launch: Launch, program: Path, forms: str, calls: tuple[str, ...], env: dict[str, str]
) -> None:
    """Forced phases ask nobody for sizes. Else a rank that sends itself what it does not expect leaves a call to the
    library, as it does persistent requests."""
    forced = {"SCHEDULED": "1", "HOCKET_MIN_BYTES": "1"} if "HOCKET_CHOOSE" in env else {}
    done = launch([str(program), forms, ",".join(calls)], "chain:2,2", RANKS, env={**env, **forced})
    assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr
    error = str(TRUNCATED[mpi.family])
    cells = told(done)
    assert len(cells) >= 16 * len(calls) * len(forms)
    for (form, call, count, odd, sends, rank), codes in cells.items():
        if sends and (not forced or form == "p"):  # MPICH calls handlers, and returns no error
            assert {code.rstrip("!") for code in codes} <= {"0", error}
            continue
        assert set(codes) <= {"0", error}, (call, count, odd, sends, rank, codes)
        failed = {i for i, code in enumerate(codes) if code == error}
        assert failed == receivers_cut_off(call, int(count), int(odd), bool(sends), int(rank))


TWO_LEVEL = {"alltoall": "all-to-all", "allgatherv": "all-gather", "allreduce": "all-reduce"}


@pytest.mark.by_turns
@pytest.mark.parametrize(
    ("candidate", "calls", "odd"),
    [
        ("two-level-1", ("alltoall", "allgatherv", "allreduce"), ()),
        (
            "two-level-native",
            ("alltoall", "allgatherv"),
            ("-", "1"),
        ),  # where leaders differ, as the library does
        ("two-level-leaders", ("alltoall",), ()),
    ],
)
def test_ranks_of_a_host_that_act_together(
    mpi: Mpi,
    launch: Launch,
    program: Path,
    tmp_path: Path,
    candidate: str,
    calls: tuple[str, ...],
    odd: tuple[str, ...],
) -> None:
    places = tmp_path / "places"
    places.write_text("n0\nn0\nn1\nn1\n")
    error = str(TRUNCATED[mpi.family])
    env = {"SCHEDULED": "1", "HOCKET_CHOOSE": candidate}
    for call in calls:
        done = launch([str(program), "b", call, *odd], "chain:1,1", RANKS, placement=str(places), env=env)
        assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr
        assert f"hocket: {TWO_LEVEL[call]} of {RANKS} ranks on 2 hosts, aggregated" in done.stderr
        for (_, _, count, other, sends, _), codes in told(done).items():
            passes = call == "allgatherv" and sends and int(other) < int(count)
            assert codes == ["0" if passes else error] * RANKS
        assert SAID in done.stderr


def test_a_fatal_error_ends_the_job_and_says_why(launch: Launch, program: Path) -> None:
    """A gather in which a rank sends more than the root expects, by the default error handler."""
    done = launch([str(program), "b", "gather", "0", "1", "fatal"], "chain:2,2", RANKS, env=EVERYTHING)
    assert done.returncode != 0 and "does not end" not in done.stderr
    assert "the root goes on" not in done.stderr
    assert f"hocket: MPI_Gather: rank 0 expects 12000 bytes from rank 1 and gets 12040; {SAID}" in done.stderr
