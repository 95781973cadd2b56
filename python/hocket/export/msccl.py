"""XML of MSCCL, which NCCL's and RCCL's interpreters run on GPUs (https://github.com/microsoft/msccl-tools,
msccl/language/ir.py; parser: src/misc/msccl/msccl_parser.cc of msccl-executor-nccl).

A GPU has a thread block for every rank that it sends to, one for every rank that it receives from, and one that copies.
MSCCL has no messages without data, so tokens cannot be said: a rank's sends stand in the plan's order, and one of phase
p follows what the rank receives until phase p − window. Ranks keep step by that, and not exactly."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from math import gcd
from typing import Final, NamedTuple

from hocket.demand.collectives import ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, REDUCE_SCATTER
from hocket.errors import UsageError
from hocket.export.transfers import Piece, Transfer, Transfers

# MSCCL_MAX_COUNT - 1, MSCCL_MAX_NUM_STEPS, MSCCL_MAX_NUM_THREAD_BLOCKS_PER_CHANNEL
MOST_CHUNKS_OF_A_STEP: Final = 71
MOST_STEPS: Final = 256
BLOCKS_OF_A_CHANNEL: Final = 32
# The patterns by MSCCL's names.
NAMES: Final = {
    ALL_TO_ALL: "alltoall",
    ALL_GATHER: "allgather",
    ALL_REDUCE: "allreduce",
    REDUCE_SCATTER: "reducescatter",
}
_INPUT, _OUTPUT, _SCRATCH = "i", "o", "s"
# Where an all-gather or a reduction has its blocks while they travel.
_WORKPLACE: Final = {ALL_GATHER: _OUTPUT, ALL_REDUCE: _INPUT, REDUCE_SCATTER: _SCRATCH}


class _Span(NamedTuple):
    """Chunks of a buffer."""

    buffer: str
    begin: int
    chunks: int

    def part(self, at: int, chunks: int) -> _Span:
        return _Span(self.buffer, self.begin + at, chunks)

    @property
    def each(self) -> Iterator[tuple[str, int]]:
        return ((self.buffer, chunk) for chunk in range(self.begin, self.begin + self.chunks))


_Step = tuple[int, int]  # thread block and place in it


@dataclass(slots=True)
class _Block:
    """A thread block. ``lines``: type, from, to, awaited step."""

    number: int
    send: int
    receive: int
    channel: int
    lines: list[tuple[str, _Span, _Span, _Step | None]] = field(default_factory=list)
    reached: dict[int, int] = field(default_factory=dict)  # by thread block: the last step waited for


@dataclass(slots=True)
class _Gpu:
    """Program of a GPU so far, and the steps that last wrote and read each chunk."""

    blocks: dict[tuple[str, int], _Block] = field(default_factory=dict)
    written: dict[tuple[str, int], _Step] = field(default_factory=dict)
    read: defaultdict[tuple[str, int], list[_Step]] = field(default_factory=lambda: defaultdict(list))
    awaited: set[_Step] = field(default_factory=set)

    def step(
        self, block: _Block, kind: str, here: _Span | None, to: _Span | None, ends: tuple[_Span, _Span],
        after: set[_Step],
    ) -> _Step:  # fmt: skip
        """Adds a step that reads ``here`` and writes ``to``, after others and what these spans demand."""
        number = block.number
        causes = set(after)
        if here is not None:
            causes.update(self.written[chunk] for chunk in here.each if chunk in self.written)
        if to is not None:
            causes.update(self.written[chunk] for chunk in to.each if chunk in self.written)
            causes.update(step for chunk in to.each for step in self.read[chunk])
        last: dict[int, int] = {}
        for other, place in causes:
            last[other] = max(last.get(other, -1), place)
        needed = [
            (other, place)
            for other, place in sorted(last.items())
            if other != number and place > block.reached.get(other, -1)
        ]
        block.reached.update(needed)
        self.awaited.update(needed)
        nothing = (_Span(_INPUT, -1, 0), _Span(_OUTPUT, -1, 0))
        block.lines += [("nop", *nothing, cause) for cause in needed[:-1]]
        block.lines.append((kind, *ends, needed[-1] if needed else None))
        step = (number, len(block.lines) - 1)
        for chunk in here.each if here is not None else ():
            self.read[chunk].append(step)
        for chunk in to.each if to is not None else ():
            self.written[chunk] = step
            self.read[chunk] = []
        return step

    def block(self, kind: str, peer: int, channel: int) -> _Block:
        send, receive = (peer if kind == of else -1 for of in ("send", "receive"))
        return self.blocks.setdefault((kind, peer), _Block(len(self.blocks), send, receive, channel))


def files(plan: Transfers, output: str) -> dict[str, Iterator[str]]:
    """Write one file. Raises UsageError for plans that MSCCL cannot express: other collectives, blocks that
    differ in size, more steps than a thread block may have."""
    return {output: _Algorithm(plan).lines()}


class _Algorithm:
    def __init__(self, plan: Transfers) -> None:
        self.plan, self.pattern = plan, plan.demand.pattern
        self._check()
        unit = plan.demand.bytes
        for transfer in plan.transfers:
            for piece in transfer.pieces:
                unit = gcd(unit, piece.offset, piece.length)
        self.shares = plan.demand.bytes // unit  # chunks of a block
        self.unit = unit
        self.gpus = [_Gpu() for _ in range(plan.ranks)]
        self.relayed: list[dict[tuple[int, int], int]] = [{} for _ in self.gpus]  # by origin and target
        self.last: dict[tuple[int, bool], _Step] = {}  # by transfer, and whether it arrives
        self.arrived: list[tuple[list[int], list[int]]] = [([], []) for _ in self.gpus]  # phases, transfers
        for rank in range(plan.ranks):
            self._begin(rank)
        for _, phase in groupby(enumerate(plan.transfers), lambda numbered: numbered[1].phase):
            together = list(phase)  # what a rank sends is what it had before
            for number, transfer in together:
                self._send(number, transfer)
            for number, transfer in together:
                self._receive(number, transfer)
        for rank in range(plan.ranks):
            self._end(rank)
        most = max((len(block.lines) for gpu in self.gpus for block in gpu.blocks.values()), default=0)
        if most > MOST_STEPS:
            raise UsageError(
                f"a thread block would have {most} steps, and MSCCL has at most {MOST_STEPS}",
                remedy="choose another --algorithm, or fewer ranks",
            )

    def _check(self) -> None:
        demand = self.plan.demand
        if self.pattern not in NAMES:
            raise UsageError(
                f"MSCCL has no {self.pattern} exchange of equal blocks",
                remedy="plan one of " + ", ".join(NAMES),
            )
        if len(set(demand.contributions)) > 1:
            raise UsageError("MSCCL's blocks have one size, and the plan's differ",
                             remedy="plan with --bytes alone")  # fmt: skip
        if demand.bytes == 0:
            raise UsageError("the plan's messages are empty", remedy="plan with --bytes")

    def _begin(self, rank: int) -> None:
        """A rank's own block is where the others' will be."""
        block, everyone = self.shares, self.shares * self.plan.ranks
        own = _Span(_INPUT, rank * block, block)
        if self.pattern == ALL_TO_ALL:
            self._copy(rank, own, _Span(_OUTPUT, rank * block, block))
        elif self.pattern == ALL_GATHER:
            self._copy(rank, _Span(_INPUT, 0, block), _Span(_OUTPUT, rank * block, block))
        elif self.pattern == REDUCE_SCATTER:
            self._copy(rank, _Span(_INPUT, 0, everyone), _Span(_SCRATCH, 0, everyone))

    def _end(self, rank: int) -> None:
        if self.pattern == REDUCE_SCATTER:
            self._copy(rank, _Span(_SCRATCH, rank * self.shares, self.shares), _Span(_OUTPUT, 0, self.shares))

    def _copy(self, rank: int, source: _Span, target: _Span) -> None:
        gpu = self.gpus[rank]
        block = gpu.block("copy", -1, 0)
        for ends in _parts(source, target):
            gpu.step(block, "cpy", *ends, ends, set())

    def _spans(self, transfer: Transfer) -> list[tuple[_Span, _Span]]:
        """Source and target of each piece; adjacent pieces are joined."""
        joined: list[tuple[_Span, _Span]] = []
        for piece in transfer.pieces:
            source, target = self._span(piece, transfer)
            if joined:
                (b, at, count), (c, to, _) = joined[-1]
                if (source[:2], target[:2]) == ((b, at + count), (c, to + count)):
                    more = count + source.chunks
                    joined[-1] = (_Span(b, at, more), _Span(c, to, more))
                    continue
            joined.append((source, target))
        return [part for source, target in joined for part in _parts(source, target)]

    def _relayed(self, rank: int, piece: Piece) -> int:
        """Where a rank keeps a block that it passes on."""
        places = self.relayed[rank]
        return places.setdefault((piece.origin, piece.target), len(places) * self.shares)

    def _span(self, piece: Piece, transfer: Transfer) -> tuple[_Span, _Span]:
        begin, count = piece.offset // self.unit, piece.length // self.unit
        src, dst = transfer.src, transfer.dst
        if self.pattern == ALL_TO_ALL:
            source = _Span(_INPUT, piece.target * self.shares + begin, count)
            target = _Span(_OUTPUT, piece.origin * self.shares + begin, count)
            if piece.origin != src:
                source = _Span(_SCRATCH, self._relayed(src, piece) + begin, count)
            if piece.target != dst:
                target = _Span(_SCRATCH, self._relayed(dst, piece) + begin, count)
            return source, target
        place = _Span(_WORKPLACE[self.pattern], piece.origin * self.shares + begin, count)
        if self.pattern == ALL_GATHER and piece.origin == src:
            return _Span(_INPUT, begin, count), place
        return place, place

    def _channel(self, transfer: Transfer) -> int:
        """Channel number that both ends compute alike, with few enough peers of each end on a channel."""
        return ((transfer.dst - transfer.src) % self.plan.ranks - 1) // BLOCKS_OF_A_CHANNEL

    def _send(self, number: int, transfer: Transfer) -> None:
        gpu = self.gpus[transfer.src]
        block = gpu.block("send", transfer.dst, self._channel(transfer))
        after = {self.last[own, False] for own in self.plan.over[number]}
        phases, arrived = self.arrived[transfer.src]
        if until := bisect_right(phases, transfer.phase - self.plan.window):
            after.add(self.last[arrived[until - 1], True])
        for source, target in self._spans(transfer):
            self.last[number, False] = gpu.step(block, "s", source, None, (source, target), after)
            after = set()

    def _receive(self, number: int, transfer: Transfer) -> None:
        gpu = self.gpus[transfer.dst]
        block = gpu.block("receive", transfer.src, self._channel(transfer))
        adds = self.pattern == REDUCE_SCATTER or (
            self.pattern == ALL_REDUCE and transfer.phase < self.plan.phases // 2
        )
        for source, target in self._spans(transfer):
            # A sum is formed from what is there: source and target are the receiver's.
            ends = (target, target) if adds else (source, target)
            self.last[number, True] = gpu.step(
                block, "rrc" if adds else "r", target if adds else None, target, ends, set()
            )
        self.arrived[transfer.dst][0].append(transfer.phase)
        self.arrived[transfer.dst][1].append(number)

    def lines(self) -> Iterator[str]:
        plan, block = self.plan, self.shares
        every = block * plan.ranks
        inputs = block if self.pattern == ALL_GATHER else every
        outputs = block if self.pattern == REDUCE_SCATTER else every
        channels = 1 + max((b.channel for gpu in self.gpus for b in gpu.blocks.values()), default=0)
        inplace = self.pattern == ALL_REDUCE
        yield (
            f'<algo name="hocket-{self.pattern}-{plan.ranks}" proto="Simple" nchannels="{channels}" '
            f'nchunksperloop="{max(inputs, outputs)}" ngpus="{plan.ranks}" coll="{NAMES[self.pattern]}" '
            f'inplace="{int(inplace)}" outofplace="{int(not inplace)}" minBytes="0" maxBytes="{2**62}">\n'
        )
        for rank, gpu in enumerate(self.gpus):
            scratch = every if self.pattern == REDUCE_SCATTER else len(self.relayed[rank]) * block
            yield f'  <gpu id="{rank}" i_chunks="{inputs}" o_chunks="{outputs}" s_chunks="{scratch}">\n'
            for each in gpu.blocks.values():
                yield f'    <tb id="{each.number}" send="{each.send}" recv="{each.receive}" chan="{each.channel}">\n'
                for place, (kind, source, target, cause) in enumerate(each.lines):
                    depid, deps = cause or (-1, -1)
                    yield (
                        f'      <step s="{place}" type="{kind}" srcbuf="{source.buffer}" srcoff="{source.begin}" '
                        f'dstbuf="{target.buffer}" dstoff="{target.begin}" cnt="{target.chunks}" depid="{depid}" '
                        f'deps="{deps}" hasdep="{int((each.number, place) in gpu.awaited)}"/>\n'
                    )
                yield "    </tb>\n"
            yield "  </gpu>\n"
        yield "</algo>\n"


def _parts(source: _Span, target: _Span) -> Iterator[tuple[_Span, _Span]]:
    """Divide a piece so that no part has more chunks than a step may carry."""
    for at in range(0, source.chunks, MOST_CHUNKS_OF_A_STEP):
        count = min(MOST_CHUNKS_OF_A_STEP, source.chunks - at)
        yield source.part(at, count), target.part(at, count)
