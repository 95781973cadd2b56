"""Rank programs carried out in random order: a reading of docs/formats.md that shares nothing with the core.

A rank starts its sends in their order. One starts when every token that it waits for has come, when of the rank's sends
of earlier phases all but the last ``window - 1`` are over, and when what it carries is there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass
from random import Random

from hocket import _core

Block = tuple[int, int]  # whose message, to whom
Cell = tuple[Block, int]  # the bytes of a message that no piece cuts, by their number


@dataclass
class Send:
    phase: int
    earlier: int  # sends of the rank in phases before
    dst: int
    cells: tuple[Cell, ...]
    tokens: Counter[int]


@dataclass
class Receive:
    releases: list[tuple[int, int]]
    adds: bool


class Machine:
    """The ranks of a plan file, what they hold, and what is under way."""

    def __init__(self, data: bytes) -> None:
        plan = _core.Plan.decode(data)
        self.plan, self.demand = plan, plan.demand
        self.network = plan.network
        self.ranks: int = self.demand.ranks
        self.reduces = self.demand.pattern in ("reduce-scatter", "all-reduce")
        self.adding = 0  # phases in which what comes is added to what is there
        if self.reduces:
            self.adding = plan.schedule.phases // (2 if self.demand.pattern == "all-reduce" else 1)
        programs = [_core.decode_program(data, rank) for rank in range(self.ranks)]
        self._cut(programs)
        starts = [[phase for phase, *_ in program.sends] for program in programs]
        self.sends = [
            [
                Send(
                    phase,
                    bisect_left(starts[rank], phase),
                    dst,
                    self._cells(rank, dst, pieces),
                    Counter(tokens),
                )
                for (phase, dst, tokens), pieces in zip(program.sends, program.send_pieces, strict=True)
            ]
            for rank, program in enumerate(programs)
        ]
        self._match(programs)

    def _size(self, block: Block) -> int:
        return int(self.demand.size(*block))

    def _cut(self, programs: list[_core.RankProgram]) -> None:
        """Where pieces begin and end; outside the message is an error at once."""
        self.cuts: dict[Block, list[int]] = {}
        places: dict[Block, set[int]] = defaultdict(set)
        for program in programs:
            for pieces in program.send_pieces:
                for origin, target, offset, length in pieces:
                    places[origin, target] |= {offset, offset + length}
        for (origin, target), found in places.items():
            size = self._size((origin, target))
            assert all(0 <= place <= size for place in found), "a piece lies outside its message"
            self.cuts[origin, target] = sorted(found | {0, size})

    def _cells(self, src: int, dst: int, pieces: list[tuple[int, int, int, int]]) -> tuple[Cell, ...]:
        if not pieces:
            return (((src, dst), 0),)
        found: list[Cell] = []
        for origin, target, offset, length in pieces:
            cuts = self.cuts[origin, target]
            first, end = bisect_left(cuts, offset), bisect_left(cuts, offset + length)
            found += [((origin, target), cell) for cell in range(first, end)]
        assert len(set(found)) == len(found), "a message carries bytes twice"
        return tuple(found)

    def _match(self, programs: list[_core.RankProgram]) -> None:
        """Which receive takes in which send: those of one phase between two ranks as they are listed."""
        sent: dict[tuple[int, int, int], list[tuple[int, int]]] = defaultdict(list)
        for rank, sends in enumerate(self.sends):
            for number, send in enumerate(sends):
                sent[send.phase, rank, send.dst].append((rank, number))
        self.receive_of: dict[tuple[int, int], Receive] = {}
        self.coming: list[dict[Cell, list[int]]] = [defaultdict(list) for _ in range(self.ranks)]
        for rank, program in enumerate(programs):
            for phase, src, releases in program.receives:
                waiting = sent[phase, src, rank]
                assert waiting, f"rank {rank} waits for a message of {src} that is never sent"
                who = waiting.pop(0)
                self.receive_of[who] = Receive(releases, phase < self.adding)
                for cell in self.sends[who[0]][who[1]].cells:
                    self.coming[rank][cell].append(phase)
        assert not any(sent.values()), "a message is sent that nobody receives"

    def run(self, rng: Random, check_channels: bool) -> None:
        """In some order that the programs allow. Raises AssertionError where they do not do what is asked."""
        held = self._begin()
        next_send, tokens = [0] * self.ranks, [Counter[tuple[int, int]]() for _ in range(self.ranks)]
        under_way: list[set[int]] = [set() for _ in range(self.ranks)]  # sends by number
        flying: list[tuple[int, int, dict[Cell, frozenset[int]], list[int]]] = []
        busy: Counter[int] = Counter()
        window = self.plan.waits.window
        missing = [{cell: sorted(phases) for cell, phases in mine.items()} for mine in self.coming]

        def starts(rank: int) -> bool:
            number = next_send[rank]
            if number == len(self.sends[rank]):
                return False
            send = self.sends[rank][number]
            if any(before <= send.earlier - window for before in under_way[rank]):
                return False
            if any(tokens[rank][number, who] < count for who, count in send.tokens.items()):
                return False
            for cell in send.cells:
                if cell not in held[rank] or (
                    missing[rank].get(cell) and missing[rank][cell][0] < send.phase
                ):
                    return False
            next_send[rank] += 1
            under_way[rank].add(number)
            route = list(self.network.route(rank, send.dst))
            busy.update(route)
            if check_channels:
                for channel in route:
                    room = self.network.capacity(channel) * window
                    assert busy[channel] <= room, f"{busy[channel]} messages on channel {channel}"
            flying.append((rank, number, {cell: held[rank][cell] for cell in send.cells}, route))
            return True

        def arrives() -> None:
            rank, number, carried, route = flying.pop(rng.randrange(len(flying)))
            busy.subtract(route)
            send, receive = self.sends[rank][number], self.receive_of[rank, number]
            under_way[rank].remove(number)
            mine = held[send.dst]
            for cell, whose in carried.items():
                missing[send.dst][cell].remove(send.phase)
                if receive.adds:
                    assert not whose & mine[cell], "something is added twice"
                    whose |= mine[cell]
                elif not self.reduces:
                    assert cell not in mine, "bytes come twice"
                mine[cell] = whose
            for who, later in receive.releases:
                tokens[who][later, send.dst] += 1

        while True:
            order = rng.sample(range(self.ranks), self.ranks)
            if rng.random() < 0.6 and any(starts(rank) for rank in order):
                continue
            if flying:
                arrives()
            elif not any(starts(rank) for rank in order):
                break
        left = [rank for rank in range(self.ranks) if next_send[rank] < len(self.sends[rank])]
        assert not left, f"ranks {left} wait for ever"
        self._end(held)

    def _blocks(self) -> list[Block]:
        everyone = _core.EVERYONE
        if self.demand.by_blocks:
            return [(rank, everyone) for rank in range(self.ranks) if self._size((rank, everyone)) > 0]
        if self.demand.pattern == "irregular":
            return [(src, dst) for src, dst, _ in self.demand.list()]
        return [(a, b) for a in range(self.ranks) for b in range(self.ranks) if a != b]

    def _all_cells(self, block: Block) -> list[Cell]:
        return [(block, cell) for cell in range(max(len(self.cuts.get(block, ())) - 1, 1))]

    def _begin(self) -> list[dict[Cell, frozenset[int]]]:
        held: list[dict[Cell, frozenset[int]]] = [{} for _ in range(self.ranks)]
        for block in self._blocks():
            for rank in range(self.ranks) if self.reduces else [block[0]]:
                for cell in self._all_cells(block):
                    held[rank][cell] = frozenset([rank])
        return held

    def _end(self, held: list[dict[Cell, frozenset[int]]]) -> None:
        every = frozenset(range(self.ranks))
        for block in self._blocks():
            origin, target = block
            if self.demand.pattern == "reduce-scatter":
                wanted = [origin]
            else:
                wanted = [*every] if self.demand.by_blocks else [target]
            for rank in wanted:
                for cell in self._all_cells(block):
                    assert cell in held[rank], f"rank {rank} lacks bytes of {block}"
                    assert not self.reduces or held[rank][cell] == every, (
                        f"rank {rank} lacks parts of {block}"
                    )
