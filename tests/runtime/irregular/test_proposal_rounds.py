"""Ranks agree on the phases of an irregular exchange with their partners: nobody puts the whole together, under both
MPI families."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from call_rows import grid, rows, vectors
from hocket import _core
from hocket.network import read_network
from reported_calls import Said
from scheduled_calls import ALL, scheduled, thirds

pytestmark = pytest.mark.by_turns

Check = Callable[..., Said]
Launched = Callable[..., subprocess.CompletedProcess[str]]

ROUNDS = {**ALL, "HOCKET_ALGORITHM": "proposals"}
AGREED = re.compile(
    r"irregular exchange of (\d+) messages between (\d+) ranks on \d+ hosts: "
    r"(\d+) phases by 'proposals' in \d+ rounds? between partners"
)


def sends(trace: Path, rank: int) -> list[tuple[int, int]]:
    """Phase and receiver of each message, in the order of the last recorded irregular call."""
    text = trace.with_name(f"{trace.name}.{rank}").read_text()
    call = re.findall(r"^irregular .*\n((?:(?:to|from) .*\n)*)", text, re.MULTILINE)[-1]
    return [(int(phase), int(dst)) for phase, dst in re.findall(r"^to \d+ (\d+) (\d+)$", call, re.MULTILINE)]


@pytest.mark.parametrize(("hosts", "ranks"), [(8, 8), (9, 7), (5, 5)])
def test_the_phases_are_those_that_the_algorithm_computes(
    check: Check, tmp_path: Path, hosts: int, ranks: int
) -> None:
    """Ranks are anywhere on the hosts: those of the network have other numbers."""
    names = Random(ranks).sample(range(hosts), ranks)
    (tmp_path / "places").write_text("\n".join(f"n{host}" for host in names))
    place = [sorted(names).index(host) for host in names]
    env = ROUNDS | {"HOCKET_TRACE": str(tmp_path / "trace")}
    program, network = "vector_rounds 20000x2", f"star:{hosts}"
    said = check(program, network, ranks, placement=str(tmp_path / "places"), env=env)
    demand = thirds(ranks, 20000, place)
    schedule = _core.Algorithm.find("proposals", "irregular").make(read_network(f"star:{ranks}"), demand)
    wanted: list[list[tuple[int, int]]] = [[] for _ in range(ranks)]
    for phase, src, dst, *_ in schedule.rows():
        wanted[place.index(src)].append((phase, place.index(dst)))
    assert [sends(tmp_path / "trace", rank) for rank in range(ranks)] == wanted
    found = AGREED.search(said)
    assert found and found.groups() == (str(demand.messages), str(ranks), str(schedule.phases))


def test_every_byte_arrives(check: Check) -> None:
    said = check(vectors(30000, parts=True), "star:6", 6, env=ROUNDS)
    assert {found[:2] for found in AGREED.findall(said)} >= {("30", "6"), ("20", "5")}
    assert "planned together" not in said
    assert said.served("MPI_Alltoallv")["scheduled: proposals"] > 0


@pytest.mark.parametrize("flow", ["window:2", "barrier", "free"])
def test_every_flow_control(check: Check, flow: str) -> None:
    said = check(vectors(20000), "star:5", 5, "--flow", flow, env=ROUNDS)
    assert AGREED.search(said) and said.served("MPI_Alltoallv")["scheduled: proposals"] > 0


@pytest.mark.parametrize("form", ["blocking", "persistent"])
def test_every_form(check: Check, tmp_path: Path, form: str) -> None:
    patterns = [
        rows("alltoallv neighbor_alltoallv", "early", "different", "world ring", form),
        rows("alltoallw neighbor_alltoallw", "every_kind", "different", "world edges", form),
    ]
    env = ROUNDS | {"HOCKET_TRACE": str(tmp_path / "trace")}
    said = check(grid((16000,), *patterns, rounds=3, words="fresh"), "star:6", 6, env=env)
    assert scheduled(tmp_path / "trace") >= 2 * 4
    assert len(AGREED.findall(said)) == said.count("irregular exchange of")


def calls_of(launch: Launched, network: str, **env: str) -> tuple[list[int], str]:
    """Number of size matrices that each call put together, and the output."""
    done = launch("vector_rounds 30000x3", network, 6, env=ROUNDS | env)
    assert done.returncode == 0 and "ok 0 wrong" in done.stdout, done.stdout + done.stderr
    return [int(found) for found in re.findall(r"matrices (\d+)", done.stdout)], done.stderr


@pytest.mark.parametrize("network", ["star:6", "fat-tree:2x3x1x3"])
def test_nobody_puts_the_sizes_of_all_ranks_together(launch: Launched, network: str) -> None:
    matrices, said = calls_of(launch, network)
    assert matrices == [0, 0, 0] and AGREED.search(said)


@pytest.mark.parametrize("network", ["chain:3,3", "star:3*2", "torus:3x2"])
def test_where_more_than_ports_is_shared_the_whole_is_planned(launch: Launched, network: str) -> None:
    matrices, said = calls_of(launch, network)
    assert sum(matrices) == 1 and "phases by 'proposals'" in said and not AGREED.search(said)
    assert said.count("are planned together: they share links") == 1


@pytest.mark.parametrize(
    ("src", "dst", "sent", "expected"),
    [(1, 0, 2000, 3000), (8, 9, 0, 3000), (9, 8, 3000, 0), (2, 7, 3000, 2999)],
)
def test_one_message_that_its_ends_see_differently(
    check: Check, src: int, dst: int, sent: int, expected: int
) -> None:
    """A rank that waited for its partner would wait for ever."""
    said = check(f"one_disagrees 3000 {src} {dst} {sent} {expected}", "star:10", 10, env=ROUNDS)
    warning = f"rank {src} sends {sent} bytes to rank {dst}, which expects {expected}; the MPI library serves"
    assert said.count(warning) == said.count("which expects") == 1
