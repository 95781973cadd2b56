"""Common parts of the tests of exporters: plans, and a watcher that moves the bytes as an engine runs a
file."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from hocket import _core
from hocket.export import FORMATS
from hocket.export.transfers import transfers_of
from hocket.network import read_network
from hocket.planning.plan import plan_collective, plan_demand

# Collective, network, bytes, window; trees, tori, all-port schedules, messages passed on and added up.
CASES = (
    ("all-to-all", "star:5", 60, 1),
    ("all-to-all", "tree:(3,(2),(1))", 60, 2),
    ("all-to-all", "torus:4x3", 24, 1),
    ("all-gather", "chain:2,0,3", 120, 2),
    ("all-gather", "torus:3x3", 72, 1),
    ("reduce-scatter", "torus:3x3", 72, 2),
    ("all-reduce", "tree:(3,(2),(1))", 60, 1),
    ("all-reduce", "torus:4x2", 64, 2),
    ("broadcast", "hypercube:3", 64, 2),
    ("reduce", "star:4", 40, 1),
    ("scatter", "star:4", 40, 1),
)
IDS = [f"{name} {network} {window}" for name, network, _, window in CASES]
SEEDS = range(4)


@cache
def plan_of(case: tuple[str, str, int, int]) -> _core.Plan:
    name, network, size, window = case
    return plan_collective(name, read_network(network), size, window=window)


def irregular() -> _core.Plan:
    """Messages of many sizes, some split."""
    demand = _core.Demand.irregular(4, [0, 0, 1, 3, 2], [1, 3, 0, 2, 1], [300, 20, 128, 7, 90])
    return plan_demand(read_network("chain:2,2"), demand, "RS_NLH")


def texts(form: str, plan: _core.Plan, output: str = "out") -> dict[str, str]:
    """The files of an export."""
    return {path: "".join(lines) for path, lines in FORMATS[form].files(transfers_of(plan), output).items()}


class Watcher:
    """Follows an execution: which bytes are where, and which of whose contributions they are the sum of.

    Transfers are numbered as the schedule lists them. Reads the schedule's rows for itself.
    """

    def __init__(self, plan: _core.Plan) -> None:
        self.plan, self.demand = plan, plan.demand
        self.pattern = self.demand.pattern
        hops, lengths = plan.schedule.hops(), plan.schedule.lengths()
        self.hops = [(int(src), int(dst)) for src, dst in hops]
        self.cells: list[list[tuple[int, int, int]]] = []  # per transfer: (origin, target, byte)
        self.phase: list[int] = []
        rows = iter(plan.schedule.rows())
        for length in lengths:
            cells: list[tuple[int, int, int]] = []
            while len(cells) < length:
                phase, _, _, origin, target, offset, bytes = next(rows)
                cells += [(origin, target, at) for at in range(offset, offset + bytes)]
            self.cells.append(cells)
            self.phase.append(phase)
        self.reduces = self.pattern in ("reduce-scatter", "all-reduce")
        self.adds_until = plan.schedule.phases // (2 if self.pattern == "all-reduce" else 1)
        self.held: list[dict[tuple[int, int, int], frozenset[int]]] = [{} for _ in range(plan.schedule.ranks)]
        self._begin()
        self.started: dict[int, int] = {}
        self.arrived: dict[int, int] = {}
        self._flying: dict[int, dict[tuple[int, int, int], frozenset[int]]] = {}
        self._clock = 0

    def _begin(self) -> None:
        ranks = range(len(self.held))
        for cells in self.cells:
            for origin, target, at in cells:
                for rank in ranks if self.reduces else [origin]:
                    self.held[rank][origin, target, at] = frozenset([rank])

    def start(self, transfer: int) -> None:
        assert transfer not in self.started
        self.started[transfer] = self._clock = self._clock + 1
        sender = self.held[self.hops[transfer][0]]
        self._flying[transfer] = {cell: sender[cell] for cell in self.cells[transfer]}

    def arrive(self, transfer: int) -> None:
        assert transfer not in self.arrived
        self.arrived[transfer] = self._clock = self._clock + 1
        receiver = self.held[self.hops[transfer][1]]
        for cell, whose in self._flying.pop(transfer).items():
            if self.reduces and self.phase[transfer] < self.adds_until:
                assert not whose & receiver[cell], "something is added twice"
                whose |= receiver[cell]
            receiver[cell] = whose

    def check(self) -> None:
        """Everything has arrived, and what the plan's waits and senders' order demand has been kept."""
        assert len(self.arrived) == len(self.hops)
        waits = self.plan.waits
        for transfer in range(len(self.hops)):
            for earlier in waits.of(transfer):
                assert self.arrived[earlier] < self.started[transfer], (earlier, transfer)
        every = frozenset(range(len(self.held)))
        for rank, held in enumerate(self.held):
            for (origin, _, _), whose in held.items():
                if self.pattern == "all-reduce" or (self.pattern == "reduce-scatter" and origin == rank):
                    assert whose == every
            if self.reduces:
                continue
            for origin in every - {rank}:
                got = {at for o, t, at in held if o == origin and t in (rank, _core.EVERYONE)}
                wanted = self.demand.size(origin, _core.EVERYONE if self.demand.by_blocks else rank)
                assert len(got) == wanted


on_every_plan = pytest.mark.parametrize(
    "make",
    [*(lambda case=case: plan_of(case) for case in CASES), irregular],  # type: ignore[misc]
    ids=[*IDS, "irregular"],
)


def run_in_random_orders(plan: _core.Plan, engine: Callable[[Any, Watcher, int], None], file: Any) -> None:
    """An engine executes what was exported of a plan, by seeds; every byte and every wait is checked."""
    for seed in SEEDS:
        watcher = Watcher(plan)
        engine(file, watcher, seed)
        watcher.check()
