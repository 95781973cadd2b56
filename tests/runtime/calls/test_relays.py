"""All-to-alls whose ranks pass parts of messages on, every byte checked, under both MPI families."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from call_rows import LARGE_SIZE, WITHIN, all_to_alls, grid, rows
from forwarding_hosts import DGX1, FOUR, Links, hosts_of, network_file, random_links, ring
from hocket import _core
from hocket.launch.mpi import Mpi, MpiFamily
from hocket.network import read_network
from hocket.planning.plan import plan_demand
from mpi_programs import compile_with_hocket
from reported_calls import Said, all_scheduled
from scheduled_calls import EVERYTHING

# What an MPI does with a call, in any form and layout, is in test_call_grid with both.
pytestmark = pytest.mark.by_turns

Check = Callable[..., Said]
Launch = Callable[..., subprocess.CompletedProcess[str]]

PROGRAMS = Path(__file__).parents[1] / "programs"
NETWORKS = {"DGX-1": DGX1, "ring": ring(6), "random": random_links(3, 6, 6)}
HALF = 1 << 19  # of a message among FOUR
FORMS = ("MPI_Alltoall", "MPI_Ialltoall", "MPI_Alltoall_init")
# Before nonblocking calls are ready the library serves them.
EARLY = ("erroneous", "not_ready")


@pytest.fixture
def four(tmp_path: Path) -> str:
    return network_file(tmp_path / "four.toml", FOUR)


@pytest.mark.parametrize("links", NETWORKS.values(), ids=NETWORKS)
def test_every_byte_arrives_in_every_form(check: Check, tmp_path: Path, links: Links) -> None:
    patterns = rows("alltoall", "dense in_place strided swapped", "equal", "world reverse", "*", "*")
    program = grid((20004, 80044), patterns, rounds=2, words="ready threads")
    said = check(program, network_file(tmp_path / "hosts.toml", links), hosts_of(links))
    for form in FORMS:
        all_scheduled(said, form, by="relays", ranks=hosts_of(links), but=EARLY)


@pytest.mark.parametrize("flow", ["token", "window:2", "barrier", "free"])
def test_every_layout_flow_and_part_of_the_ranks(check: Check, four: str, flow: str) -> None:
    """Two ranks have nobody who passes on: their host's routes carry them."""
    said = check(all_to_alls(), four, 4, "--flow", flow)
    all_scheduled(said, "MPI_Alltoall", by="relays", ranks=4, but=("erroneous",))


@pytest.mark.parametrize("groups", ["world", pytest.param(WITHIN, marks=pytest.mark.slow)])
def test_messages_of_many_segments(check: Check, four: str, groups: str) -> None:
    said = check(all_to_alls(LARGE_SIZE, groups=groups), four, 4)
    all_scheduled(said, "MPI_Alltoall", by="relays", ranks=4, but=("erroneous",))


def test_segments_smaller_than_a_part_and_odd(check: Check, four: str) -> None:
    env = {"HOCKET_SEGMENT": "1031", "HOCKET_MIN_BYTES": "1"}
    said = check(all_to_alls(4, 400, 20000, 80044), four, 4, env=env)
    all_scheduled(said, "MPI_Alltoall", by="relays", ranks=4, but=("erroneous",))


def test_ranks_placed_in_any_order(check: Check, four: str, tmp_path: Path) -> None:
    places = tmp_path / "places"
    places.write_text("n2\nn0\nn3\nn1\n")
    said = check(all_to_alls(20000), four, 4, placement=str(places))
    all_scheduled(said, "MPI_Alltoall", by="relays", ranks=4, but=("erroneous",))


def test_other_forms_only_where_a_thread_passes_on(check: Check, four: str) -> None:
    patterns = rows("alltoall", "dense", form="*")
    said = check(grid((20004,), patterns, words="ready"), four, 4)
    all_scheduled(said, FORMS[0], by="relays", but=("erroneous",))
    for form in FORMS[1:]:
        served = said.served(form)
        assert said.scheduled(form) == 0 and served["native: forwards"] > 0, served


def test_ranks_of_one_host_send_whole_messages(check: Check, four: str) -> None:
    """Where they act together, one for each host sends for all of them: what it sends differs in size."""
    env = {"HOCKET_CHOOSE": "two-level-order"}
    places = Path(four).with_name("places")
    places.write_text("n0\nn0\nn1\nn1\nn2\nn3\n")
    said = check(all_to_alls(20000), four, 6, env=env, placement=str(places))
    assert said.by_two_level(6) > 0
    together = [line for line in said.splitlines() if "aggregated" in line]
    assert together and not any("'relays'" in line for line in together)


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        (lambda rows: rows.remove((1, 2, 1, 0, 1, HALF, HALF)), "lacks messages"),
        (lambda rows: rows.remove((0, 0, 2, 0, 1, HALF, HALF)), "sends what its sender does not hold"),
        (lambda rows: rows.append((3, 3, 1, 0, 1, HALF, HALF)), "delivers bytes twice"),
        (lambda rows: rows.append((3, 0, 3, 0, 1, 0, HALF)), "sends bytes twice"),
    ],
)
def test_a_spoilt_plan_is_refused(
    check: Check, four: str, spoil: Callable[[list[tuple[int, ...]]], None], complaint: str
) -> None:
    """Whichever rank sees it, none schedules."""
    network = read_network(four)
    demand = _core.Demand(4, 2 * HALF)
    sent = plan_demand(network, demand, "relays").schedule.rows()
    spoil(sent)
    schedule = _core.Schedule.from_rows(4, demand.bytes, sorted(sent))
    waits = _core.Waits.derive(network, schedule)
    path = Path(four).with_name("spoilt.hkt")
    path.write_bytes(_core.Plan(network, schedule, waits, demand, "by hand", 0, 0.0, 0.0).encode())
    said = check(all_to_alls(20000), four, 4, env=EVERYTHING, exports={"HOCKET_PLAN": str(path)})
    assert complaint in said and said.scheduled(ranks=4) == 0, said


def test_one_rank_with_other_counts_ends_every_call(mpi: Mpi, launch: Launch, four: str) -> None:
    """On all ranks, by an error or none; what follows is right, and scheduled."""
    program = compile_with_hocket(mpi, PROGRAMS / "differing_counts.c")
    done = launch([str(program), "bnp", "alltoall"], four, 4, env={**EVERYTHING, "SCHEDULED": "1"})
    assert done.returncode == 0 and " 0 wrong" in done.stdout, done.stdout + done.stderr
    truncated = str({MpiFamily.MPICH: 14, MpiFamily.OPENMPI: 15}[mpi.family])
    cells = [line.partition(": ")[2].split() for line in done.stdout.splitlines() if " alltoall " in line]
    assert len(cells) > 30 and all(set(codes) <= {"0", truncated} for codes in cells)
    assert all(truncated in codes for codes in cells)
