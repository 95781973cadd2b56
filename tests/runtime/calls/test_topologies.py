"""HOCKET_REORDER=1: ranks of topologies are put where neighbours are near each other; without it nothing changes."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from hocket.launch.mpi import GIVE_WAY, Mpi, MpiFamily
from hocket.network import read_network
from mpi_programs import mpiexec

RANKS = 8
Launch = Callable[..., subprocess.CompletedProcess[str]]
REORDER = {"HOCKET_REORDER": "1", "HOCKET_LOG": "1"}
STAY = {"none", "large"}  # no neighbours; no such topology


def told(out: str) -> tuple[dict[str, int], list[str]]:
    """Numbers of ranks that have moved, by topology; facts that do not depend on that."""
    assert re.search(r"^ok \d+ checks, 0 wrong$", out, re.MULTILINE), out
    moved = {name: int(count) for name, count in re.findall(r"^moved (.*): (\d+)$", out, re.MULTILINE)}
    return moved, [line for line in out.splitlines() if ": class" in line]


@pytest.fixture
def at_random(tmp_path: Path) -> Callable[[str], str]:
    """Ranks lie on the hosts of a network at random."""

    def place(source: str) -> str:
        network = read_network(source)
        names = [network.names[network.host_of(place)] for place in range(network.ranks)]
        Random(1).shuffle(names)
        (tmp_path / "placement").write_text("\n".join(names) + "\n")
        return str(tmp_path / "placement")

    return place


@pytest.fixture
def native(mpi: Mpi, compiled: Callable[[str], Path]) -> list[str]:
    env = {name: value for name, value in GIVE_WAY.items() if name not in os.environ}
    moved, facts = told(mpiexec(mpi, RANKS, [str(compiled("topologies"))], env))
    assert not any(moved.values()) and len(facts) == len(moved) == 14
    if mpi.family is MpiFamily.OPENMPI:  # copies attributes to graphs of this kind alone
        facts = [re.sub("(?<=attribute )1", "0", fact) for fact in facts]
    return facts


@pytest.mark.parametrize("network", ["chain:4,4", "chain:2,2*2"])
def test_reordered(launch: Launch, at_random: Callable[[str], str], native: list[str], network: str) -> None:
    done = launch("topologies", network, RANKS, placement=at_random(network), env=REORDER)
    moved, facts = told(done.stdout)
    assert {name for name, count in moved.items() if count == 0} == STAY, moved
    assert facts == native
    gains = re.findall(
        r"hocket: MPI_(\w+) of (\d) ranks: reordered \(.*\); .* be ([\d.]+) x as fast", done.stderr
    )
    assert len(gains) == len(moved) - len(STAY), done.stderr
    assert {call for call, *_ in gains} == {
        "Cart_create", "Graph_create", "Dist_graph_create", "Dist_graph_create_adjacent",
    }  # fmt: skip
    assert {ranks for _, ranks, _ in gains} == {"6", "8"} and all(float(gain) > 1 for *_, gain in gains)


@pytest.mark.parametrize(
    ("mode", "network", "variable"),
    [
        pytest.param("", "chain:4,4", "", id="without the variable"),
        pytest.param("not", "chain:4,4", "1", id="not allowed"),
        pytest.param("", "star:8", "1", id="nothing gained"),
        pytest.param("", "star:1*8", "1", id="one host"),
    ],
)
def test_passed_on(
    launch: Launch, at_random: Callable[[str], str], mode: str, network: str, variable: str
) -> None:
    env = {**REORDER, "HOCKET_REORDER": variable}
    done = launch(f"topologies {mode}", network, RANKS, placement=at_random(network), env=env)
    moved, facts = told(done.stdout)
    assert not any(moved.values()) and len(facts) == 14
    assert "reordered" not in done.stderr
