"""htsim's connection matrix: read as its loader does, and run with its triggers in random orders."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from exported import Watcher, on_every_plan, run_in_random_orders, texts
from hocket import _core
from hocket.errors import UsageError
from hocket.export.transfers import transfers_of
from hocket.network import read_network
from hocket.planning.plan import plan_collective


@dataclass
class Flow:
    src: int
    dst: int
    size: int
    send_done: int


@dataclass
class Trigger:
    left: int  # activations until its flows start
    flows: list[int] = field(default_factory=list)


def parse(text: str) -> tuple[int, dict[int, Flow], dict[int, Trigger], list[int]]:
    """Nodes, flows, triggers, and the flows that start at once. Comments stand before everything else."""
    header: dict[str, int] = {}
    flows: dict[int, Flow] = {}
    triggers: dict[int, Trigger] = {}
    at_once: list[int] = []
    started_by: dict[int, list[int]] = {}
    for line in text.splitlines():
        words = line.split(" ")
        if words[0] in ("Nodes", "Connections", "Triggers"):
            header[words[0]] = int(words[1])
        elif "->" in words[0]:
            said = dict(zip(words[1::2], words[2::2], strict=True))
            assert set(said) <= {"id", "start", "trigger", "size", "send_done_trigger"}
            number = int(said["id"])
            assert number > 0 and number not in flows and ("start" in said) != ("trigger" in said)
            src, dst = map(int, words[0].split("->"))
            assert src != dst and max(src, dst) < header["Nodes"] and 0 < int(said["size"]) < 2**31
            flows[number] = Flow(src, dst, int(said["size"]), int(said.get("send_done_trigger", 0)))
            if "trigger" in said:
                started_by.setdefault(int(said["trigger"]), []).append(number)
            else:
                assert float(said["start"]) == 0
                at_once.append(number)
        elif words[0] == "trigger":
            number = int(words[2])
            assert words[1] == "id" and number > 0 and number not in triggers
            count = 1 if words[3:] == ["oneshot"] else int(words[5])
            assert words[3:] == ["oneshot"] or words[3:5] == ["barrier", "count"]
            triggers[number] = Trigger(count, started_by.get(number, []))
            assert triggers[number].flows, "a trigger without flows aborts htsim"
        else:
            assert line.startswith("#") and not flows and not triggers
    assert (header["Connections"], header["Triggers"]) == (len(flows), len(triggers))
    fired = {flow.send_done for flow in flows.values() if flow.send_done}
    assert fired == set(triggers) == set(started_by)
    return header["Nodes"], flows, triggers, at_once


def run(text: str, watcher: Watcher, seed: int) -> None:
    """Flows under way end in any order. Senders alone fire triggers, once all is acknowledged: htsim's receivers have
    triggers that nothing fires."""
    nodes, flows, triggers, ready = parse(text)
    assert nodes == len(watcher.held)
    dice = random.Random(seed)
    messages = len(watcher.hops)
    acknowledged: list[int] = []
    ended = 0

    def begin(numbers: list[int]) -> None:
        for number in numbers:
            ready.append(number)
            if number <= messages:
                flow = flows[number]
                assert (flow.src, flow.dst) == watcher.hops[number - 1]
                assert flow.size == len(watcher.cells[number - 1])
                watcher.start(number - 1)

    def fire(number: int) -> None:
        if number:
            triggers[number].left -= 1
            assert triggers[number].left >= 0, "a trigger fires too often"
            if triggers[number].left == 0:
                begin(triggers[number].flows)

    first, ready = ready, []
    begin(first)
    while ready or acknowledged:
        if ready and (not acknowledged or dice.random() < 0.5):
            number = ready.pop(dice.randrange(len(ready)))
            acknowledged.append(number)
            if number <= messages:
                watcher.arrive(number - 1)
        else:
            number = acknowledged.pop(dice.randrange(len(acknowledged)))
            ended += 1
            fire(flows[number].send_done)
    assert ended == len(flows)


@on_every_plan
def test_every_order_delivers_and_waits(make: Callable[[], _core.Plan]) -> None:
    plan = make()
    run_in_random_orders(plan, run, texts("htsim", plan)["out"])


def test_refusals() -> None:
    shared = plan_collective("all-to-all", read_network("star:2*2"), 8)
    with pytest.raises(UsageError, match="one rank each"):
        texts("htsim", shared)
    large = plan_collective("all-to-all", read_network("star:3"), 2**31)
    with pytest.raises(UsageError, match="at most 2,147,483,647 bytes"):
        texts("htsim", large)


def test_a_few_tokens_serve() -> None:
    """No more than one for each wait, and none where one transfer alone waits for a message."""
    transfers = transfers_of(plan_collective("all-to-all", read_network("star:4"), 100))
    _, flows, _, _ = parse(texts("htsim", transfers.plan)["out"])
    waits = len(transfers.tokens()) + sum(map(len, transfers.over))
    assert len(flows) - len(transfers.transfers) <= waits
    alone = transfers_of(plan_collective("broadcast", read_network("star:3"), 100))
    _, flows, _, _ = parse(texts("htsim", alone.plan)["out"])
    assert len(flows) == len(alone.transfers)
