"""The grid of calls: every exchange of MPI in every form and layout, with counts of either width, whole buffers
compared, under both MPI families. A form is scheduled, or passed on by a rule."""

from __future__ import annotations

import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from call_rows import grid, rows
from hocket.launch.mpi import Mpi, MpiFamily
from reported_calls import Said
from scheduled_calls import ALL, EVERYTHING, scheduled

Told = Callable[..., tuple[subprocess.CompletedProcess[str], Said]]
Made = Callable[..., int]

FORMS = ("blocking", "nonblocking", "persistent")
SAME = {"alltoall", "allgather", "gather", "scatter", "bcast", "neighbor_allgather", "neighbor_alltoall"}
OF_SIZES = {"alltoallv", "alltoallw", "allgatherv", "gatherv", "scatterv"}
OF_SIZES |= {"neighbor_allgatherv", "neighbor_alltoallv", "neighbor_alltoallw"}
REDUCTIONS = {"reduce", "allreduce", "reduce_scatter_block", "reduce_scatter"}
LAYOUTS = {"dense", "strided", "from_strided", "to_strided", "either", "swapped"}
LAYOUTS |= {"spaced", "from_spaced", "early", "to_early"}
IN_PLACE = {"in_place", "in_place_strided", "in_place_spaced"}
SIZES = {"equal", "different", "sparse", "one", "but_one", "nothing"}


def test_no_row_is_missing(mpi: Mpi, compiled: Callable[[str], Path]) -> None:
    listed = subprocess.run(
        [compiled("call_grid"), "--list"], capture_output=True, text=True, check=True, timeout=60
    )
    layouts, sizes = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    made = set()
    for row in listed.stdout.split():
        call, form, counts, layout, size, _ = row.split("/")
        made.add((call, form, counts))
        layouts[call].add(layout)
        sizes[call].add(size)
    widths = (
        ["int"] if mpi.family is MpiFamily.OPENMPI else ["int", "large"]
    )  # Open MPI 5 has no large counts
    calls = SAME | OF_SIZES | REDUCTIONS
    assert made == {(call, form, counts) for call in calls for form in FORMS for counts in widths}
    for call in SAME | OF_SIZES:
        wanted = LAYOUTS | ({"gaps"} if call in OF_SIZES else set())
        wanted |= {"every_kind"} if call.endswith("alltoallw") else set()
        wanted |= set() if call == "bcast" or call.startswith("neighbor") else IN_PLACE
        assert layouts[call] == wanted
    for call in REDUCTIONS:
        assert layouts[call] == {"dense", "in_place"}
    for call in calls:
        assert sizes[call] == (SIZES if call in OF_SIZES | {"reduce_scatter"} else {"equal"})


@pytest.fixture
def made(told: Told, tmp_path: Path) -> Made:
    """Makes rows, all bytes of which must be right; their number."""

    def run(program: str, network: str, ranks: int, env: dict[str, str]) -> int:
        done, _ = told(program, network, ranks, env=env | {"HOCKET_TRACE": str(tmp_path / "trace")})
        assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr
        found = re.search(r"^rows (\d+)$", done.stdout, re.MULTILINE)
        assert found
        return int(found[1])

    return run


def events(trace: Path, rank: int) -> Counter[str]:
    """Calls that a rank recorded, by their kind."""
    lines = trace.with_name(f"trace.{rank}").read_text().splitlines()
    return Counter(line.split()[0] for line in lines)


