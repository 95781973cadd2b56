"""GOAL: read back by the grammar of LogGOPSim's txt2bin, and run in random orders."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from exported import CASES, Watcher, on_every_plan, plan_of, run_in_random_orders, texts
from hocket import _core

MESSAGE = re.compile(r"(\w+): (send|recv) (\d+)b (to|from) (\d+) tag (\d+) cpu (\d+) nic (\d+)")
ORDER = re.compile(r"(\w+) (requires|irequires) (\w+)")


@dataclass
class Operation:
    kind: str
    bytes: int
    peer: int
    tag: int
    after: list[str] = field(default_factory=list)  # over
    with_: list[str] = field(default_factory=list)  # started


def parse(text: str) -> list[dict[str, Operation]]:
    """The operations of each rank by label. Labels are known before they are used, as txt2bin wants."""
    assert text.isascii() and text.endswith("}\n")
    ranks: list[dict[str, Operation]] = []
    total, rank = 0, -1
    for line in text.splitlines():
        if not line or line.startswith("//"):
            continue
        if found := re.fullmatch(r"num_ranks (\d+)", line):
            total = int(found[1])
        elif found := re.fullmatch(r"rank (\d+) \{", line):
            assert rank == -1
            rank = int(found[1])
            assert rank == len(ranks)
            ranks.append({})
        elif line == "}":
            rank = -1
        elif found := MESSAGE.fullmatch(line):
            label, kind, size, way, peer, tag = found.groups()[:6]
            assert (kind, way) in (("send", "to"), ("recv", "from"))
            assert label not in ranks[rank] and re.fullmatch("[a-zA-Z][a-zA-Z0-9_]*", label)
            assert int(peer) != rank and int(tag) < 2**32 - 1
            ranks[rank][label] = Operation(kind, int(size), int(peer), int(tag))
        else:
            found = ORDER.fullmatch(line)
            assert found is not None, line
            operation = ranks[rank][found[1]]
            assert found[3] in ranks[rank]
            (operation.after if found[2] == "requires" else operation.with_).append(found[3])
    assert len(ranks) == total and rank == -1
    return ranks


def run(ranks: list[dict[str, Operation]], watcher: Watcher, seed: int) -> None:
    """Any ready operation next, any message in flight next. A send is over once it has started."""
    dice = random.Random(seed)
    waiting = {(rank, label) for rank, operations in enumerate(ranks) for label in operations}
    over: set[tuple[int, str]] = set()
    started: set[tuple[int, str]] = set()
    flying: dict[tuple[int, int, int], int] = {}  # (from, to, tag): bytes
    posted: dict[tuple[int, int, int], tuple[int, str]] = {}
    while waiting or posted:
        ready = [
            (rank, label)
            for rank, label in sorted(waiting)
            if all((rank, other) in over for other in ranks[rank][label].after)
            and all((rank, other) in started for other in ranks[rank][label].with_)
        ]
        arriving = sorted(key for key in posted if key in flying)
        assert ready or arriving, "deadlock"
        if arriving and (not ready or dice.random() < 0.3):
            key = dice.choice(arriving)
            rank, label = posted.pop(key)
            assert flying.pop(key) == ranks[rank][label].bytes
            over.add((rank, label))
            if key[2] % 2 == 0:
                watcher.arrive(key[2] // 2)
            continue
        rank, label = dice.choice(ready)
        waiting.remove((rank, label))
        started.add((rank, label))
        operation = ranks[rank][label]
        if operation.kind == "recv":
            posted[operation.peer, rank, operation.tag] = (rank, label)
            continue
        over.add((rank, label))
        assert (rank, operation.peer, operation.tag) not in flying
        flying[rank, operation.peer, operation.tag] = operation.bytes
        if operation.tag % 2 == 0:
            assert operation.bytes == len(watcher.cells[operation.tag // 2])
            watcher.start(operation.tag // 2)
    assert not flying


@on_every_plan
def test_every_order_delivers_and_waits(make: Callable[[], _core.Plan]) -> None:
    plan = make()
    run_in_random_orders(plan, run, parse(texts("goal", plan)["out"]))


def test_a_missing_wait_is_found() -> None:
    plan = plan_of(CASES[1])
    text = texts("goal", plan)["out"]
    without = re.sub(r"s\d+ requires w\d+\n", "", text)
    assert without != text
    with pytest.raises(AssertionError):
        for seed in range(20):
            watcher = Watcher(plan)
            run(parse(without), watcher, seed)
            watcher.check()


def test_tags_are_unique_between_two_ranks() -> None:
    for operations in parse(texts("goal", plan_of(CASES[4]))["out"]):
        seen = defaultdict(int)
        for operation in operations.values():
            seen[operation.kind, operation.peer, operation.tag] += 1
        assert set(seen.values()) == {1}
