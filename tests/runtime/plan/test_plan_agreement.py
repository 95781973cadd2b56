"""Random plans of all collectives: what is planned is saved, proven, bounded, carried out and run by ranks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from builds import compile_once
from hocket.demand.collectives import EQUAL
from hocket.launch.mpi import Mpi
from hocket.network import read_network
from hocket.planning.plan import plan_collective
from plan_agreement import Case, Outcome, check, draw, network_of, run_cases
from plan_store_program import compile_command
from rank_programs import Machine, Send

FIRST, CASES, ASKED = 5000, 25, 5


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
@pytest.mark.parametrize("part", range(4))
def test_random_plans_are_what_they_say(part: int, mpi: Mpi, tmp_path: Path) -> None:
    first = FIRST + part * CASES
    outcomes = [check(draw(seed, tmp_path), tmp_path) for seed in range(first, first + CASES)]
    asked = [one for one in outcomes if one.case.collective != "irregular" and one.plan is not None][:ASKED]
    assert len(asked) == ASKED
    run_cases(asked, compile_once(compile_command(mpi.mpicc), "plan_store"), tmp_path)
    assert all(one.asked for one in asked)
    assert [told(one) for one in outcomes if one.wrong] == []


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_a_window_that_is_chosen_for_a_run_counts_for_every_collective(mpi: Mpi, tmp_path: Path) -> None:
    cases = [
        Case(seed, "chain", "chain:2,2", entry.name, "auto", "", more=["--bytes", "64"], run_window=3)
        for seed, entry in enumerate(EQUAL)
    ]
    outcomes = [check(case, tmp_path) for case in cases]
    run_cases(outcomes, compile_once(compile_command(mpi.mpicc), "plan_store"), tmp_path)
    assert all(one.asked == 2 for one in outcomes)
    assert [told(one) for one in outcomes if one.wrong] == []


def told(one: Outcome) -> str:
    return f"seed {one.case.seed}: {one.case.command()}: {'; '.join(one.wrong)}"


@pytest.mark.parametrize("seed", [1146, 1656])
def test_into_one_rank_all_send_at_once(seed: int, tmp_path: Path) -> None:
    """These reduces were found below their bound, which counted per-message costs as if ranks waited for each other."""
    assert check(draw(seed, tmp_path), tmp_path).wrong == []


@pytest.mark.parametrize("seed", [6045, 6216, 6426])
def test_two_levels_on_routes_that_are_balanced_by_unequal_ranks(seed: int, tmp_path: Path) -> None:
    """Read from the file, the routes were balanced anew, by one rank a host."""
    case = draw(seed, tmp_path)
    assert case.two_level and len(set(network_of(case).ranks_per_node) - {0}) > 1
    assert check(case, tmp_path).wrong == []


def spoil_tokens(send: Send) -> None:
    send.tokens.clear()


def spoil_bytes(send: Send) -> None:
    send.cells = send.cells[1:]


@pytest.mark.parametrize(
    ("name", "spoil", "complaint"),
    [
        ("all-to-all", spoil_tokens, "messages on channel"),
        ("all-gather", spoil_bytes, "lacks bytes|wait for ever"),
        ("all-reduce", spoil_bytes, "lacks parts|wait for ever"),
    ],
)
def test_spoilt_programs_are_found_out(name: str, spoil: Callable[[Send], None], complaint: str) -> None:
    """The one that carries plans out is no rubber stamp."""
    planned = plan_collective(name, read_network("chain:3,2,3"), 4096, window=1)
    data = planned.encode()
    for seed in range(4):
        Machine(data).run(Random(seed), check_channels=True)
    with pytest.raises(AssertionError, match=complaint):
        for seed in range(20):
            machine = Machine(data)
            for sends in machine.sends:
                for send in sends:
                    spoil(send)
            machine.run(Random(seed), check_channels=True)