@pytest.mark.parametrize("threads", ["", " threads"])
def test_messages_of_one_size_are_scheduled_in_every_form(made: Made, tmp_path: Path, threads: str) -> None:
    """All-gathers that go on beside the program only where all ranks have MPI_THREAD_MULTIPLE."""
    rounds = 2
    patterns = (
        rows("alltoall", "dense in_place strided swapped", form="*", counts="*"),
        rows("allgather", "dense in_place", form="*", counts="*"),
        rows("allgatherv", "gaps", "equal", form="*", counts="*"),
    )
    program = grid((20000,), *patterns, rounds=rounds, words="ready" + threads)
    forms = made(program, "chain:2,2", 4, {}) // (4 + 2 + 1)
    for rank in range(4):
        found = events(tmp_path / "trace", rank)
        assert found["all-to-all"] == 4 * forms * rounds
        assert found["all-gather"] == (2 + 1) * (forms if threads else forms // 3) * rounds


# The first blocking call tells the ranks the sizes.
@pytest.mark.parametrize(("form", "calls"), [("blocking", 2), ("persistent", 3), ("nonblocking", 0)])
def test_messages_of_different_sizes(made: Made, tmp_path: Path, form: str, calls: int) -> None:
    patterns = (
        rows("alltoallv neighbor_alltoallv", "early to_early", "different sparse", "world ring", form, "*"),
        rows("neighbor_allgather neighbor_alltoall", "early", "equal", "edges grid", form, "*"),
        rows("neighbor_allgatherv", "to_early", "different", "edges ring", form, "*"),
        rows("alltoallw neighbor_alltoallw", "every_kind", "different sparse", "world edges grid", form, "*"),
    )
    found = made(grid((16000,), *patterns, rounds=3, words="fresh"), "chain:3,3", 6, ALL)
    assert found >= 8 + 4 + 2 + 6
    # The last communicator of the same ranks may have left a plan for the sizes: then the first call goes by it, too.
    assert calls * found <= scheduled(tmp_path / "trace") <= max(calls, 3) * found * (calls > 0)


def test_neighbours_of_some_ranks_of_a_host(made: Made, tmp_path: Path) -> None:
    """Neighbourhoods of a part of the hosts, in small pieces."""
    patterns = (
        rows("*alltoallv neighbor_allgatherv", "early", "different", "world ring edges"),
        rows("neighbor_allgather neighbor_alltoall", "early", "equal", "edges grid"),
        rows("*alltoallw", "every_kind", "different", "world edges grid"),
    )
    found = made(
        grid((16000,), *patterns, rounds=3, words="fresh"), "star:4*2", 5, ALL | {"HOCKET_SEGMENT": "1031"}
    )
    assert found == 5 + 4 + 3 and 2 * found <= scheduled(tmp_path / "trace") <= 3 * found


def test_what_a_persistent_call_was_made_with_may_be_gone(made: Made, tmp_path: Path) -> None:
    """Several at once, started in another order in each round."""
    patterns = rows("alltoallv neighbor_alltoallv", "gaps early", "different", "world graph", "persistent")
    found = made(grid((30000,), patterns, rounds=3, words="forget together=4"), "chain:3,3", 6, ALL)
    assert found == 4 and scheduled(tmp_path / "trace") == 3 * found


@pytest.mark.parametrize(("form", "together"), [("*", 2), ("persistent", 16)])
def test_gathers_and_scatters_are_scheduled_in_every_form(
    made: Made, tmp_path: Path, form: str, together: int
) -> None:
    """But nonblocking ones of which only the root knows the sizes."""
    patterns = (
        rows("gather scatter", "dense", form=form, counts="*"),
        rows("gatherv scatterv", "dense", "different", form=form, counts="*"),
    )
    program = grid((20012,), *patterns, rounds=3, words=f"ready together={together}")
    of_each_call = made(program, "chain:2,2", 4, EVERYTHING) // 4
    roots, calls = 4, 2
    # The first blocking call tells the ranks the sizes.
    unequal = 3 * of_each_call if form == "persistent" else (2 + 3) * of_each_call // 3
    assert scheduled(tmp_path / "trace") == calls * roots * (3 * of_each_call + unequal)


@pytest.mark.parametrize("threads", ["", " threads"])
def test_reductions_and_broadcasts_are_scheduled_in_every_form(
    made: Made, tmp_path: Path, threads: str
) -> None:
    """Forms that progress beside the program are scheduled only where all ranks have MPI_THREAD_MULTIPLE."""
    rounds, roots = 2, 4
    patterns = (
        rows("allreduce reduce_scatter_block reduce bcast", "dense", form="*", counts="*"),
        rows("reduce_scatter", "dense", "different", form="*", counts="*"),
    )
    all_rows = made(grid((20012,), *patterns, rounds=rounds, words="ready" + threads), "chain:2,2", 4, {})
    times = all_rows // 5 // (1 if threads else 3) * rounds
    for rank in range(4):
        found = events(tmp_path / "trace", rank)
        assert found["all-reduce"] == times
        assert found["reduce-scatter"] == (2 + roots) * times  # two calls, and the reduction to each root
        assert found["all-gather"] == roots * times  # the broadcast


@pytest.mark.parametrize("form", FORMS)
def test_every_layout(told: Told, mpi: Mpi, form: str) -> None:
    """Every call is scheduled, but nonblocking ones with sizes of their own."""
    if mpi.family is MpiFamily.OPENMPI and form != "blocking":
        pytest.skip("Open MPI 5.0 forgets datatypes that are freed before its requests are over")
    patterns = rows("*", "*", groups="world edges grid", form=form)
    done, said = told(
        grid((8000,), patterns, rounds=2, words="ready threads"), "chain:2,2", 4, env=EVERYTHING
    )
    assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr
    calls = SAME | OF_SIZES | REDUCTIONS
    if form == "nonblocking":
        scheduled_ones = {f"MPI_I{call}" for call in calls - OF_SIZES if not call.startswith("neighbor")}
    else:
        scheduled_ones = {f"MPI_{call.capitalize()}{'_init' * (form == 'persistent')}" for call in calls}
    assert [call for call in sorted(scheduled_ones) if said.scheduled(call) == 0] == []
