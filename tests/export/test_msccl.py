"""MSCCL's XML: interpreted on data, thread blocks in random order, connections of one message at a time."""

from __future__ import annotations

import random
from collections import defaultdict, deque
from dataclasses import dataclass

import pytest
from defusedxml import ElementTree

from exported import CASES, IDS, SEEDS, irregular, plan_of, texts
from hocket import _core
from hocket.errors import UsageError
from hocket.network import read_network
from hocket.planning.plan import plan_collective

SERVED = [(case, name) for case, name in zip(CASES, IDS, strict=True)
          if case[0] in ("all-to-all", "all-gather", "all-reduce", "reduce-scatter")]  # fmt: skip
Chunk = frozenset[object]


@dataclass
class Step:
    kind: str
    source: tuple[str, int]
    target: tuple[str, int]
    count: int
    awaited: tuple[int, int] | None
    has_dependent: bool


@dataclass
class Block:
    send: int
    receive: int
    channel: int
    steps: list[Step]
    done: int = 0


class Machine:
    """Interpreter that works as the kernel does: a thread block does one step after the other."""

    def __init__(self, text: str) -> None:
        root = ElementTree.fromstring(text)
        assert root.tag == "algo" and root.get("proto") == "Simple"
        self.coll, self.ranks = root.get("coll"), int(root.get("ngpus"))
        self.blocks: list[list[Block]] = []
        self.memory: list[dict[str, list[Chunk]]] = []
        connections = set()
        for rank, gpu in enumerate(root):
            assert int(gpu.get("id")) == rank
            sizes = {name: int(gpu.get(f"{name}_chunks")) for name in "ios"}
            assert int(root.get("nchunksperloop")) == max(sizes["i"], sizes["o"])
            self.memory.append({name: [frozenset()] * size for name, size in sizes.items()})
            self.blocks.append([])
            for number, tb in enumerate(gpu):
                assert int(tb.get("id")) == number
                send, receive, channel = (int(tb.get(key)) for key in ("send", "recv", "chan"))
                assert rank not in (send, receive) and 0 <= channel < int(root.get("nchannels"))
                for end in [("s", rank, send, channel)] * (send >= 0) + [("r", rank, receive, channel)] * (
                    receive >= 0
                ):
                    assert end not in connections, "two thread blocks for one end of a connection"
                    connections.add(end)
                self.blocks[rank].append(
                    Block(send, receive, channel, [self._step(s, x, sizes) for s, x in enumerate(tb)])
                )
        for of_gpu in self.blocks:
            self._check_dependences(of_gpu)
            for way in ("send", "receive"):
                peers: dict[int, set[int]] = defaultdict(set)
                for block in of_gpu:
                    peers[block.channel].add(getattr(block, way))
                assert all(len(found - {-1}) <= 32 for found in peers.values())

    @staticmethod
    def _step(place: int, x, sizes: dict[str, int]) -> Step:
        assert int(x.get("s")) == place < 256
        count, depid = int(x.get("cnt")), int(x.get("depid"))
        awaited = (depid, int(x.get("deps"))) if depid >= 0 else None
        ends = [(x.get(f"{end}buf"), int(x.get(f"{end}off"))) for end in ("src", "dst")]
        kind = x.get("type")
        assert kind in ("s", "r", "rrc", "cpy", "nop") and 0 <= count < 72
        if kind == "nop":
            assert awaited is not None
        else:
            local = [ends[0]] * (kind != "r") + [ends[1]] * (kind != "s")
            assert count > 0 and all(at >= 0 and at + count <= sizes[buffer] for buffer, at in local)
        return Step(kind, ends[0], ends[1], count, awaited, x.get("hasdep") == "1")

    @staticmethod
    def _check_dependences(blocks: list[Block]) -> None:
        awaited = {step.awaited for block in blocks for step in block.steps} - {None}
        for number, block in enumerate(blocks):
            for place, step in enumerate(block.steps):
                assert step.has_dependent == ((number, place) in awaited)
                if step.kind == "nop":  # the parser wants the last cause with the step itself
                    assert block.steps[place + 1].awaited is not None

    def run(self, seed: int, room: int) -> None:
        """``room``: messages that fit into a connection."""
        dice = random.Random(seed)
        wires: dict[tuple[int, int, int], deque[list[Chunk]]] = defaultdict(deque)
        left = [(rank, block) for rank, of_gpu in enumerate(self.blocks) for block in of_gpu if block.steps]
        while left:
            able = [(rank, block) for rank, block in left if self._able(rank, block, wires, room)]
            assert able, "deadlock"
            rank, block = dice.choice(able)
            self._do(rank, block, wires)
            if block.done == len(block.steps):
                left.remove((rank, block))
        assert not any(wires.values())

    def _able(self, rank: int, block: Block, wires, room: int) -> bool:
        step = block.steps[block.done]
        if step.awaited is not None and self.blocks[rank][step.awaited[0]].done <= step.awaited[1]:
            return False
        if step.kind == "s":
            return len(wires[rank, block.send, block.channel]) < room
        return step.kind not in ("r", "rrc") or bool(wires[block.receive, rank, block.channel])

    def _do(self, rank: int, block: Block, wires) -> None:
        step, memory = block.steps[block.done], self.memory[rank]
        block.done += 1
        (source, begin), (target, to) = step.source, step.target
        here = memory[source][begin : begin + step.count]
        if step.kind == "s":
            wires[rank, block.send, block.channel].append(here)
        elif step.kind == "cpy":
            memory[target][to : to + step.count] = here
        elif step.kind in ("r", "rrc"):
            came = wires[block.receive, rank, block.channel].popleft()
            assert len(came) == step.count
            if step.kind == "rrc":
                assert not any(one & other for one, other in zip(here, came, strict=True)), "added twice"
                came = [one | other for one, other in zip(here, came, strict=True)]
            memory[target][to : to + step.count] = came


