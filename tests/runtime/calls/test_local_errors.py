"""Errors that one rank can see alone are the library's, and ranks stay in step: cells of the program local_errors."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pytest

from forwarding_hosts import FOUR, Links, network_file
from hocket.launch.mpi import Mpi, launch_command
from local_error_cells import Outcome, cell_names, control, differences, outcomes, survived, with_controls
from mpi_programs import run_ranks
from scheduled_calls import EVERYTHING

Launched = Callable[..., "subprocess.CompletedProcess[str]"]
TWO_LEVEL = {"alltoall", "allgather", "allgatherv", "allreduce", "alltoallv", "alltoallw"}
MODES: dict[str, tuple[str | Links, dict[str, str]]] = {
    "learn": ("chain:2,2", {"HOCKET_CHOOSE": "learn"}),
    "forced": ("chain:2,2", {**EVERYTHING, "HOCKET_ALGORITHM": "", "HOCKET_CHOOSE": "window-1"}),
    "relays": (FOUR, EVERYTHING),
    "two_level": ("chain:1,1*2", {**EVERYTHING, "HOCKET_CHOOSE": "two-level-order"}),
}


def sample(program: Path, mpi: Mpi) -> list[str]:
    """Sample of the cells that the ranks of this MPI survive, with every call, form, error, culprit and
    time."""
    cells = survived(cell_names(program), mpi)
    Random(20261127).shuffle(cells)
    chosen, seen = [], set[str]()
    for cell in cells:
        parts = cell.split("/")
        if not seen.issuperset(parts):
            chosen.append(cell)
            seen |= set(parts)
    return with_controls(chosen)


@pytest.fixture(scope="module")
def natively(
    mpi: Mpi, built: Callable[[str, str], Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Outcome]:
    program = built(mpi.mpicc, "local_errors")

    def job(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        return run_ranks(launch_command(mpi, 4, [], {}, [str(program), *arguments]), None, 240)

    return outcomes(job, sample(program, mpi), tmp_path_factory.mktemp("native"))


@pytest.mark.by_turns
@pytest.mark.parametrize("mode", MODES)
def test_as_without_hocket(launch: Launched, natively: dict[str, Outcome], tmp_path: Path, mode: str) -> None:
    given, env = MODES[mode]
    network = given if isinstance(given, str) else network_file(tmp_path / "hosts.toml", given)

    def job(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        return launch(" ".join(["local_errors", *arguments]), network, 4, env=env)

    cells = [cell for cell, outcome in natively.items() if not outcome.ended]
    alone = {cell for cell in cells if natively[cell].refused and Random(cell).random() < 0.5}
    served = outcomes(job, cells, tmp_path, alone)
    assert differences(natively, served, mode != "learn") == {}
    for cell in cells:  # what is compared with is scheduled
        call, form, *_ = cell.split("/")
        if (mode in ("forced", "relays") and form != "nonblocking") or (
            mode == "two_level" and form == "blocking" and call in TWO_LEVEL
        ):
            assert min(map(int, served[control(cell)].scheduled)) > 0, control(cell)


def test_sample_has_every_call_and_error(mpi: Mpi, built: Callable[[str, str], Path]) -> None:
    program = built(mpi.mpicc, "local_errors")
    every = {part for cell in survived(cell_names(program), mpi) for part in cell.split("/")}
    assert len(every) >= 40
    assert {part for cell in sample(program, mpi) for part in cell.split("/")} == every
