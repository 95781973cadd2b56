"""A communicator takes the schedule that a plan for its hosts has."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from hocket import _core
from hocket.network import read_network
from hocket.network.writer import network_files
from strategies import random_tree, unequal

Check = Callable[..., str]
Sends = list[tuple[int, int, list[tuple[int, ...]]]]  # phase, target, pieces

EXAMPLES = Path(__file__).parents[3] / "examples" / "networks"


def source_of(network: str, tmp_path: Path) -> str:
    """A file or a short form; ``drawn SEED`` is a tree whose inter-switch links have rates of their own."""
    if network in ("figure1", "mixed-rates"):
        return str(EXAMPLES / f"{network}.toml")
    if not network.startswith("drawn "):
        return network
    drawn = random_tree(Random(int(network.split()[1])), 8, switch_link=unequal).build()
    path = str(tmp_path / "drawn.toml")
    for name, text in network_files(drawn, path).items():
        Path(name).write_text(text)
    return path


def rows_in(trace: Path) -> dict[str, Sends]:
    """Messages that a rank was to send in its last call of each pattern."""
    found: dict[str, Sends] = {}
    for line in trace.read_text().splitlines():
        what, *rest = line.split()
        numbers = tuple(map(int, rest))
        if what in ("all-to-all", "all-gather", "all-reduce"):
            sends = found[what] = []
        elif what == "to":
            sends.append((*numbers[1:], []))
        elif what == "piece":
            sends[numbers[0]][2].append(numbers[1:])
    return found


def planned_rows(network: _core.Network, pattern: str) -> tuple[str, list[Sends]]:
    """Algorithm and phases as a run tells them, and the rows of all ranks."""
    demand = _core.Demand(network.ranks, _core.limits.reference_bytes, pattern)
    planned = _core.plan_exchange(network, demand)
    programs = planned.schedule.programs(planned.waits)
    rows = [
        [(phase, to, pieces) for (phase, to, _), pieces in zip(rank.sends, rank.send_pieces, strict=True)]
        for rank in programs
    ]
    return f"{planned.schedule.phases} phases by '{planned.algorithm}'", rows


@pytest.mark.by_turns
@pytest.mark.parametrize(
    ("network", "parts"),
    [
        ("drawn 86", "aaaaaaaa"),
        ("drawn 242", "aaabaaba"),
        ("figure1", "aaaaab"),
        ("torus:3x3", "aabaabaab"),
        ("tree:2x2x2", "aabbaabb"),
        ("mesh:2x2*2", "aaaabbba"),
    ],
)
def test_parts_are_planned_like_networks(check: Check, tmp_path: Path, network: str, parts: str) -> None:
    source = source_of(network, tmp_path)
    whole = read_network(source)
    trace = tmp_path / "trace"
    env = {"HOCKET_MIN_BYTES": "1", "HOCKET_TRACE": str(trace)}
    said = check(f"in_turn 3000 2 {parts}", source, whole.ranks, env=env)
    for part in set(parts):
        members = [rank for rank in range(whole.ranks) if parts[rank] == part]
        counts = [0] * whole.nodes
        for rank in members:
            counts[whole.host_of(rank)] += 1
        if len(members) < 3 or sum(1 for count in counts if count) < 2:
            continue  # nothing can collide
        for pattern in ("all-to-all", "all-gather"):
            name, rows = planned_rows(whole.restricted_to(counts), pattern)
            assert re.search(f"{pattern} of {len(members)} ranks on .* hosts: {name}", said)
            for row, rank in zip(rows, members, strict=True):
                assert rows_in(trace.with_name(f"trace.{rank}"))[pattern] == row