def chunks(of: object, count: int) -> list[Chunk]:
    return [frozenset([(of, at)]) for at in range(count)]


@pytest.mark.parametrize("case", [case for case, _ in SERVED], ids=[name for _, name in SERVED])
def test_the_collective_is_carried_out(case: tuple[str, str, int, int]) -> None:
    text = texts("msccl", plan_of(case))["out"]
    for seed in SEEDS:
        machine = Machine(text)
        ranks, every = range(machine.ranks), frozenset
        for rank in ranks:
            memory = machine.memory[rank]
            memory["i"] = chunks(rank, len(memory["i"]))
        machine.run(seed, room=1 if seed % 2 else 8)
        for rank in ranks:
            outputs = machine.memory[rank]["i" if case[0] == "all-reduce" else "o"]
            share = len(outputs) // (1 if case[0] == "reduce-scatter" else machine.ranks)
            for at, found in enumerate(outputs):
                block, within = divmod(at, share)
                expected = {
                    "all-to-all": every([(block, rank * share + within)]),
                    "all-gather": every([(block, within)]),
                    "all-reduce": every((other, at) for other in ranks),
                    "reduce-scatter": every((other, rank * share + at) for other in ranks),
                }[case[0]]
                assert found == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_parts_that_ranks_pass_on_come_to_their_blocks(seed: int) -> None:
    """A ring of five hosts that forward: parts wait in scratch memory."""
    ends = [0, 1, 2, 3, 4], [1, 2, 3, 4, 0]
    ring = _core.Network.graph(list("abcde"), [1] * 5, *ends, [1e9] * 5, [0.0] * 5, [], [2] * 5, [1] * 5)
    plan = plan_collective("all-to-all", ring, 12 << 10, algorithm="relays")
    machine = Machine(texts("msccl", plan)["out"])
    assert any(memory["s"] for memory in machine.memory)
    for rank, memory in enumerate(machine.memory):
        memory["i"] = chunks(rank, len(memory["i"]))
    machine.run(seed, room=1 if seed % 2 else 8)
    for rank, memory in enumerate(machine.memory):
        share = len(memory["o"]) // 5
        assert memory["o"] == [
            frozenset([(origin, rank * share + within)]) for origin in range(5) for within in range(share)
        ]


def test_many_ranks_take_several_channels() -> None:
    plan = plan_collective("all-to-all", read_network("star:34"), 8)
    machine = Machine(texts("msccl", plan)["out"])
    machine.run(1, room=1)
    assert {block.channel for block in machine.blocks[0]} == {0, 1}


def test_refusals() -> None:
    def refused(plan: _core.Plan) -> str:
        with pytest.raises(UsageError) as caught:
            texts("msccl", plan)
        return str(caught.value)

    star = read_network("star:4")
    assert "no irregular exchange" in refused(irregular())
    assert "differ" in refused(plan_collective("broadcast", star, 64))
    assert "empty" in refused(plan_collective("all-gather", star, 0))
    assert "at most 256" in refused(plan_collective("all-gather", read_network("star:260"), 64))
